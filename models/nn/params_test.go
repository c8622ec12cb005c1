package nn_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/models/nn"
)

func TestParams(t *testing.T) {
	ps := &nn.Params{Gain: 2}
	nn.NewDense(ps, "a", 8, 3)
	b := ps.Vector("b", 2, nn.Init{Mean: 7})
	if ps.Len() != 29 || b.Offset != 27 || ps.List()[1].Offset != 24 {
		t.Errorf("length %d, offset of b %d, parameters %v; want 29, 27 and biases from 24 on", ps.Len(),
			b.Offset, ps.List())
	}
	z, again := make([]float64, 29), make([]float64, 29)
	ps.Init(z, 5)
	ps.Init(again, 5)
	if !slices.Equal(z, again) {
		t.Error("two starts with one seed are different")
	}
	if ps.Init(again, 6); slices.Equal(z, again) {
		t.Error("two starts with two seeds are the same")
	}
	if z[0] == 0 || slices.ContainsFunc(z[24:27], func(v float64) bool { return v != 0 }) || z[27] != 7 || z[28] != 7 {
		t.Errorf("start %v, want normal weights, biases 0 and b 7", z)
	}
	if s := ps.String(); !strings.Contains(s, "a.weights") || !strings.Contains(s, "3×8") ||
		!strings.Contains(s, "from 27") {
		t.Errorf("listing %q, want names, shapes and offsets", s)
	}
	wide := &nn.Params{}
	nn.NewDense(wide, "w", 400, 300)
	start := make([]float64, wide.Len())
	wide.Init(start, 1)
	variance := 0.
	for _, w := range start[:120_000] {
		variance += w * w / 120_000
	}
	// The variance of n normal numbers has the relative deviation √(2/n): 0.004; this is five
	// times it.
	if math.Abs(400*variance-1) > .02 {
		t.Errorf("the weights' variance times the number of inputs is %v, want 1", 400*variance)
	}
}

func TestBadParams(t *testing.T) {
	for _, c := range []struct {
		want string
		add  func(ps *nn.Params)
	}{
		{`parameter "l.weights" must have at least 1 row; it has 0`,
			func(ps *nn.Params) { nn.NewDense(ps, "l", 3, 0) }},
		{`parameter "l.weights" must have at least 1 column; it has 0`,
			func(ps *nn.Params) { nn.NewDense(ps, "l", 0, 3) }},
		{`parameter "v" must have at least 1 row; it has -1`, func(ps *nn.Params) { ps.Vector("v", -1, nn.Init{}) }},
		{`names of parameters must be distinct; "l.weights" is there twice`,
			func(ps *nn.Params) { nn.NewDense(ps, "l", 2, 2); nn.NewDense(ps, "l", 2, 2) }},
		{`the width of attention "a" must be a multiple of its heads; they are 4 and 3`,
			func(ps *nn.Params) { nn.NewAttention(ps, "a", 4, 3) }},
		{`the width of attention "a" must be a multiple of its heads; they are 4 and 0`,
			func(ps *nn.Params) { nn.NewAttention(ps, "a", 4, 0) }},
	} {
		var ps nn.Params
		c.add(&ps)
		if err := ps.Err(); !errors.Is(err, dsbo.ErrConfig) || err.Error() != c.want {
			t.Errorf("error %v, want one that matches ErrConfig and says %q", err, c.want)
		}
	}
}
