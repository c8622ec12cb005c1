package features_test

import (
	"context"
	"fmt"

	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/tables"
	"dsbo/tables/features"
)

// Three sites find one recipe of their tables, and each encodes its own rows by it; so are rows
// that come later.
func ExamplePrepare() {
	var sites []*tables.Table
	for site := range 3 {
		var ages []float32
		var smokers, diagnoses []string
		for row := range 20 {
			ages = append(ages, float32(30+10*site+row))
			smokers = append(smokers, []string{"yes", "no"}[row%2])
			diagnoses = append(diagnoses, []string{"healthy", "healthy", "ill"}[row%3])
		}
		sites = append(sites, testkit.Get(tables.New(fmt.Sprintf("site%d.csv", site),
			tables.NumberColumn("age", ages), tables.WordColumn("smoker", smokers),
			tables.WordColumn("diagnosis", diagnoses))))
	}
	// All sites are in this process.
	all := network.NewGroup(network.GroupConfig{N: len(sites)}).Bound(context.Background())
	p, err := features.Prepare(features.Sites{Tables: sites, Collective: all, Seed: 1},
		features.Options{Target: "diagnosis", Split: features.DefaultShares, Rare: 5, Missing: features.MeanOfOthers})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range p.Recipe.Features() {
		fmt.Println(f.Name)
	}
	fmt.Println("training, validation and test rows:", p.Rows, "classes:", p.Recipe.Target.Classes)

	later := testkit.Get(tables.New("new.csv", tables.NumberColumn("age", []float32{30}),
		tables.WordColumn("smoker", []string{"no"})))
	encoder := testkit.Get(p.Recipe.NewEncoder(later))
	places, _ := encoder.Row(nil, nil, 0)
	fmt.Println("a new row has a value at the features", places)
	// Output:
	// age
	// smoker=no
	// smoker=yes
	// training, validation and test rows: [30 15 15] classes: [healthy ill]
	// a new row has a value at the features [0 1]
}
