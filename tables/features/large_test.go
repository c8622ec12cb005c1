package features_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/tables"
	"dsbo/tables/features"
)

// TestLargeNumbers: numbers that differ by little beside their size stay apart, as features, as
// classes and as values to predict; a column is dropped as constant only if it is.
func TestLargeNumbers(t *testing.T) {
	const rows = 60
	for _, c := range []struct {
		base, step float64
		wide       bool
	}{
		{1700000000, 1, true}, {1e15, 1, true}, {-1e12, .25, true}, {1e8, 1, true}, {1000, 1, false}, {0, .125, false},
	} {
		for _, kind := range []features.TargetKind{features.Class, features.Value} {
			var all []*tables.Table
			for i := range 2 {
				when, y, same := make([]float64, rows), make([]float64, rows), make([]float64, rows)
				for row := range rows {
					when[row] = c.base + c.step*float64(row)
					y[row] = c.base + c.step*float64((row+i)%3)
					same[row] = c.base + c.step/3
				}
				all = append(all, testkit.Get(tables.New(fmt.Sprint(i), tables.NumberColumn("when", when),
					tables.NumberColumn("same", same), tables.NumberColumn("y", y))))
			}
			o := options
			o.Target, o.Kind = "y", kind
			p := testkit.Get(features.Prepare(features.Sites{Tables: all, Collective: alone(t, 2), Seed: 1}, o))
			in := p.Recipe.Inputs[0]
			if in.Dropped != "" || in.IsWide() != c.wide || p.Recipe.Inputs[1].Dropped == "" {
				t.Errorf("%g: the inputs are %+v", c.base, p.Recipe.Inputs)
			}
			train, seen := p.Data.Shards[0].Train, map[float64]bool{}
			for row := range train.X.Rows() {
				seen[train.X.At(row, 0)] = true
			}
			if len(seen) != train.X.Rows() {
				t.Errorf("%g: %d rows have %d features", c.base, train.X.Rows(), len(seen))
			}
			if kind == features.Class {
				want := []string{}
				for k := range 3 {
					want = append(want, strconv.FormatFloat(c.base+c.step*float64(k), 'f', -1, 64))
				}
				if !slices.Equal(p.Recipe.Target.Classes, want) {
					t.Errorf("the classes are %q, want %q", p.Recipe.Target.Classes, want)
				}
			} else if d := p.Recipe.Target.Deviation / c.step; !(math.Abs(d-math.Sqrt(2./3)) <= .1) {
				t.Errorf("%g: the target's deviation is %g steps", c.base, d)
			}
		}
	}
}
