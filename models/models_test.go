package models_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/models"
)

func TestMLPDims(t *testing.T) {
	for _, c := range []struct {
		m    models.MLP
		p, q int
	}{
		{models.MLP{Features: 784, Outputs: 10}, 786, 784*32 + 32 + 32*10 + 10},
		{models.MLP{Features: 784, Outputs: 10, Penalties: models.PerLayer{}}, 2, 784*32 + 32 + 32*10 + 10},
		{models.MLP{Features: 3, Outputs: 2, Hidden: []int{}}, 4, 3*2 + 2},
		{models.MLP{Features: 3, Outputs: 2, Hidden: []int{5, 7}}, 6, 3*5 + 5 + 5*7 + 7 + 7*2 + 2},
	} {
		if p, q := c.m.Dims(); p != c.p || q != c.q {
			t.Errorf("%+v: p=%d, q=%d, want %d and %d", c.m, p, q, c.p, c.q)
		}
	}
}

// TestMLPOfOneLayerIsSoftmax: without hidden layers, and with biases 0, the network is the linear
// classifier; its penalties have another weight, 1/q for a q that counts the biases.
func TestMLPOfOneLayerIsSoftmax(t *testing.T) {
	const d, c = 6, 3
	s := classShard(20, 15, d, c)
	linear := testkit.Get(models.NewOracle(models.Softmax{Features: d, Classes: c}, s, models.Config{}))
	mlp := testkit.Get(models.NewOracle(models.MLP{Features: d, Outputs: c, Hidden: []int{}}, s, models.Config{}))
	r := rand.New(rand.NewPCG(3, 3))
	x, w := normal(r, d, 1), normal(r, c*d, 1)
	xb, wb := append(x, 2), append(w, 0, 0, 0)
	f, g := testkit.Get2(linear.Values(x[:d], w[:c*d], dsbo.Sample{}))
	fb, gb := testkit.Get2(mlp.Values(xb, wb, dsbo.Sample{}))
	if !(math.Abs(fb-f) <= 1e-14*f) {
		t.Errorf("upper loss %g, that of softmax is %g", fb, f)
	}
	penalty := 0.0
	for i, v := range w {
		penalty += math.Exp(x[i%d]) * v * v
	}
	train := g - penalty/(c*d)
	if want := train + penalty/(c*d+c); !(math.Abs(gb-want) <= 1e-13*want) {
		t.Errorf("lower loss %g, want %g", gb, want)
	}
}

// TestMLPPenalties finds each entry's group: with one entry of y alone, ∂g/∂x is e^x y²/q in its
// group and 0 in the others.
func TestMLPPenalties(t *testing.T) {
	m := models.MLP{Features: 3, Outputs: 2, Hidden: []int{2}}
	_, q := m.Dims() // W_0: 0-5, b_0: 6-7, W_1: 8-11, b_1: 12-13
	d := testkit.Get(models.Differentiate(m.Lower, 5, q, classShard(8, 8, 3, 2).Train, false))
	x := []float64{.1, .2, .3, .4, .5}
	for at, group := range map[int]int{0: 0, 1: 1, 2: 2, 3: 0, 5: 2, 6: 3, 7: 3, 8: 4, 11: 4, 12: 4, 13: 4} {
		y, dx, want := make([]float64, q), make([]float64, 5), make([]float64, 5)
		y[at] = 2
		want[group] = math.Exp(x[group]) * 4 / float64(q)
		testkit.OK(d.Grad(dx, nil, x, y))
		if linalg.Dist2(dx, want) > 1e-30 {
			t.Errorf("entry %d of y: ∂g/∂x = %v, want %v", at, dx, want)
		}
	}
}

// TestMLPLearns: a network that starts at Start separates two rings, which no linear
// classifier does.
func TestMLPLearns(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	const rows = 120
	var pts []float64
	var labels []uint8
	for i := range rows {
		angle, radius := 2*math.Pi*r.Float64(), 1+2*float64(i%2)
		pts = append(pts, radius*math.Cos(angle), radius*math.Sin(angle))
		labels = append(labels, uint8(i%2))
	}
	e := data.Examples{X: table(rows, 2, pts), Target: testkit.Get(ad.LabelTable(labels, 2))}
	for _, relu := range []bool{false, true} {
		m := models.MLP{Features: 2, Outputs: 2, Hidden: []int{12}, ReLU: relu}
		p, q := m.Dims()
		x, y, g := make([]float64, p), make([]float64, q), make([]float64, q)
		linalg.Fill(x, -6)
		o := testkit.Get(models.NewOracle(m, data.Shard{Train: e, Val: e}, models.Config{}))
		m.Start(y)
		for range 400 {
			testkit.OK(o.LowerGrad(g, x, y, dsbo.Sample{Set: dsbo.Whole}))
			linalg.Axpy(y, -.5, g)
		}
		score := testkit.Get(models.NewScore(m, e, false))
		if _, right := testkit.Get2(score.Sums(x, y)); right < .99*rows {
			t.Errorf("relu=%v: %g of %d right after 400 steps, want 99 %%", relu, right, rows)
		}
	}
}

// TestCompositionalLowerSolution: y*(x) is the inner map.
func TestCompositionalLowerSolution(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	a, b := normal(r, 4*2, 1), normal(r, 4, 1)
	o := testkit.Get(models.NewOracle(sineBowl(2, a, b, make([]float64, 4), b, b), data.Shard{},
		models.Config{}))
	x, y, g := []float64{.3, -.7}, make([]float64, 4), make([]float64, 4)
	for k := range y {
		y[k] = math.Sin(linalg.Dot(a[2*k:2*k+2], x)) + b[k]
	}
	testkit.OK(o.LowerGrad(g, x, y, dsbo.Sample{}))
	if linalg.Norm(g) > 1e-15 {
		t.Errorf("∇_y g = %v at the inner map's value", g)
	}
}

// TestRegister: the name of a model of another module must be free; TestSquares uses one.
func TestRegister(t *testing.T) {
	defer func() {
		if got := recover(); got != `models: a model named "softmax" is registered already` {
			t.Errorf("a name that is taken: %v", got)
		}
	}()
	models.Register("softmax", true, nil)
}

func TestByNameErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		size models.Size
		want string
	}{
		{"svm", models.Size{Classes: 10}, "a model must be one of " + strings.Join(models.Names(), ", ") +
			`; it is "svm"`},
		{"softmax", models.Size{}, `model "softmax" needs at least 2 classes; the task has 0`},
		{"logistic", models.Size{Classes: 10}, `model "logistic" needs targets +1 and -1; the task has 10 classes`},
	} {
		if _, err := models.ByName(c.name, c.size); !errors.Is(err, dsbo.ErrConfig) || err.Error() != c.want {
			t.Errorf("%s: error is %v, want %q", c.name, err, c.want)
		}
	}
}

// sineBowl returns the compositional problem of one agent with
//
//	G(x) = sin(Ax) + b      F(y) = ½ Σ_k d_k (y_k − t_k)² + log(1 + e^{w'y})
//
// a q×p (row-major), b, d, t and w of length q. It is smooth and not convex in x.
func sineBowl(p int, a, b, d, t, w []float64) models.Compositional {
	q := len(b)
	return models.Compositional{P: p, Q: q,
		Inner: func(x *ad.Node, _ models.Batch) *ad.Node {
			return ad.Add(ad.Sin(ad.MatVec(ad.NewConst(x, "A", q, p, a), x, false)), ad.NewConst(x, "b", q, 0, b))
		},
		Outer: func(y *ad.Node, _ models.Batch) *ad.Node {
			off := ad.Sub(y, ad.NewConst(y, "t", q, 0, t))
			bowl := ad.Scale(.5, ad.Dot(ad.NewConst(y, "d", q, 0, d), ad.Square(off)))
			return ad.Add(bowl, ad.Softplus(ad.Dot(ad.NewConst(y, "w", q, 0, w), y)))
		}}
}
