package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"dsbo/ad"
	"dsbo/internal/cli"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
)

// outsidePart is the part of the outside models.
const outsidePart = "outside"

// An outsideRow is an outside model at the sizes at which times are compared.
type outsideRow struct {
	name string
	n, d int
	kind dtype
}

func (o outsideRow) label() string {
	return fmt.Sprintf("%s-%s-%s", outsidePart, strings.ReplaceAll(o.name, " ", "-"), o.kind)
}

func outsideRows() (rows []outsideRow) {
	for _, m := range outsideModels {
		for _, kind := range []dtype{f32, f64} {
			rows = append(rows, outsideRow{m.name, m.n, m.d, kind})
		}
	}
	return rows
}

// measure measures ours, each for a number of seconds.
func (o outsideRow) measure(seconds float64) deepTimes {
	m := newOutside(o.name, o.n, o.d)
	y := mapped(numbers(101, m.q), func(v float64) float64 { return .8 * v })
	return m.measure(o.kind, y, numbers(102, m.q), seconds)
}

// measure measures a loss at points that are new, and products along v, by vectors of a type.
func (m *outsideModel) measure(kind dtype, y, v []float64, seconds float64) deepTimes {
	f := m.differentiate(kind == f32)
	if kind == f64 {
		return timesOf(&f.DerivsIn, y, v, seconds)
	}
	single, along := make([]float32, m.q), make([]float32, m.q)
	linalg.Convert(single, y)
	linalg.Convert(along, v)
	return timesOf(f.Float32(), single, along, seconds)
}

// timesOf times derivatives, each for a number of seconds.
func timesOf[T ad.Float](f *ad.DerivsIn[T], y, v []T, seconds float64) deepTimes {
	dst := make([]T, len(y))
	product := func() { testkit.OK(f.HVP(dst, nil, y, v)) }
	elsewhere, another := func() { y[0] += 1e-3 }, func() { v[0] += 1e-3 }
	return deepTimes{medianTime(seconds, elsewhere, func() { testkit.OK(f.Grad(nil, dst, nil, y)) }),
		medianTime(seconds, elsewhere, product), medianTime(seconds, another, product)}
}

// compareOutside runs all rows on both sides in turn, on one thread each, and prints a table.
func compareOutside(ctx context.Context, o options, r *rival, out io.Writer) {
	o.procs = 1
	table := [][]string{{"", "gradient, ms", "peer", "ours/peer", "HVP, ms", "peer", "ours/peer"}}
	for _, row := range outsideRows() {
		mine, theirs := inTurn(ctx, o, row.label(), r, func() (times deepTimes, err error) {
			err = r.python3(ctx, &times, torchOutside, "--time", row.name, "--n", fmt.Sprint(row.n), "--d",
				fmt.Sprint(row.d), "--dtype", string(row.kind), "--seconds", ".5")
			return times, err
		})
		line := append([]string{fmt.Sprintf("%s, %s", row.name, row.kind)},
			compared(mine, theirs, deepTimes.gradient)...)
		table = append(table, append(line, compared(mine, theirs, deepTimes.cold)...))
	}
	testkit.OK(cli.Table(out, table))
}
