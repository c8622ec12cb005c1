package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"time"

	"dsbo/internal/atomicfile"
	"dsbo/internal/cli"
	"dsbo/report"
)

// A lab is where the experiments leave their results.
type lab struct {
	out, log   io.Writer // of results, and of the progress
	page       bytes.Buffer
	dir        string // of figures and pages; "": there are none
	quick      bool
	seed       uint64
	comparison comparison
}

// pick returns the size of an experiment: full, or short for a quick one.
func pick[T any](l *lab, full, short T) T {
	if l.quick {
		return short
	}
	return full
}

func (l *lab) printf(format string, args ...any) {
	fmt.Fprintf(io.MultiWriter(l.out, &l.page), format, args...)
}

func (l *lab) progress(format string, args ...any) { fmt.Fprintf(l.log, format+"\n", args...) }

// perform runs an experiment, and writes its page beside the figures.
func (l *lab) perform(ctx context.Context, e experiment) error {
	start := time.Now()
	l.page.Reset()
	fmt.Fprintln(l.out)
	l.printf("## %s: %s\n\n", e.name, e.about)
	if err := attempt(func() { e.run(ctx, l) }); err != nil {
		return fmt.Errorf("%s: %w", e.name, err)
	}
	l.progress("%s took %.0f s", e.name, time.Since(start).Seconds())
	if l.dir == "" {
		return nil
	}
	return atomicfile.WriteBytes(filepath.Join(l.dir, e.name+".md"), l.page.Bytes())
}

// claim prints what the paper states, and whether it was found.
func (l *lab) claim(holds bool, format string, args ...any) {
	word := "holds"
	if !holds {
		word = "DOES NOT HOLD"
	}
	l.printf("%s: %s\n", word, fmt.Sprintf(format, args...))
}

// A failure ends an experiment: [check] and [must] panic with it, and [attempt] returns its error. It must not leave a
// goroutine of its own.
type failure struct{ error }

func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

// attempt calls f and returns the error of its failure.
func attempt(f func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
			err = r.error
		default:
			panic(r)
		}
	}()
	f()
	return nil
}

// axes returns a figure without series.
func axes(title, xLabel, yLabel string, xScale, yScale report.Scale) report.Figure {
	return report.Figure{Title: title, XLabel: xLabel, YLabel: yLabel, XScale: xScale, YScale: yScale}
}

// addLine adds a line to a figure.
func addLine(f *report.Figure, name string, x, y []float64) {
	f.Series = append(f.Series, report.Series{Name: name, X: x, Y: y})
}

// figure writes a figure.
func (l *lab) figure(name string, f report.Figure) {
	if l.dir == "" {
		return
	}
	if err := report.Save(&f, l.dir, name); err != nil {
		check(fmt.Errorf("figure %s: %w", name, err))
	}
	fmt.Fprintf(l.out, "figure: %s\n", name)
	fmt.Fprintf(&l.page, "\n![%s](%s.svg)\n", f.Title, name)
}

// A table is rows of text under a header, printed as Markdown.
type table [][]string

func (t *table) add(cells ...any) {
	row := make([]string, len(cells))
	for i, c := range cells {
		switch c := c.(type) {
		case float64:
			row[i] = digits(c)
		default:
			row[i] = fmt.Sprint(c)
		}
	}
	*t = append(*t, row)
}

// digits writes a number with three digits.
func digits(v float64) string {
	switch a := math.Abs(v); {
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
	var text strings.Builder
	_ = cli.Markdown(&text, t) // a builder takes everything
	l.printf("%s\n", text.String())
}

// slope fits the exponent of a power law.
func slope(x, y []float64) float64 {
	return must(report.FitLine(x, y, true, true)).Slope
}
