package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"gonum.org/v1/gonum/stat"

	"dsbo/internal/cli"
	"dsbo/internal/testkit"
)

// A lab is where the experiments leave their results.
type lab struct {
	out, log io.Writer // of results, and of the progress
	quick    bool
	seed     uint64
	figures  string // folder of figures, or ""
}

// pick returns the size of an experiment: full, or short for a quick one.
func pick[T any](l *lab, full, short T) T {
	if l.quick {
		return short
	}
	return full
}

func (l *lab) printf(format string, args ...any) {
	fmt.Fprintf(l.out, format, args...)
}

// perform runs an experiment.
func (l *lab) perform(ctx context.Context, e experiment) error {
	start := time.Now()
	l.printf("\n## %s: %s\n\n", e.name, e.about)
	if err := testkit.Catch(func() { e.run(ctx, l) }); err != nil {
		return fmt.Errorf("%s: %w", e.name, err)
	}
	fmt.Fprintf(l.log, "%s took %.0f s\n", e.name, time.Since(start).Seconds())
	return nil
}

// claim prints what the paper states, and whether it was found.
func (l *lab) claim(holds bool, format string, args ...any) {
	word := "holds"
	if !holds {
		word = "DOES NOT HOLD"
	}
	l.printf("%s: %s\n", word, fmt.Sprintf(format, args...))
}

// A table is rows of text under a header, printed as Markdown.
type table [][]string

// add adds a row. Several cells may come as one slice.
func (t *table) add(cells ...any) {
	var row []string
	for _, c := range cells {
		switch c := c.(type) {
		case float64:
			row = append(row, digits(c))
		case []float64:
			row = append(row, column(c, digits)...)
		case []string:
			row = append(row, c...)
		default:
			row = append(row, fmt.Sprint(c))
		}
	}
	*t = append(*t, row)
}

// digits writes a number with three digits, and a dash for NaN.
func digits(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return "–"
	case v == 0:
		return "0"
	case a < 1e-3 || a >= 1e6:
		return fmt.Sprintf("%.2e", v)
	case a >= 100:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// table prints rows, of which the first is the header.
func (l *lab) table(t table) {
	testkit.OK(cli.Markdown(l.out, t))
	l.printf("\n")
}

// slope fits the exponent of a power law.
func slope(x, y []float64) float64 {
	_, exponent := stat.LinearRegression(column(x, math.Log10), column(y, math.Log10), nil, false)
	return exponent
}

// column collects one property of each of several things.
func column[A, B any](all []A, of func(A) B) []B {
	v := make([]B, len(all))
	for i, a := range all {
		v[i] = of(a)
	}
	return v
}
