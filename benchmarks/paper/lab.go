package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dsbo/internal/cli"
	"dsbo/internal/disk"
	"dsbo/internal/testkit"
	"dsbo/runs/report"
)

// A lab is where the experiments leave their results.
type lab struct {
	out, log io.Writer // of results, and of the progress
	page     bytes.Buffer
	dir      string // of figures and pages; "": there are none
	quick    bool
	seed     uint64
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

// perform runs an experiment, and writes its page beside the figures.
func (l *lab) perform(ctx context.Context, e experiment) error {
	start := time.Now()
	l.page.Reset()
	fmt.Fprintln(l.out)
	l.printf("## %s: %s\n\n", e.name, e.about)
	if err := testkit.Catch(func() { e.run(ctx, l) }); err != nil {
		return fmt.Errorf("%s: %w", e.name, err)
	}
	fmt.Fprintf(l.log, "%s took %.0f s\n", e.name, time.Since(start).Seconds())
	if l.dir == "" {
		return nil
	}
	return disk.WriteBytes(filepath.Join(l.dir, e.name+".md"), l.page.Bytes())
}

// claim prints what the paper states, and whether it was found.
func (l *lab) claim(holds bool, format string, args ...any) {
	word := "holds"
	if !holds {
		word = "DOES NOT HOLD"
	}
	l.printf("%s: %s\n", word, fmt.Sprintf(format, args...))
}

// A chart is a figure with the name of its files.
type chart struct {
	file string
	report.Figure
}

// newChart returns a chart with two logarithmic axes.
func newChart(file, title, xLabel, yLabel string) *chart {
	return &chart{file, report.Figure{Title: title, XLabel: xLabel, YLabel: yLabel, XScale: report.Log,
		YScale: report.Log}}
}

// line adds a line.
func (c *chart) line(name string, x, y []float64) {
	c.Series = append(c.Series, report.Series{Name: name, X: x, Y: y})
}

// fit adds points with the line through them.
func (c *chart) fit(name string, x, y []float64) {
	c.Series = append(c.Series, report.Series{Name: name, X: x, Y: y, Points: true, Fit: true})
}

// point adds a point to the series of a name, which begins with it if there is none.
func (c *chart) point(name string, x, y float64) *report.Series {
	i := slices.IndexFunc(c.Series, func(s report.Series) bool { return s.Name == name })
	if i < 0 {
		i = len(c.Series)
		c.Series = append(c.Series, report.Series{Name: name})
	}
	s := &c.Series[i]
	s.X, s.Y = append(s.X, x), append(s.Y, y)
	return s
}

// theory adds a line of a slope from the first point of the first series.
func (c *chart) theory(slope float64) {
	first := c.Series[0]
	r := report.Series{Name: fmt.Sprintf("theory, slope −%g", -slope), X: first.X, Reference: true}
	for _, x := range first.X {
		r.Y = append(r.Y, first.Y[0]*math.Pow(x/first.X[0], slope))
	}
	c.Series = append(c.Series, r)
}

// save writes figures.
func (l *lab) save(charts ...*chart) {
	for _, c := range charts {
		if l.dir == "" {
			return
		}
		if err := report.Save(&c.Figure, l.dir, c.file); err != nil {
			testkit.OK(fmt.Errorf("figure %s: %w", c.file, err))
		}
		fmt.Fprintf(l.out, "figure: %s\n", c.file)
		fmt.Fprintf(&l.page, "\n![%s](%s.svg)\n", c.Title, c.file)
	}
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
	var text strings.Builder
	_ = cli.Markdown(&text, t) // a builder takes everything
	l.printf("%s\n", text.String())
}

// slope fits the exponent of a power law.
func slope(x, y []float64) float64 {
	return testkit.Get(report.FitLine(x, y, true, true)).Slope
}

func mean(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s += x
	}
	return s / float64(len(v))
}

// column collects one property of each of several things.
func column[A, B any](all []A, of func(A) B) []B {
	v := make([]B, len(all))
	for i, a := range all {
		v[i] = of(a)
	}
	return v
}
