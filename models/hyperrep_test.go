package models_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"dsbo"
	"dsbo/ad"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// TestHyperRepIsNetwork: the loss is the loss of a network whose hidden layers are x and whose last
// layer is y.
func TestHyperRepIsNetwork(t *testing.T) {
	const d, c = 6, 3
	s := classShard(20, 15, d, c)
	m := models.HyperRep{Features: d, Classes: c, Hidden: []int{5, 4}, Seed: 3}
	mlp := models.MLP{Features: d, Outputs: c, Hidden: []int{5, 4}, ReLU: true}
	p, q := m.Dims()
	all, total := mlp.Dims()
	if p+q != total {
		t.Fatalf("p + q = %d + %d, want the network's %d", p, q, total)
	}
	x, y := make([]float64, p), normal(rand.New(rand.NewPCG(1, 2)), q, 1)
	m.StartX(x)
	f, want := valueOf(m.Upper, s.Val, x, y), valueOf(mlp.Upper, s.Val, make([]float64, all), append(x, y...))
	if !(math.Abs(f-want) <= 1e-14*want) {
		t.Errorf("upper loss %g, that of the network %g", f, want)
	}
	g := valueOf(m.Lower, s.Val, x, y)
	if want := f + 1e-4*linalg.Dot(y, y); !(math.Abs(g-want) <= 1e-14*want) {
		t.Errorf("lower loss %g, want %g", g, want)
	}
}

// TestBaselinesSuitTheirModels: the x of a baseline is one of its model, which takes the same data
// and has a score.
func TestBaselinesSuitTheirModels(t *testing.T) {
	s := classShard(20, 15, 9, 3)
	for _, m := range []models.Model{
		models.HyperRep{Features: 9, Classes: 3}, models.Distilled{Features: 9, Classes: 3},
		models.Distilled{Features: 9, Classes: 3, Pictures: make([]float64, 27)},
	} {
		for _, b := range m.(models.Baselined).Baselines() {
			of := b.Of
			if of == nil {
				of = m
			}
			p, q := of.Dims()
			if len(b.X) != p || b.Name == "" {
				t.Errorf("%T, %q: x has %d numbers, want %d", m, b.Name, len(b.X), p)
			}
			testkit.Get(models.NewOracle(of, s, models.Config{}))
			testkit.Get2(testkit.Get(models.NewScore(of, s.Val, false)).Examples(b.X, make([]float64, q)))
		}
	}
}

// TestTemperature: a class with temperature T has the logits of a linear model, over T.
func TestTemperature(t *testing.T) {
	const d, c = 4, 3
	s := classShard(20, 15, d, c)
	m := models.Temperature{Features: d, Classes: c}
	x, y := []float64{math.Log(2), 0, math.Log(.5)}, normal(rand.New(rand.NewPCG(1, 3)), d*c, 1)
	cooled := make([]float64, d*c)
	for i, v := range y {
		cooled[i] = v / math.Exp(x[i/d])
	}
	got := lossesOf(m, s.Val, x, y)
	want := lossesOf(models.Softmax{Features: d, Classes: c}, s.Val, make([]float64, d), cooled)
	if linalg.Dist2(got, want) > 1e-26 {
		t.Errorf("losses %v, want %v", got, want)
	}
}

// TestDistilledTrainsOnPictures: the lower loss is the loss of a linear model whose examples are
// the pictures.
func TestDistilledTrainsOnPictures(t *testing.T) {
	const d, c = 4, 3
	s := classShard(20, 15, d, c)
	r := rand.New(rand.NewPCG(1, 4))
	m := models.Distilled{Features: d, Classes: c, Pictures: normal(r, d*c, 1)}
	x, y := make([]float64, d*c), normal(r, d*c, 1)
	m.StartX(x)
	pictures := s.Val
	pictures.X, pictures.Target = table(c, d, x), testkit.Get(ad.LabelTable([]uint8{0, 1, 2}, c))
	got := valueOf(m.Lower, s.Train, x, y)
	mean := valueOf(models.Softmax{Features: d, Classes: c}.Upper, pictures, make([]float64, d), y)
	if want := mean + 1e-3*linalg.Dot(y, y); !(math.Abs(got-want) <= 1e-6*want) { // tables are float32
		t.Errorf("lower loss %g, want %g", got, want)
	}
}

func TestSettingsAreChecked(t *testing.T) {
	s := classShard(8, 8, 4, 3)
	for _, m := range []models.Checker{
		models.HyperRep{Features: 4, Classes: 3, Ridge: -1},
		models.HyperRep{Features: 4, Classes: 3, Hidden: []int{3, 0}},
		models.Temperature{Features: 4, Classes: 3, Ridge: -1},
		models.Distilled{Features: 4, Classes: 3, Ridge: -1},
		models.Distilled{Features: 4, Classes: 3, Pictures: make([]float64, 11)},
	} {
		if err := m.Check(s); !errors.Is(err, dsbo.ErrConfig) {
			t.Errorf("%+v: %v", m, err)
		}
	}
}
