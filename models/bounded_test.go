package models_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// TestTermBounds: a term of one row at its norm's bound, wherever y is, has no larger derivatives
// than the model says, and for some y they come near. x enters the penalty alone: products with the
// Jacobian do not depend on the row.
func TestTermBounds(t *testing.T) {
	const features, c = 3, 1.5
	r := rand.New(rand.NewPCG(1, 2))
	for name, m := range map[string]struct {
		model   models.Bounded
		target  *ad.Table
		greatly float64 // the size of the y that are tried
	}{
		"softmax": {models.Softmax{Features: features, Classes: 4}, testkit.Get(ad.LabelTable([]uint8{1}, 4)), 3},
		"logistic": {models.Logistic{Features: features, Mean: true}, testkit.Get(ad.FloatTable(1, 1, []float64{-1})),
			3},
		"linear": {models.Linear{Features: features, Outputs: 3}, testkit.Get(ad.LabelTable([]uint8{2}, 3)), 3},
		"huber": {models.Linear{Features: features, Outputs: 1, Loss: models.Huber{Delta: 0.7}},
			testkit.Get(ad.FloatTable(1, 1, []float64{2})), 3},
	} {
		gradient, curvature, ok := m.model.TermBounds(c)
		if !ok {
			t.Fatalf("%s has no bounds", name)
		}
		model := m.model.(models.Model)
		programs := models.NewPrograms(model)
		p, q := model.Dims()
		x, y, v := make([]float64, p), make([]float64, q), make([]float64, q)
		g, hv, e, jv, other := make([]float64, q), make([]float64, q), make([]float64, q), make([]float64, p),
			make([]float64, p)
		m.model.Penalty(e, x)
		steepest, sharpest := 0.0, 0.0
		for range 20 {
			row := make([]float64, features)
			for j := range row {
				row[j] = r.NormFloat64()
			}
			linalg.Scale(row, c/linalg.Norm(row), row)
			examples := data.Examples{X: testkit.Get(ad.FloatTable(1, features, row)), Target: m.target}
			o := testkit.Get(programs.Oracle(data.Shard{Train: examples, Val: examples}, models.Config{}))
			for j := range y {
				y[j], v[j] = m.greatly*r.NormFloat64(), r.NormFloat64()
			}
			linalg.Scale(v, 1/linalg.Norm(v), v)
			all := dsbo.Sample{Set: dsbo.Whole}
			testkit.OK(o.UpperGrad(nil, g, x, y, all))
			testkit.OK(o.HVP(hv, x, y, v, all))
			testkit.OK(o.JVP(jv, x, y, v, all))
			for j := range hv {
				hv[j] -= e[j] * v[j]
			}
			steepest, sharpest = max(steepest, linalg.Norm(g)/gradient), max(sharpest, linalg.Norm(hv)/curvature)
			opposite := make([]float64, features)
			linalg.Scale(opposite, -1, row)
			examples.X = testkit.Get(ad.FloatTable(1, features, opposite))
			again := testkit.Get(programs.Oracle(data.Shard{Train: examples, Val: examples}, models.Config{}))
			testkit.OK(again.JVP(other, x, y, v, all))
			if linalg.Dist2(jv, other) != 0 {
				t.Fatalf("%s: a product with the Jacobian follows the row", name)
			}
		}
		if steepest > 1+1e-12 || sharpest > 1+1e-12 || steepest < 0.5 || math.IsNaN(sharpest) {
			t.Errorf("%s: the steepest gradient is %.3g of its bound, the largest product %.3g", name,
				steepest, sharpest)
		}
	}
	if _, _, ok := (models.Linear{Features: 3, Outputs: 1, Loss: models.Squared{}}).TermBounds(1); ok {
		t.Error("squared losses have no bounds")
	}
}
