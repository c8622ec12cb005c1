package models_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// dropping is a linear classifier that leaves out features of training examples at random.
type dropping struct {
	models.Softmax
	masks []models.Mask
}

func (m dropping) Masks() []models.Mask { return m.masks }

func (m dropping) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	b.X = ad.Mul(b.X, b.Column("kept"))
	return m.Softmax.Lower(x, y, b)
}

// TestMasks: a draw has one mask, whatever is asked and in whatever type, another draw another one,
// and all examples none. What the mask leaves out has no gradient.
func TestMasks(t *testing.T) {
	const d, c = 50, 3
	s := classShard(40, 40, d, c)
	m := dropping{models.Softmax{Features: d, Classes: c}, []models.Mask{{Name: "kept", Cols: d, Keep: .25}}}
	r := rand.New(rand.NewPCG(7, 7))
	x, y, v := slices.Repeat([]float64{-30}, d), normal(r, d*c, .1), normal(r, d*c, 1)
	oracle := func(m models.Model, c models.Config) *models.Oracle { return testkit.Get(models.NewOracle(m, s, c)) }
	grad := func(o *models.Oracle, name dsbo.Sample) []float64 {
		g := make([]float64, d*c)
		testkit.OK(o.LowerGrad(g, x, y, name))
		return g
	}
	o, one := oracle(m, models.Config{Batch: 1}), dsbo.Sample{Set: dsbo.Lower, K: 3, T: 1}
	g := grad(o, one)
	kept := 0
	for _, v := range g[:d] {
		if !(math.Abs(v) <= 1e-9) { // e^{-30} is what the penalty leaves
			kept++
		}
	}
	if kept < 3 || kept > 25 { // a quarter of 50: 12.5 ± 3.1
		t.Errorf("%d of %d features are kept, about a quarter must be", kept, d)
	}
	hv := make([]float64, d*c)
	testkit.OK(o.HVP(hv, x, y, v, one))
	for j := range d {
		if (!(math.Abs(g[j]) <= 1e-9)) != (!(math.Abs(hv[j]) <= 1e-9)) {
			t.Fatalf("feature %d: gradient %g and product %g of a draw must have the same mask", j, g[j], hv[j])
		}
	}
	if again := grad(oracle(m, models.Config{Batch: 1}), one); !slices.Equal(g, again) {
		t.Error("the same draw of another oracle has another mask")
	}
	if narrow := grad(oracle(m, models.Config{Batch: 1, Float32: true}), one); linalg.Dist2(narrow, g) > 1e-10 {
		t.Error("the same draw in float32 has another mask")
	}
	batch := oracle(m, models.Config{Batch: 40})
	if slices.Equal(grad(batch, one), grad(batch, dsbo.Sample{Set: dsbo.Lower, K: 3, T: 2})) {
		t.Error("two draws of the same examples have the same mask")
	}
	if whole := (dsbo.Sample{Set: dsbo.Whole}); !slices.Equal(grad(batch, whole), grad(oracle(m.Softmax,
		models.Config{}), whole)) {
		t.Error("all examples, which are no draw, have a mask")
	}
}

// TestMasksAreChecked: a mask has a name of its own, a size and a share.
func TestMasksAreChecked(t *testing.T) {
	s := classShard(8, 8, 4, 3)
	s.Train.Columns = []data.Column{{Name: "taken", Table: table(8, 1, make([]float64, 8))}}
	for _, masks := range [][]models.Mask{
		{{Cols: 4, Keep: .5}}, {{Name: "kept", Keep: .5}}, {{Name: "kept", Cols: 4}},
		{{Name: "kept", Cols: 4, Keep: 1.5}}, {{Name: "kept", Cols: 4, Keep: .5}, {Name: "kept", Cols: 4, Keep: .5}},
		{{Name: "taken", Cols: 4, Keep: .5}}, {{Name: "noise", Cols: 4, Keep: .5, Normal: true}},
		{{Name: "noise", Normal: true}},
	} {
		if _, err := models.NewOracle(dropping{models.Softmax{Features: 4, Classes: 3}, masks}, s,
			models.Config{}); !errors.Is(err, dsbo.ErrConfig) {
			t.Errorf("%+v: %v", masks, err)
		}
	}
}

// noisy adds normal noise to the features of training examples.
type noisy struct{ models.Softmax }

func (noisy) Masks() []models.Mask { return []models.Mask{{Name: "noise", Cols: 50, Normal: true}} }

func (m noisy) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	b.X = ad.Add(b.X, b.Column("noise"))
	return m.Softmax.Lower(x, y, b)
}

// TestNoise: a draw has one noise, whatever is asked and in whatever type, another draw another
// one, and all examples none. It is standard normal: 2000 squares have the sum 2000 ± 63.
func TestNoise(t *testing.T) {
	const d, c, rows = 50, 3, 40
	s := classShard(rows, rows, d, c)
	s.Train.X = table(rows, d, make([]float64, rows*d)) // the noise alone is left
	m := noisy{models.Softmax{Features: d, Classes: c}}
	x, y := slices.Repeat([]float64{-30}, d), make([]float64, d*c)
	curvature := func(c models.Config, name dsbo.Sample) float64 {
		o, v, hv := testkit.Get(models.NewOracle(m, s, c)), make([]float64, len(y)), make([]float64, len(y))
		sum := 0.
		for j := range d {
			v[j] = 1
			testkit.OK(o.HVP(hv, x, y, v, name))
			sum += 9. / 2 * rows * hv[j] // p(1-p) = 2/9 of each squared number
			v[j] = 0
		}
		return sum
	}
	one := dsbo.Sample{Set: dsbo.Lower, K: 3, T: 1}
	length := curvature(models.Config{}, one)
	if !(math.Abs(length-rows*d) <= 5*63) {
		t.Errorf("the squared length of %d numbers is %g", rows*d, length)
	}
	if narrow := curvature(models.Config{Float32: true}, one); !(math.Abs(narrow-length) <= 1e-3*length) {
		t.Errorf("the same draw in float32 has other noise: %g and %g", narrow, length)
	}
	if other := curvature(models.Config{}, dsbo.Sample{Set: dsbo.Lower, K: 3, T: 2}); other == length {
		t.Error("two draws have the same noise")
	}
	if whole := curvature(models.Config{}, dsbo.Sample{Set: dsbo.Whole}); whole > 1e-6 {
		t.Errorf("all examples, which are no draw, have noise: %g", whole)
	}
}
