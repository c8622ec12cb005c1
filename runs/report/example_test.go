package report_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	_ "dsbo/experiment/compare"
	"dsbo/runs/report"
)

// A figure chooses axes, ticks and colours by itself; it says when there is nothing to draw.
func ExampleFigure() {
	dir, err := os.MkdirTemp("", "figures")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	f := report.Figure{
		Title:  "Memory of second derivatives",
		XLabel: "q, the length of y",
		YLabel: "memory (MB)",
		Series: []report.Series{
			{Name: "full Hessian", X: []float64{100, 784, 7840}, Y: []float64{0.08, 4.9, 492}},
			{Name: "Hessian-vector product", X: []float64{100, 784, 7840}, Y: []float64{0.0008, 0.0063, 0.063}},
		},
	}
	if err := report.Save(&f, dir, "memory"); err != nil {
		log.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		log.Fatal(err)
	}
	for _, file := range files {
		fmt.Println(file.Name())
	}
	fmt.Println(new(report.Figure).Validate())
	// Output:
	// memory.svg
	// figure "" has no point to draw: one must be finite, and above 0 on logarithmic axes
}

// A run folder becomes a page; the folders of several runs of one task would become one page that
// compares them.
func ExampleWrite() {
	dir, err := os.MkdirTemp("", "run")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string]string{
		"config.json":   `{"task": "quadratic", "algorithm": "madsbo", "seed": 1}`,
		"metrics.jsonl": `{"iteration": 0, "phi": 4}` + "\n" + `{"iteration": 10, "phi": 1}` + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}

	run, err := report.Load(dir)
	if err != nil {
		log.Fatal(err)
	}
	path, err := report.Write(dir, []*report.Run{run}, "")
	if err != nil {
		log.Fatal(err)
	}
	figures, err := filepath.Glob(filepath.Join(dir, "figures", "*"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(filepath.Base(path))
	for _, f := range figures {
		fmt.Println(filepath.Base(f))
	}
	// Output:
	// report.html
	// phi_gap_iterations.svg
	// phi_iterations.svg
}
