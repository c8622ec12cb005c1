package modelfile_test

import (
	"fmt"
	"os"

	"dsbo/models"
	"dsbo/runs"
	"dsbo/tables"
	"dsbo/tables/features"
	"dsbo/tables/modelfile"
)

// A run's model is written to its folder, read again, and predicts from a table.
func Example() {
	recipe := features.Recipe{
		Inputs: []features.Input{
			{Name: "age", Kind: tables.Number, Mean: 50, Deviation: 10},
			{Name: "colour", Kind: tables.Word, Words: []string{"red", "blue"}},
		},
		Target: features.Target{Name: "ill", Kind: features.Class, Classes: []string{"no", "yes"}},
	}
	y := []float64{0, 0, 0, 1, 2, -2} // a row of weights for each class
	m, err := modelfile.New(recipe, models.Softmax{Features: 3, Classes: 2}, y,
		modelfile.Origin{Program: "dsbo", Run: "results/first"})
	if err != nil {
		fmt.Println(err)
		return
	}
	folder, err := os.MkdirTemp("", "run")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	if err := m.Write(runs.Folder(folder), ""); err != nil {
		fmt.Println(err)
		return
	}
	p, err := modelfile.Open(folder)
	if err != nil {
		fmt.Println(err)
		return
	}
	people, err := tables.New("", tables.NumberColumn("age", []float32{60, 60}),
		tables.WordColumn("colour", []string{"red", "blue"}))
	if err != nil {
		fmt.Println(err)
		return
	}
	in, err := p.Recipe().NewEncoder(people)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = modelfile.PredictAll(p, in, func(made modelfile.Predictions) error {
		fmt.Printf("%v %.3f\n", made.Labels, made.Probabilities)
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: [yes no] [0.047 0.953 0.731 0.269]
}
