package features_test

import (
	"context"
	"fmt"

	"dsbo/features"
	"dsbo/internal/must"
	"dsbo/network/collective"
	"dsbo/table"
)

// Three sites find one recipe of their tables, and each encodes its own rows by it; so are rows that come later.
func ExamplePrepare() {
	var tables []*table.Table
	for site := range 3 {
		var ages []float32
		var smokers, diagnoses []string
		for row := range 20 {
			ages = append(ages, float32(30+10*site+row))
			smokers = append(smokers, []string{"yes", "no"}[row%2])
			diagnoses = append(diagnoses, []string{"healthy", "healthy", "ill"}[row%3])
		}
		tables = append(tables, must.Get(table.New(fmt.Sprintf("site%d.csv", site),
			table.NumberColumn("age", ages), table.WordColumn("smoker", smokers), table.WordColumn("diagnosis", diagnoses))))
	}
	all := collective.New(collective.Config{N: len(tables)}).Bound(context.Background()) // all sites are in this process
	p, err := features.Prepare(features.Sites{Tables: tables, Collective: all, Seed: 1},
		features.Options{Target: "diagnosis", Split: features.DefaultShares, Rare: 5, Missing: features.MeanOfOthers})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range p.Recipe.Features() {
		fmt.Println(f.Name)
	}
	fmt.Println("training, validation and test rows:", p.Rows, "classes:", p.Recipe.Target.Classes)

	later := must.Get(table.New("new.csv", table.NumberColumn("age", []float32{30}), table.WordColumn("smoker", []string{"no"})))
	encoder := must.Get(p.Recipe.NewEncoder(later))
	places, _ := encoder.Row(nil, nil, 0)
	fmt.Println("a new row has a value at the features", places)
	// Output:
	// age
	// smoker=no
	// smoker=yes
	// training, validation and test rows: [30 15 15] classes: [healthy ill]
	// a new row has a value at the features [0 1]
}
