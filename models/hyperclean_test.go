package models_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"dsbo"
	"dsbo/ad"
	"dsbo/algo"
	"dsbo/data"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// TestHyperCleanWeights: with all trust equal to ½ the lower loss is half of softmax's, and an
// example's derivative is σ'(x_e) times its own loss over the number of examples.
func TestHyperCleanWeights(t *testing.T) {
	const d, c, rows = 4, 3, 10
	s := classShard(rows, 8, d, c) // IDs 5 to 14
	m := models.HyperClean{Features: d, Classes: c, Examples: 17, Ridge: 1e-9}
	p, q := m.Dims()
	g := testkit.Get(models.Differentiate(m.Lower, p, q, s.Train, false))
	x, y := make([]float64, p), normal(rand.New(rand.NewPCG(5, 5)), q, 1)
	dx := make([]float64, p)
	testkit.OK(g.Grad(dx, nil, x, y))
	total := 0.0
	for id, got := range dx {
		want := 0.0
		if i := id - 5; i >= 0 && i < rows {
			_, loss := probabilities(y, row(s.Train, i), c, s.Train.Target, i)
			want = loss / 4 / rows
			total += loss / 2 / rows
		}
		if !(math.Abs(got-want) <= 1e-14) {
			t.Errorf("∂g/∂x_%d = %g, want %g", id, got, want)
		}
	}
	if v, err := g.Value(x, y); err != nil || !(math.Abs(v-total-1e-9*linalg.Dot(y, y)) <= 1e-13) {
		t.Errorf("lower loss %g (%v), want %g", v, err, total)
	}
}

// alone is the mixer of the only agent.
type alone struct{}

func (alone) Capabilities() *dsbo.MixerCapabilities { return nil }

func (alone) Mix(_ context.Context, dst, src []float64) error {
	copy(dst, src)
	return nil
}

// TestHyperCleanFindsWrongLabels: of two well-separated blobs a third of the training labels is
// turned, and after some iterations of MA-DSBO the turned ones are trusted less than all others.
func TestHyperCleanFindsWrongLabels(t *testing.T) {
	const rows = 60
	r := rand.New(rand.NewPCG(6, 7))
	blobs := func() data.Examples {
		var pts []float64
		labels := make([]uint8, rows)
		for i := range rows {
			labels[i] = uint8(i % 2)
			center := 2*float64(i%2) - 1
			pts = append(pts, center+.3*r.NormFloat64(), .3*r.NormFloat64())
		}
		target := testkit.Get(ad.LabelTable(labels, 2))
		return data.Examples{X: table(rows, 2, pts), Target: target}
	}
	s := data.Shard{Train: blobs(), Val: blobs()}
	var wrong []int
	s.Train, wrong = testkit.Get2(data.Mislabel(s.Train, 1./3, 1, 0))
	for i := range rows {
		s.Train.ID = append(s.Train.ID, i)
	}
	m := models.HyperClean{Features: 2, Classes: 2, Examples: rows, Ridge: .01}
	o := testkit.Get(models.NewOracle(m, s, models.Config{}))
	p, q := m.Dims()
	a := &algo.Tuned{Alpha: "0.5", Beta: "1", Gamma: "1", Eta: "200", T: 10, N: 10}
	testkit.OK(a.Init(p, q, 60))
	for k := range 60 {
		testkit.OK(a.Step(t.Context(), k, o, alone{}))
	}
	turned := make([]bool, rows)
	for _, i := range wrong {
		turned[i] = true
	}
	highest, lowest := math.Inf(-1), math.Inf(1)
	for i, x := range a.X() {
		if turned[i] {
			highest = max(highest, x)
		} else {
			lowest = min(lowest, x)
		}
	}
	if !(highest < lowest) {
		t.Errorf("a wrong label has x = %.3f, a right one %.3f: want all wrong ones below", highest, lowest)
	}
}
