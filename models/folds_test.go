package models_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// folded returns s with all of its examples for training and for validation, in folds.
func folded(s data.Shard, count int, weight *ad.Table) data.Shard {
	of := make([]int, s.Train.Len())
	for row := range of {
		of[row] = row * 7 % count
	}
	train, val, err := models.FoldWeights(of, count, weight)
	testkit.OK(err)
	s.Val = data.Examples{X: s.Train.X, Target: s.Train.Target, Weight: val}
	s.Train.Weight = train
	return s
}

// TestFoldsAreModels: the losses are the losses of linear models, each on the examples of
// its folds.
func TestFoldsAreModels(t *testing.T) {
	const count, rows = 3, 30
	all := valueShard(rows, 21, 5)
	linear := models.Linear{Features: 5, Outputs: 1, Loss: models.Squared{}}
	m, shard := models.Folds{Of: linear, Count: count}, folded(all, count, nil)
	p, q := m.Dims()
	x, y := make([]float64, p), make([]float64, q)
	for j := range y {
		y[j] = math.Sin(float64(j))
	}
	lower, upper := 0.0, 0.0
	for k := range count {
		var in, out []int
		for row := range rows {
			if row*7%count == k {
				out = append(out, row)
			} else {
				in = append(in, row)
			}
		}
		pick := func(rows []int) data.Examples { return testkit.Get(all.Train.Pick(rows)) }
		weights, intercepts := m.Fold(y, k)
		part := slices.Concat(weights, intercepts)
		lower += valueOf(linear.Lower, pick(in), x, part) / count
		upper += valueOf(linear.Upper, pick(out), x, part) * float64(len(out)) / rows
	}
	for _, c := range []struct {
		name string
		loss models.Loss
		e    data.Examples
		want float64
	}{{"lower", m.Lower, shard.Train, lower}, {"upper", m.Upper, shard.Val, upper}} {
		if got := valueOf(c.loss, c.e, x, y); !(math.Abs(got-c.want) <= 1e-6*math.Abs(c.want)) { // weights are float32
			t.Errorf("%s loss %.9g, by the models alone %.9g", c.name, got, c.want)
		}
	}
	// Of a validation example the model that left it out has the score, of others all models.
	mean := 0.0
	for _, l := range lossesOf(m, shard.Val, x, y) {
		mean += l / rows
	}
	if !(math.Abs(mean-upper) <= 1e-6*upper) {
		t.Errorf("mean score %.9g, upper loss %.9g", mean, upper)
	}
}

func TestFoldsCheck(t *testing.T) {
	linear := models.Linear{Features: 5, Outputs: 1, Loss: models.Squared{}}
	s := valueShard(30, 21, 5)
	for _, c := range []struct {
		name  string
		model interface{ Check(data.Shard) error }
		shard data.Shard
	}{
		{"one fold", models.Folds{Of: linear, Count: 1}, folded(s, 1, nil)},
		{"no weights", models.Folds{Of: linear, Count: 3}, s},
		{"weights of other folds", models.Folds{Of: linear, Count: 3}, folded(s, 2, nil)},
		{"folds for one model", linear, folded(s, 2, nil)},
	} {
		if err := c.model.Check(c.shard); !errors.Is(err, dsbo.ErrShape) && !errors.Is(err, dsbo.ErrConfig) {
			t.Errorf("%s: error %v", c.name, err)
		}
	}
	if _, _, err := models.FoldWeights([]int{0, 2}, 2, nil); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("a fold that there is not: error %v", err)
	}
}

// TestPrior: the upper loss has the term of its documentation, which is 0 where all penalties
// are alike, or as far from the center.
func TestPrior(t *testing.T) {
	s := valueShard(30, 21, 5)
	plain := models.Linear{Features: 5, Outputs: 1, Loss: models.Squared{}}
	with := plain
	with.Prior = models.Prior{Deviation: 2, Rows: 9}
	_, q := plain.Dims()
	y := make([]float64, q)
	for _, c := range []struct {
		x, center []float64
		want      float64
	}{{[]float64{3, 3, 3, 3, 3}, nil, 0}, {[]float64{1, 2, 3, 4, 5}, nil, 10. / (2 * 4 * 9)},
		{[]float64{1, 2, 3, 4, 5}, []float64{0, 1, 2, 3, 4}, 0},
		{[]float64{0, 1, 2, 3, 4}, []float64{1, 2, 3, 4, 6}, 0.8 / (2 * 4 * 9)}} {
		with.Prior.Center = c.center
		value := func(m models.Linear) float64 { return valueOf(m.Upper, s.Val, c.x, y) }
		scaled := with
		scaled.Prior.Residuals = true
		loss := value(plain)
		if got := value(with) - loss; !(math.Abs(got-c.want) <= 1e-12) {
			t.Errorf("at %v the prior adds %g, want %g", c.x, got, c.want)
		}
		if got := value(scaled) - loss; !(math.Abs(got-2*loss*c.want) <= 1e-12) {
			t.Errorf("at %v the prior of residuals adds %g, want %g", c.x, got, 2*loss*c.want)
		}
		if got := scaled.Prior.Factor(c.x); !(math.Abs(got-1-2*c.want) <= 1e-15) {
			t.Errorf("at %v the prior's factor is %g, want %g", c.x, got, 1+2*c.want)
		}
	}
	for _, bad := range []models.Prior{{Deviation: 1}, {Rows: 3}, {Deviation: -1, Rows: 3},
		{Deviation: math.Inf(1), Rows: 3}} {
		with.Prior = bad
		if err := with.Check(s); !errors.Is(err, dsbo.ErrConfig) {
			t.Errorf("%+v: error %v", bad, err)
		}
	}
}

// TestPenaltyOfFoldsApart: with Apart each fold's weights have the penalties of its own part of x,
// else all folds' the same ones.
func TestPenaltyOfFoldsApart(t *testing.T) {
	for apart, p := range map[bool]int{true: 6, false: 3} {
		m := models.Folds{Of: models.Linear{Features: 3, Outputs: 1, Penalties: models.PerFeature{}}, Count: 2,
			Apart: apart}
		nx, ny := m.Dims()
		x, e := make([]float64, nx), make([]float64, ny)
		for j := range x {
			x[j] = float64(j)
		}
		if m.Penalty(e, x); nx != p {
			t.Errorf("apart %t: %d log-penalties, want %d", apart, nx, p)
		}
		for k := range 2 {
			weights, _ := m.Fold(e, k)
			for j, got := range weights { // of the mean over 2 folds and 3 features of e^x w²
				if want := 2. / 6 * math.Exp(x[(k*3+j)%nx]); !(math.Abs(got-want) <= 1e-13*want) {
					t.Errorf("apart %t, fold %d, weight %d: penalty %v, want %v", apart, k, j, got, want)
				}
			}
		}
	}
}
