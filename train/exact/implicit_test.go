package exact_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/train/exact"
)

// TestAgainstArgMin: the solver's Φ, y* and hypergradient are equal to 1e-8 to an implicit
// node's, which knows nothing of agents.
func TestAgainstArgMin(t *testing.T) {
	const features, classes, rows = 5, 3, 40
	m := models.Softmax{Features: features, Classes: classes}
	r := rand.New(rand.NewPCG(5, 3))
	draw := func() (x, hot []float64, e data.Examples) {
		x, hot = make([]float64, rows*features), make([]float64, rows*classes)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		for i := range rows {
			hot[i*classes+r.IntN(classes)] = 1
		}
		e.X, e.Target = testkit.Get(ad.FloatTable(rows, features, x)), testkit.Get(ad.FloatTable(rows, classes, hot))
		return x, hot, e
	}
	trainX, trainT, train := draw()
	valX, valT, val := draw()
	o := testkit.Get(models.NewOracle(m, data.Shard{Train: train, Val: val}, models.Config{}))
	lambda := make([]float64, features)
	for j := range lambda {
		lambda[j] = r.NormFloat64()
	}
	s := exact.Solver{Oracles: []dsbo.ValueOracle{o}, Tol: 1e-13, AdjointTol: 1e-13}
	want := testkit.Get(s.Solve(context.Background(), lambda))
	batch := func(like *ad.Node, set string, x, hot []float64) models.Batch {
		return models.Batch{Rows: rows, X: ad.NewConst(like, set+" X", rows, features, x),
			T: ad.NewConst(like, set+" T", rows, classes, hot)}
	}
	for _, by := range []ad.Solver{{Tolerance: 1e-12}, {Method: ad.BFGS, Tolerance: 1e-11}} {
		build := func(_, lambda *ad.Node, _ []*ad.Node) *ad.Node {
			lower := func(y *ad.Node, in []*ad.Node) *ad.Node {
				return m.Lower(in[0], y, batch(y, "training", trainX, trainT))
			}
			start := ad.NewConst(lambda, "start", classes*features, 0, make([]float64, classes*features))
			y := ad.ArgMin(lower, start, []*ad.Node{lambda}, by)
			return m.Upper(lambda, y, batch(lambda, "validation", valX, valT))
		}
		phi := testkit.Get(ad.Differentiate(ad.Loss{Q: features, Build: build}))
		gradient := make([]float64, features)
		value := testkit.Get(phi.ValueGrad(nil, gradient, nil, lambda))
		if !(math.Abs(value-want.Phi) <= 1e-8*want.Phi) {
			t.Errorf("%v: Φ is %v; the solver has %v", by.Method, value, want.Phi)
		}
		near(t, "hypergradient", gradient, want.Gradient, 1e-8*linalg.Norm(want.Gradient))
	}
}
