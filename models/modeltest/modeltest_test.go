package modeltest

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/must"
	"dsbo/internal/vec"
	"dsbo/models"
)

// ridge is a right model to spoil: f = ½ mean (a'y − t)², g = f + ½ Σ_j e^{x_j} y_j².
type ridge struct{ features int }

func (r ridge) Dims() (p, q int) { return r.features, r.features }

func (r ridge) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	return ad.Add(r.Upper(x, y, b), ad.Scale(.5, ad.Dot(ad.Exp(x), ad.Square(y))))
}

func (r ridge) Upper(_, y *ad.Node, b models.Batch) *ad.Node {
	return ad.Scale(.5, ad.Mean(ad.Square(ad.Sub(ad.MatVec(b.X, y, false), b.T))))
}

func shard(t *testing.T) data.Shard {
	t.Helper()
	r := rand.New(rand.NewPCG(5, 6))
	table := func(rows, cols int) *ad.Table {
		v := make([]float64, rows*cols)
		for i := range v {
			v[i] = r.NormFloat64()
		}
		return must.Get(ad.FloatTable(rows, cols, v))
	}
	return data.Shard{Train: data.Examples{X: table(30, 3), Target: table(30, 1)}, Val: data.Examples{X: table(22, 3), Target: table(22, 1)}}
}

func TestRightModelPasses(t *testing.T) { TestModel(t, ridge{3}, shard(t)) }

// The spoiled models, each wrong in one way.
type (
	forgetful       struct{ ridge } // builds another loss each time
	memory          struct{ ridge } // depends on the number of rows in a way that Whole does not
	tooConvex       struct{ ridge } // claims too much
	notConvex       struct{ ridge } // claims nothing
	badHits         struct{ ridge }
	endlessLoss     struct{ ridge }
	meanLoss        struct{ ridge } // gives each example the loss of all
	shortScore      struct{ ridge }
	randomStart     struct{ ridge }
	partialStart    struct{ ridge }
	halfPenalty     struct{ ridge }
	negativePenalty struct{ ridge }
	largePenalty    struct{ ridge }
	wrongDiagonal   struct{ ridge } // sums where the loss has means, and no penalty
	endlessStart    struct{ ridge }
	steep           struct{ ridge } // loses all its digits in float32
)

var built int

func (f forgetful) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	built++
	return ad.Scale(float64(built), f.ridge.Lower(x, y, b))
}

func (m memory) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	built++
	return ad.Scale(1+float64(built%2), m.ridge.Lower(x, y, b))
}

func (tooConvex) Modulus([]float64) float64 { return 100 }
func (notConvex) Modulus([]float64) float64 { return 0 }

func (badHits) Score(_, _ *ad.Node, b models.Batch) (losses, hits *ad.Node) {
	return ad.Square(b.T), ad.Offset(1.5, b.T)
}

func (endlessLoss) Score(_, _ *ad.Node, b models.Batch) (losses, hits *ad.Node) {
	return ad.Log(ad.Neg(ad.Square(b.T))), nil
}

func (meanLoss) Score(_, _ *ad.Node, b models.Batch) (losses, hits *ad.Node) {
	return ad.ScaleBy(ad.Mean(ad.Square(b.T)), b.T), nil
}

func (shortScore) Score(_, _ *ad.Node, b models.Batch) (losses, hits *ad.Node) {
	return ad.Mean(b.T), nil
}

func (halfPenalty) Penalty(dst, x []float64)     { dst[0] = 1 }
func (negativePenalty) Penalty(dst, x []float64) { vec.Fill(dst, -1) }
func (largePenalty) Penalty(dst, x []float64)    { vec.Fill(dst, 1000) }
func (largePenalty) Modulus([]float64) float64   { return 1e-9 }

func (wrongDiagonal) Diagonal(_, _ *ad.Node, b models.Batch) *ad.Node { return ad.ColDot(b.X, b.X) }

func (randomStart) Start(y []float64) {
	for j := range y {
		built++
		y[j] = float64(built)
	}
}
func (partialStart) Start(y []float64) { y[0] = 1 }
func (endlessStart) Start(y []float64) {
	clear(y)
	y[0] /= y[0]
}

func (s steep) Upper(x, y *ad.Node, b models.Batch) *ad.Node {
	return ad.SumAll(ad.Offset(-1e8, ad.Offset(1e8, ad.Square(y))))
}

func TestSpoiledModelsFail(t *testing.T) {
	s := shard(t)
	for _, c := range []struct {
		model models.Model
		check string
		says  string
	}{
		{forgetful{ridge{3}}, "names", "asked twice"},
		{memory{ridge{3}}, "whole", "all rows by batch"},
		{tooConvex{ridge{3}}, "convexity", "claims at least 100"},
		{notConvex{ridge{3}}, "convexity", "must be positive"},
		{badHits{ridge{3}}, "score", "must be from 0 to 1"},
		{endlessLoss{ridge{3}}, "score", "is NaN"},
		{meanLoss{ridge{3}}, "score", "where it is the only one"},
		{shortScore{ridge{3}}, "score", "an entry for each of 30 examples"},
		{halfPenalty{ridge{3}}, "penalty", "entry 1 is NaN"},
		{negativePenalty{ridge{3}}, "penalty", "entry 0 is -1"},
		{largePenalty{ridge{3}}, "penalty", "more than the Hessian's"},
		{wrongDiagonal{ridge{3}}, "diagonal", "exact is true"},
		{randomStart{ridge{3}}, "start", "two starts differ"},
		{partialStart{ridge{3}}, "start", "two starts differ"},
		{endlessStart{ridge{3}}, "start", "not finite"},
		{steep{ridge{3}}, "float32", "upper loss in float32: value"},
		{ridge{4}, "derivatives", "lower loss: "},
	} {
		i := slices.IndexFunc(checks, func(k check) bool { return k.name == c.check })
		err := checks[i].err(newSubject(c.model, s))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%T: check %q says %v, want %q", c.model, c.check, err, c.says)
		}
	}
}
