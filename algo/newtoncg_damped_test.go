package algo_test

import (
	"math"
	"slices"
	"testing"

	"dsbo"
	"dsbo/algo"
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

func (o medians) Capabilities() *dsbo.OracleCapabilities {
	return &dsbo.OracleCapabilities{Of: o, Values: o.Values, Penalty: o.Penalty, Diagonal: o.Diagonal}
}

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
	alone(t, 40, a, o)
	_, loss, _ := o.Values(a.X(), a.Y(), whole)
	_, least, _ := o.Values(a.X(), []float64{2, 30}, whole) // with noise |cos|, whose mean is 2/π
	if !(loss < 1.1*least) {
		t.Errorf("after 40 iterations x = %v, y = %v and the lower loss %g; near the solution it is %g",
			a.X(), a.Y(), loss, least)
	}
}

// A rounded problem has the rounding of a program in float32 in its values, gradients and products.
type rounded struct{ penalized }

func round(dst []float64, err error) error {
	for i, v := range dst {
		dst[i] = float64(float32(v))
	}
	return err
}

func (o rounded) Capabilities() *dsbo.OracleCapabilities {
	of := o.penalized.Capabilities()
	of.Of, of.Values = o, o.Values
	return of
}

func (o rounded) UpperGrad(dx, dy, x, y []float64, s dsbo.Sample) error {
	return round(dy, o.penalized.UpperGrad(dx, dy, x, y, s))
}

func (o rounded) LowerGrad(dst, x, y []float64, s dsbo.Sample) error {
	y = slices.Clone(y)
	testkit.OK(round(y, nil))
	return round(dst, o.penalized.LowerGrad(dst, x, y, s))
}

func (o rounded) HVP(dst, x, y, v []float64, s dsbo.Sample) error {
	return round(dst, o.penalized.HVP(dst, x, y, v, s))
}

func (o rounded) Values(x, y []float64, s dsbo.Sample) (f, g float64, err error) {
	values := make([]float64, 2)
	values[0], values[1], err = o.penalized.Values(x, y, s)
	err = round(values, err)
	return values[0], values[1], err
}

// A walled problem has the same lower loss everywhere until y has settled, and then the least one
// where it is asked for first, with y staying, whatever its gradients are.
type walled struct {
	penalized
	asked *int
	at    *float64
}

func (o walled) Capabilities() *dsbo.OracleCapabilities {
	of := o.penalized.Capabilities()
	of.Of, of.Values = o, o.Values
	return of
}

func (o walled) Values(_, y []float64, _ dsbo.Sample) (f, g float64, err error) {
	if *o.asked++; *o.asked%4 == 1 { // of four shares of a step
		*o.at = y[0]
	}
	if *o.asked > 2*4 {
		g = math.Abs(y[0] - *o.at)
	}
	return 0, g, nil
}

// TestXMovesAlone: where no share of a step lowers the lower loss y stays, and x takes a sixteenth
// of its step, the first of which by Adam is lr in each entry.
func TestXMovesAlone(t *testing.T) {
	o := walled{penalized{separable{q: 4, upper: squares(.2), tuned: true,
		lower: func(_ int, y float64) (g, slope, curvature float64) { return 0, y - 1, 1 }}}, new(int), new(float64)}
	a := ready(t, &algo.NewtonCG{Start: "x0", Damping: 1, Lr: "0.8"}, 1, o.q)
	alone(t, 1, a, o)
	if x, y := math.Abs(a.X()[0]), a.Y()[0]; !(math.Abs(x-0.05) < 1e-9) || y != *o.at || y == 0.5 {
		t.Errorf("x moves by %g, and y from %g to %g; want 0.05, and that y stays", x, *o.at, y)
	}
}

// TestRoundingDoesNotHoldX: once y is at its optimum to rounding no share of a step lowers the loss
// that can be seen. x moves on nevertheless, to the least f. The problem is strongly convex: g = ½
// Σ h_j (y_j − 1)² + ½ eˣ ‖y‖² and f = ½ ‖y − ½‖², with h_j = 1, so eˣ = 1.
func TestRoundingDoesNotHoldX(t *testing.T) {
	h := func(j int) float64 { return 1 + float64(j%3)/1e3 }
	o := rounded{penalized{separable{q: 30, upper: squares(.5), tuned: true,
		lower: func(j int, y float64) (g, slope, curvature float64) {
			return h(j) * (y - 1) * (y - 1) / 2, h(j) * (y - 1), h(j)
		}}}}
	a := ready(t, &algo.NewtonCG{Start: "x0", Damping: 1}, 1, o.q)
	a.X()[0] = 3
	testkit.OK(fill(a.Y(), func(i int) float64 { return h(i) / (h(i) + math.Exp(3)) }))
	alone(t, 60, a, o)
	if x := a.X()[0]; !(math.Abs(x) <= .05) {
		t.Errorf("after 60 iterations x = %g, want 0", x)
	}
}

// TestDampedStep: which share of a step is taken, and how the damping goes on, by the losses where
// y stays, after a full step, a quarter and a sixteenth of it.
func TestDampedStep(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		losses           []float64
		mu               float64
		share, mu2, fall float64
	}{
		"full":                         {[]float64{10, 8, 9, 9.5}, 3, 1, 1, 2},
		"full, and the least damping":  {[]float64{10, 8, 9, 9.5}, 2.4, 1, 0.9, 2},
		"a quarter":                    {[]float64{10, 11, 9, 9.5}, 3, 0.25, 3, 1},
		"of equal ones the longer":     {[]float64{10, 11, 9, 9}, 3, 0.25, 3, 1},
		"a sixteenth":                  {[]float64{10, 11, 10.5, 9.5}, 3, 0.0625, 12, 0.5},
		"none":                         {[]float64{10, 11, 10.5, 10.1}, 3, 0, 12, 0},
		"none is a number":             {[]float64{10, nan, nan, nan}, 3, 0, 12, 0},
		"one is no number":             {[]float64{10, nan, 9, nan}, 3, 0.25, 3, 1},
		"all alike":                    {[]float64{10, 10, 10, 10}, 3, 1, 3, 0},
		"a rise of rounding":           {[]float64{1, 1 + 0x1p-23, 2, 2}, 3, 1, 3, 0},
		"a rise beyond rounding":       {[]float64{1, 1 + 0x1p-22, 2, 2}, 3, 0, 12, 0},
		"a fall of rounding":           {[]float64{1, 1 - 0x1p-23, 2, 2}, 3, 1, 3, 0x1p-23},
		"a fall beyond rounding":       {[]float64{1, 1 - 0x1p-22, 2, 2}, 3, 1, 1, 0x1p-22},
		"a rise of rounding, negative": {[]float64{-1, -1 + 0x1p-23, 2, 2}, 3, 1, 3, 0},
		"a quarter by rounding": {[]float64{1, 1 - 0x1p-22, 1 - 0x1p-22 - 0x1p-24, 2}, 3, 1, 3,
			0x1p-22 + 0x1p-24},
	} {
		share, mu, fall := algo.DampedStep(c.losses, c.mu, 0.9)
		if share != c.share || mu != c.mu2 || fall != c.fall {
			t.Errorf("%s: share %g, damping %g, fall %g; want %g, %g and %g", name, share, mu, fall, c.share, c.mu2,
				c.fall)
		}
	}
}

// TestSettling: y has settled after two full steps in a row, none of which lowers the loss by more
// than 3 % of it, or after 30 steps.
func TestSettling(t *testing.T) {
	for _, c := range []struct {
		share, fall, loss float64
		want              bool
	}{
		{1, .29, 10, true}, {1, .31, 10, false}, {1, .29, -10, true}, {1, .31, -10, false}, {.25, 0, 10, false},
		{1, math.NaN(), 10, true}, {1, 0, 0, true},
	} {
		if got := algo.Settled(c.share, c.fall, c.loss); got != c.want {
			t.Errorf("%+v: settled is %t", c, got)
		}
	}
	for _, c := range []struct {
		calm, step int
		want       bool
	}{{0, 1, true}, {1, 30, true}, {2, 2, false}, {0, 31, false}} {
		if got := algo.Settling(c.calm, c.step); got != c.want {
			t.Errorf("%+v: y goes on: %t", c, got)
		}
	}
}

// A falling problem is medians with lower losses of its own: a full step of y lowers the loss of 1
// by the next of falls, and shares of it do not.
type falling struct {
	medians
	falls  []float64
	values int // that were asked for, four a step
}

func (o *falling) Capabilities() *dsbo.OracleCapabilities {
	of := o.medians.Capabilities()
	of.Of, of.Values = o, o.Values
	return of
}

func (o *falling) Values(x, y []float64, s dsbo.Sample) (f, g float64, err error) {
	step, share := o.values/4, o.values%4
	o.values++
	if g = 1; share == 1 && step < len(o.falls) {
		g -= o.falls[step]
	}
	return 0, g, nil
}

// TestSettlesInARow: only steps in a row count, so that one which lowers the loss by more than 3 %
// has y settle anew.
func TestSettlesInARow(t *testing.T) {
	for _, c := range []struct {
		falls []float64
		steps float64
	}{
		{[]float64{.01, .01}, 2}, {[]float64{.5, .01, .01}, 3}, {[]float64{.01, .5, .01, .01}, 4},
		{[]float64{.01, .5, .01, .5, .01, .01}, 6},
	} {
		a := ready(t, &algo.NewtonCG{Start: "x0", Damping: 1}, 1, 2)
		alone(t, 1, a, &falling{medians: medians{a: []float64{1, 2}, t: []float64{3, 5}}, falls: c.falls})
		for _, s := range a.State() {
			if s.Name == "tried" && s.Value[2] != c.steps {
				t.Errorf("falls %v: y has taken %g steps, want %g", c.falls, s.Value[2], c.steps)
			}
		}
	}
}

// TestDampedDiagonal: entries without curvature, which are below 1e-10 of the mean, count as the
// mean entry, and all do where the data have none.
func TestDampedDiagonal(t *testing.T) {
	for name, c := range map[string]struct{ e, dg, want []float64 }{
		"all curved":       {[]float64{1, 2}, []float64{2, -4}, []float64{2, 4}},
		"one is not":       {[]float64{1, 0}, []float64{3, 0}, []float64{2.5, 1}},
		"one hardly is":    {[]float64{1, 0}, []float64{3, 2.1e-10}, []float64{2.5, 1.05e-10}},
		"one is less":      {[]float64{1, 0}, []float64{3, 1.9e-10}, []float64{2.5, 1}},
		"data are not":     {[]float64{1, 3}, []float64{0, 0}, []float64{2, 4}},
		"nothing is":       {[]float64{0, 0}, []float64{0, 0}, []float64{0.5, 0.5}},
		"penalty is alone": {[]float64{1, 3}, []float64{2, 0}, []float64{2, 3}},
	} {
		got := algo.Damped(c.e, c.dg, 0.5)
		for i, want := range c.want {
			if !(math.Abs(got[i]-want) <= 1e-9*want) {
				t.Errorf("%s: damped is %v, want %v", name, got, c.want)
			}
		}
	}
}

// TestAdapt: damping is 1 where the lower problem may not be convex, unless it is given; averages
// by mixing fix the number of products; and the start is searched for where it is not known and
// penalties tell how, or where the user asks for it.
func TestAdapt(t *testing.T) {
	given := func(names ...string) func(string) bool {
		return func(name string) bool { return slices.Contains(names, name) }
	}
	for name, c := range map[string]struct {
		s       algo.Setting
		damping float64
		most    int
		start   string
		gaveUp  bool
	}{
		"convex":     {algo.Setting{Penalties: true, Given: given()}, 0.5, 9, "search", false},
		"not convex": {algo.Setting{Nonconvex: true, Penalties: true, Given: given()}, 1, 9, "search", false},
		"damping given": {algo.Setting{Nonconvex: true, Penalties: true, Given: given("damping")}, 0.5, 9, "search",
			false},
		"start known":     {algo.Setting{StartKnown: true, Penalties: true, Given: given()}, 0.5, 9, "x0", false},
		"no penalties":    {algo.Setting{Given: given()}, 0.5, 9, "x0", true},
		"search is asked": {algo.Setting{Given: given("init")}, 0.5, 9, "search", false},
	} {
		a := ready(t, &algo.NewtonCG{Damping: 0.5, Most: 9}, 1, 2)
		gaveUp := algo.TraitsOf(a).Adapt(c.s)
		if a.Damping != c.damping || a.Most != c.most || a.Start != c.start || gaveUp != c.gaveUp {
			t.Errorf("%s: damping %g, most %d, init %s, gave up %t", name, a.Damping, a.Most, a.Start, gaveUp)
		}
	}
}
