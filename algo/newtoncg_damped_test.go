package algo_test

import (
	"math"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/internal/testkit"
)

// medians is median regression with an intercept that has no penalty: with residuals r = t − y₀a −
// y₁, g = mean |r| + ½ eˣ y₀², whose Hessian is diag(eˣ, 0), and f = ½ mean r² .
type medians struct{ a, t []float64 }

func (o medians) Dims() (p, q int) { return 1, 2 }

// sums returns the means of v, a v and a measure of r, for v a function of r.
func (o medians) means(y []float64, v, measure func(r float64) float64) (dy [2]float64, mean float64) {
	n := float64(len(o.a))
	for i, a := range o.a {
		r := o.t[i] - y[0]*a - y[1]
		dy[0] -= v(r) * a / n
		dy[1] -= v(r) / n
		mean += measure(r) / n
	}
	return dy, mean
}

func sign(r float64) float64 { return math.Copysign(1, r) }

func (o medians) UpperGrad(dx, dy, _, y []float64, _ dsbo.Sample) error {
	clear(dx)
	d, _ := o.means(y, func(r float64) float64 { return r }, math.Abs)
	copy(dy, d[:])
	return nil
}

func (o medians) LowerGrad(dst, x, y []float64, _ dsbo.Sample) error {
	d, _ := o.means(y, sign, math.Abs)
	dst[0], dst[1] = d[0]+math.Exp(x[0])*y[0], d[1]
	return nil
}

func (o medians) Penalty(dst, x []float64) error {
	dst[0], dst[1] = math.Exp(x[0]), 0
	return nil
}

func (o medians) Diagonal(dst, x, _ []float64, _ dsbo.Sample) error { return o.Penalty(dst, x) }

func (o medians) HVP(dst, x, _, v []float64, _ dsbo.Sample) error {
	dst[0], dst[1] = math.Exp(x[0])*v[0], 0
	return nil
}

func (o medians) JVP(dst, x, y, v []float64, _ dsbo.Sample) error {
	dst[0] = math.Exp(x[0]) * y[0] * v[0]
	return nil
}

func (o medians) Values(x, y []float64, _ dsbo.Sample) (f, g float64, err error) {
	_, g = o.means(y, sign, math.Abs)
	_, f = o.means(y, sign, func(r float64) float64 { return r * r / 2 })
	return f, g + math.Exp(x[0])*y[0]*y[0]/2, nil
}

// TestSingularHessian: where the Hessian of the lower loss is singular, damped steps stay finite,
// and come near to a solution.
func TestSingularHessian(t *testing.T) {
	var o medians
	for i := range 51 {
		a := math.Sin(float64(i))
		o.a, o.t = append(o.a, a), append(o.t, 2*a+30+math.Cos(float64(7*i)))
	}
	a := ready(t, &algo.NewtonCG{Start: "x0", Damping: 1}, 1, 2)
	a.X()[0] = -5
	m := algotest.NewMixers(algotest.Ring(1, 0.5))[0]
	for k := range 40 {
		testkit.OK(a.Step(t.Context(), k, o, m))
	}
	_, loss, _ := o.Values(a.X(), a.Y(), whole)
	_, least, _ := o.Values(a.X(), []float64{2, 30}, whole) // with noise |cos|, whose mean is 2/π
	if !(loss < 1.1*least) {
		t.Errorf("after 40 iterations x = %v, y = %v and the lower loss %g; near the solution it is %g",
			a.X(), a.Y(), loss, least)
	}
}

// rounded is a strongly convex problem whose values and gradients have the rounding of a program in
// float32: g = ½ Σ h_j (y_j − 1)² + ½ eˣ ‖y‖² and f = ½ ‖y − ½‖².
type rounded struct{ h []float64 }

func round(v float64) float64 { return float64(float32(v)) }

func (o rounded) Dims() (p, q int) { return 1, len(o.h) }

func (o rounded) UpperGrad(dx, dy, _, y []float64, _ dsbo.Sample) error {
	clear(dx)
	return fill(dy, func(i int) float64 { return round(y[i] - .5) })
}

func (o rounded) LowerGrad(dst, x, y []float64, _ dsbo.Sample) error {
	return fill(dst, func(i int) float64 { return round(o.h[i]*(round(y[i])-1) + math.Exp(x[0])*round(y[i])) })
}

func (o rounded) Penalty(dst, x []float64) error {
	return fill(dst, func(int) float64 { return math.Exp(x[0]) })
}

func (o rounded) Diagonal(dst, x, _ []float64, _ dsbo.Sample) error {
	return fill(dst, func(i int) float64 { return o.h[i] + math.Exp(x[0]) })
}

func (o rounded) HVP(dst, x, _, v []float64, _ dsbo.Sample) error {
	return fill(dst, func(i int) float64 { return round((o.h[i] + math.Exp(x[0])) * v[i]) })
}

func (o rounded) JVP(dst, x, y, v []float64, _ dsbo.Sample) error {
	dst[0] = 0
	for i := range y {
		dst[0] += math.Exp(x[0]) * y[i] * v[i]
	}
	return nil
}

func (o rounded) Values(x, y []float64, _ dsbo.Sample) (f, g float64, err error) {
	for i := range y {
		f += (y[i] - .5) * (y[i] - .5) / 2
		g += (o.h[i]*(y[i]-1)*(y[i]-1) + math.Exp(x[0])*y[i]*y[i]) / 2
	}
	return round(f), round(g), nil
}

// TestRoundingDoesNotHoldX: once y is at its optimum to rounding no share of a step lowers the
// loss that can be seen. x goes on all the same, to where f is least: h_j = 1, so eˣ = 1.
func TestRoundingDoesNotHoldX(t *testing.T) {
	o := rounded{make([]float64, 30)}
	for i := range o.h {
		o.h[i] = 1 + float64(i%3)/1e3
	}
	a := ready(t, &algo.NewtonCG{Start: "x0", Damping: 1}, 1, len(o.h))
	a.X()[0] = 3
	testkit.OK(fill(a.Y(), func(i int) float64 { return o.h[i] / (o.h[i] + math.Exp(3)) }))
	m := algotest.NewMixers(algotest.Ring(1, 0.5))[0]
	for k := range 60 {
		testkit.OK(a.Step(t.Context(), k, o, m))
	}
	if x := a.X()[0]; math.Abs(x) > .05 {
		t.Errorf("after 60 iterations x = %g, want 0", x)
	}
}
