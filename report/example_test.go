package report_test

import (
	"fmt"
	"log"
	"os"

	"dsbo/report"
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
			{Name: "full Hessian", X: []float64{100, 784, 7840}, Y: []float64{0.08, 4.9, 492}, Points: true, Fit: true},
			{Name: "Hessian-vector product", X: []float64{100, 784, 7840}, Y: []float64{0.0008, 0.0063, 0.063}, Points: true, Fit: true},
		},
	}
	if err := f.Save(dir, "memory"); err != nil {
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
	// memory.png
	// memory.svg
	// figure "" has no point to draw: want a finite one, above 0 on logarithmic axes: bad configuration
}

// The slope of a convergence curve on logarithmic axes is the exponent of its rate.
func ExampleFitLine() {
	k := []float64{100, 1000, 10000}
	gradient := []float64{0.5, 0.05, 0.005}
	l, err := report.FitLine(k, gradient, true, true)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("slope %.2f, at K = 500 %.2f\n", l.Slope, l.At(500))
	// Output: slope -1.00, at K = 500 0.10
}
