package site

import (
	"strings"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/internal/testkit"
)

// TestAveragesOf: an iteration's averages are told apart by their numbers, also where a few of q
// numbers have fewer than many of one.
func TestAveragesOf(t *testing.T) {
	// 3 gradients, 1 residual, 5 products, 2 diagonals, of which 1 is joined; 1 of p, 20 of one
	c := algo.Cost{Averages: 11 + 1 + 20 + 3, Joined: 1, Shorter: 3,
		Calls: dsbo.Calls{LowerGrad: 3, UpperGrad: 1, HVP: 6, JVP: 1, Diagonal: 2}}
	for _, q := range []int{2, 7, 1000} {
		const p = 4
		c.AverageFloats = 11*q + p + 20 + 3*algo.ShorterSteps
		if got, want := (listing{p: p, q: q}).averagesOf(c), [...]float64{3, 1, 5, 1, 1, 20, 3}; got != want {
			t.Errorf("q = %d: %v, want %v", q, got, want)
		}
	}
	if got := (listing{p: 4, q: 1}).averagesOf(algo.Cost{Averages: 4, AverageFloats: 7,
		Calls: dsbo.Calls{LowerGrad: 1, UpperGrad: 1, JVP: 1}}); got != [...]float64{1, 1, 1, 0, 1, 0, 0} {
		t.Errorf("q = 1: %v", got)
	}
	if got := (listing{p: 4, q: 9}).averagesOf(algo.Cost{Floats: 9, Messages: 1,
		Calls: dsbo.Calls{LowerGrad: 1}}); got != [len(averaged)]float64{} {
		t.Errorf("without averages: %v", got)
	}
}

// TestExplained: each phase heads its quantities once, and a number of times is one, or from the
// least to the most.
func TestExplained(t *testing.T) {
	var out strings.Builder
	testkit.OK((&Plan{Agents: 3, Quantities: []Quantity{
		{Phase: "a phase", Name: "sums", Times: Range{2, 2}}, {Phase: "a phase", Name: "sums", Times: Range{4, 7}},
		{Phase: "its end", Name: "sums", Times: Range{0, 1}}}}).Explain(&out))
	text := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{" a phase ", " its end ", " 2 ", " 4-7 ", " 0-1 "} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%q is %d times in %q", want, strings.Count(text, want), text)
		}
	}
}
