package models_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"dsbo"
	"dsbo/data"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/models/modeltest"
)

// derivs are all answers of an oracle at one point, or the formulas'.
type derivs struct {
	f, g              float64
	fy, gx, gy, hv, j []float64
}

func newDerivs(p, q int) derivs {
	return derivs{gx: make([]float64, p), fy: make([]float64, q), gy: make([]float64, q), hv: make([]float64, q),
		j: make([]float64, p)}
}

// valueOf returns a loss on all examples of e.
func valueOf(l models.Loss, e data.Examples, x, y []float64) float64 {
	return testkit.Get(testkit.Get(models.Differentiate(l, len(x), len(y), e, false)).Value(x, y))
}

// lossesOf returns the losses of the examples of e by the model's Score.
func lossesOf(m models.Model, e data.Examples, x, y []float64) []float64 {
	losses, _ := testkit.Get2(testkit.Get(models.NewScore(m, e, false)).Examples(x, y))
	return losses
}

func derivsAt(t *testing.T, m models.Model, s data.Shard, x, y, v []float64) derivs {
	t.Helper()
	p, q := m.Dims()
	o := testkit.Get(models.NewOracle(m, s, models.Config{}))
	d := newDerivs(p, q)
	fx := normal(rand.New(rand.NewPCG(0, 0)), p, 1)
	all := dsbo.Sample{Set: dsbo.Whole}
	d.f, d.g = testkit.Get2(o.Values(x, y, all))
	testkit.OK(o.UpperGrad(fx, d.fy, x, y, all))
	testkit.OK(testkit.Get(models.Differentiate(m.Lower, p, q, s.Train, false)).Grad(d.gx, nil, x, y))
	testkit.OK(o.LowerGrad(d.gy, x, y, all))
	testkit.OK(o.HVP(d.hv, x, y, v, all))
	testkit.OK(o.JVP(d.j, x, y, v, all))
	for _, a := range fx {
		if a != 0 {
			t.Fatalf("∇_x f = %g where f does not depend on x", a)
		}
	}
	return d
}

// compare wants every part within tol of the largest entry of what is right.
func compare(t *testing.T, got, want derivs, tol float64) {
	t.Helper()
	for _, c := range []struct {
		name      string
		got, want []float64
	}{{"f", []float64{got.f}, []float64{want.f}}, {"g", []float64{got.g}, []float64{want.g}},
		{"∇_y f", got.fy, want.fy},
		{"∇_x g", got.gx, want.gx}, {"∇_y g", got.gy, want.gy}, {"HVP", got.hv, want.hv}, {"JVP", got.j, want.j}} {
		diff, size := 0.0, 0.0
		for i := range c.want {
			diff, size = max(diff, math.Abs(c.got[i]-c.want[i])), max(size, math.Abs(c.want[i]))
		}
		if !(diff <= tol*size) {
			t.Errorf("%s is off by %.1e relative, want %.0e", c.name, diff/size, tol)
		}
	}
}

// scales of y: at 1000 the margins are in the thousands.
var scales = []float64{0, .1, 1, 10, 100, 1000}

// The tolerance of the closed forms. Margins are sums of 20 products in another order, so at a
// scale of 1000, where they are about 5000, they differ by about 5000·2⁻⁵³·√20 = 2e-12, which is
// the relative error of what they are exponents of.
const closedTol = 1e-11

func softplus(a float64) float64 { return max(a, 0) + math.Log1p(math.Exp(-math.Abs(a))) }

func sigmoid(a float64) float64 {
	if a < 0 {
		return math.Exp(a) / (1 + math.Exp(a))
	}
	return 1 / (1 + math.Exp(-a))
}

func row(e data.Examples, i int) []float64 {
	r := make([]float64, e.X.Cols())
	for j := range r {
		r[j] = e.X.At(i, j)
	}
	return r
}

// TestRealLabels: on labels that are any numbers each derivative is right, and the diagonal too.
func TestRealLabels(t *testing.T) {
	modeltest.TestModel(t, models.Logistic{Features: 5, Real: true}, valueShard(30, 21, 5))
}

func TestLogisticClosedForm(t *testing.T) {
	s := signShard(70, 33, 20)
	r := rand.New(rand.NewPCG(8, 9))
	for _, mean := range []bool{false, true} {
		m := models.Logistic{Features: 20, Mean: mean}
		for _, scale := range scales {
			t.Run(fmt.Sprintf("mean=%v/scale=%g", mean, scale), func(t *testing.T) {
				x, y, v := normal(r, 20, .5), normal(r, 20, scale), normal(r, 20, 1)
				compare(t, derivsAt(t, m, s, x, y, v), logisticForm(s, mean, x, y, v), closedTol)
			})
		}
	}
}

// logisticForm is f = R ψ(t a'y) and g = R ψ(t a'y) + ½ Σ e^{x_j} y_j² with ψ(m) = log(1+e^{-m}),
// differentiated by hand.
func logisticForm(s data.Shard, mean bool, x, y, v []float64) derivs {
	n := len(y)
	d := newDerivs(n, n)
	each := func(e data.Examples, do func(a []float64, weight, t, margin float64)) {
		weight := 1.0
		if mean {
			weight = 1 / float64(e.Len())
		}
		for i := range e.Len() {
			a, target := row(e, i), e.Target.At(i, 0)
			do(a, weight, target, target*linalg.Dot(a, y))
		}
	}
	each(s.Val, func(a []float64, w, target, m float64) {
		d.f += w * softplus(-m)
		linalg.Axpy(d.fy, -w*target*sigmoid(-m), a)
	})
	each(s.Train, func(a []float64, w, target, m float64) {
		d.g += w * softplus(-m)
		linalg.Axpy(d.gy, -w*target*sigmoid(-m), a)
		linalg.Axpy(d.hv, w*sigmoid(m)*sigmoid(-m)*linalg.Dot(a, v), a)
	})
	for j, e := range x {
		e = math.Exp(e)
		d.g += e * y[j] * y[j] / 2
		d.gx[j] = e * y[j] * y[j] / 2
		d.gy[j] += e * y[j]
		d.hv[j] += e * v[j]
		d.j[j] = e * y[j] * v[j]
	}
	return d
}

func TestSoftmaxClosedForm(t *testing.T) {
	const d, c = 20, 5
	s := classShard(70, 33, d, c)
	r := rand.New(rand.NewPCG(10, 11))
	m := models.Softmax{Features: d, Classes: c}
	for _, scale := range scales {
		t.Run(fmt.Sprintf("scale=%g", scale), func(t *testing.T) {
			x, y, v := normal(r, d, .5), normal(r, c*d, scale), normal(r, c*d, 1)
			compare(t, derivsAt(t, m, s, x, y, v), softmaxForm(s, c, x, y, v), closedTol)
		})
	}
}

// softmaxForm is f = mean L(Y a, t) and g = mean L(Y a, t) + 1/(cd) Σ_kj e^{x_j} Y_kj²,
// differentiated by hand.
func softmaxForm(s data.Shard, c int, x, y, v []float64) derivs {
	n, q := len(x), len(y)
	d := newDerivs(n, q)
	cross := func(e data.Examples, value *float64, grad, hv []float64) {
		w := 1 / float64(e.Len())
		for i := range e.Len() {
			a := row(e, i)
			prob, loss := probabilities(y, a, c, e.Target, i)
			*value += w * loss
			u, mean := make([]float64, c), 0.0
			for k := range c {
				u[k] = linalg.Dot(v[k*n:(k+1)*n], a)
				mean += prob[k] * u[k]
			}
			for k := range c {
				linalg.Axpy(grad[k*n:(k+1)*n], w*(prob[k]-e.Target.At(i, k)), a)
				if hv != nil {
					linalg.Axpy(hv[k*n:(k+1)*n], w*prob[k]*(u[k]-mean), a)
				}
			}
		}
	}
	cross(s.Val, &d.f, d.fy, nil)
	cross(s.Train, &d.g, d.gy, d.hv)
	for i := range y {
		e := math.Exp(x[i%n]) / float64(q)
		d.g += e * y[i] * y[i]
		d.gx[i%n] += e * y[i] * y[i]
		d.gy[i] += 2 * e * y[i]
		d.hv[i] += 2 * e * v[i]
		d.j[i%n] += 2 * e * y[i] * v[i]
	}
	return d
}

// probabilities returns the softmax of the logits of row a, and the cross-entropy of its target.
func probabilities(y, a []float64, c int, target interface{ At(i, j int) float64 },
	i int) (prob []float64, loss float64) {
	prob = make([]float64, c)
	top, own := math.Inf(-1), 0.0
	for k := range prob {
		prob[k] = linalg.Dot(y[k*len(a):(k+1)*len(a)], a)
		top = max(top, prob[k])
		own += target.At(i, k) * prob[k]
	}
	sum := 0.0
	for k := range prob {
		prob[k] = math.Exp(prob[k] - top)
		sum += prob[k]
	}
	linalg.Scale(prob, 1/sum, prob)
	return prob, math.Log(sum) + (top - own)
}
