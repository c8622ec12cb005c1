package algo_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
)

// wavy is a lower problem that is not convex: g = Σ cos y_j + y_j²/20, f = ‖y‖²/2 + ‖x‖²/2.
type wavy struct{ q int }

func (o wavy) Dims() (p, q int) { return 1, o.q }

// fill sets the entries of dst.
func fill(dst []float64, entry func(i int) float64) error {
	for i := range dst {
		dst[i] = entry(i)
	}
	return nil
}

func (o wavy) UpperGrad(dx, dy, x, y []float64, _ dsbo.Sample) error {
	copy(dx, x)
	copy(dy, y)
	return nil
}

func (o wavy) LowerGrad(dst, _, y []float64, _ dsbo.Sample) error {
	return fill(dst, func(i int) float64 { return y[i]/10 - math.Sin(y[i]) })
}

func (o wavy) Diagonal(dst, _, y []float64, _ dsbo.Sample) error {
	return fill(dst, func(i int) float64 { return 0.1 - math.Cos(y[i]) })
}

func (o wavy) HVP(dst, x, y, v []float64, s dsbo.Sample) error {
	testkit.OK(o.Diagonal(dst, x, y, s))
	return fill(dst, func(i int) float64 { return dst[i] * v[i] })
}

func (o wavy) JVP(dst, _, _, _ []float64, _ dsbo.Sample) error {
	clear(dst)
	return nil
}

func (o wavy) Values(x, y []float64, _ dsbo.Sample) (f, g float64, err error) {
	for _, v := range y {
		g += math.Cos(v) + v*v/20
	}
	return linalg.Dot(y, y)/2 + linalg.Dot(x, x)/2, g, nil
}

// Where the lower loss has negative curvature the method stands still, and goes down to a minimum
// once it is damped.
func TestDampingLeavesNegativeCurvature(t *testing.T) {
	const q = 5
	for _, damping := range []float64{0, 1} {
		a := ready(t, &algo.NewtonCG{Start: "x0", Damping: damping}, 1, q)
		linalg.Fill(a.Y(), 0.3)
		o, m := wavy{q}, algotest.NewMixers(algotest.Ring(1, 0.5))[0]
		for k := range 25 {
			testkit.OK(a.Step(t.Context(), k, o, m))
		}
		g := make([]float64, q)
		testkit.OK(o.LowerGrad(g, nil, a.Y(), whole))
		if solved := norm(g) < 1e-6 && a.Y()[0] > 2; solved != (damping > 0) {
			t.Errorf("damping %g: y = %v, gradient %v", damping, a.Y(), g)
		}
	}
}

// steep is a lower problem whose Hessian vanishes away from its centre: g = Σ log
// cosh(slope (y_j − centre)) + y_j²/200, and f as wavy's.
type steep struct {
	wavy
	slope, centre float64
}

func (o steep) LowerGrad(dst, _, y []float64, _ dsbo.Sample) error {
	return fill(dst, func(i int) float64 { return o.slope*math.Tanh(o.slope*(y[i]-o.centre)) + y[i]/100 })
}

func (o steep) Diagonal(dst, _, y []float64, _ dsbo.Sample) error {
	return fill(dst, func(i int) float64 { return math.Pow(o.slope/math.Cosh(o.slope*(y[i]-o.centre)), 2) + 0.01 })
}

func (o steep) HVP(dst, x, y, v []float64, s dsbo.Sample) error {
	testkit.OK(o.Diagonal(dst, x, y, s))
	return fill(dst, func(i int) float64 { return dst[i] * v[i] })
}

func (o steep) Values(x, y []float64, s dsbo.Sample) (f, g float64, err error) {
	for _, v := range y {
		g += math.Log(math.Cosh(o.slope*(v-o.centre))) + v*v/200
	}
	f, _, err = o.wavy.Values(x, y, s)
	return f, g, err
}

// TestNewMembersPullGently: a member comes in whose losses pull far and curve little where the
// others' solution is. A full Newton step goes beyond the new solution, to where nothing curves,
// and the next ones from one end to the other; the steps after a change lead there. What they cost
// is what Cost says.
func TestNewMembersPullGently(t *testing.T) {
	const q = 3
	var recorders []*algotest.Recorder
	var oracles []dsbo.Oracle
	for _, o := range []steep{{wavy{q}, 1, 0}, {wavy{q}, 1, 0}, {wavy{q}, 5, 1}} {
		recorders = append(recorders, algotest.NewRecorder(o))
		oracles = append(oracles, recorders[len(recorders)-1])
	}
	m := newMembership(func() algo.Method { return ready(t, &algo.NewtonCG{Start: "x0"}, 1, q) }, oracles,
		[]int{0, 1}, algotest.Average)
	m.run(t, 0, 5)
	m.change(t, []int{0, 1, 2})
	for _, r := range recorders {
		r.Reset()
	}
	m.run(t, 5, 6)
	if got, want := recorders[0].Total, m.methods[0].Cost(5).Calls; got != want {
		t.Errorf("the iteration after a change takes %+v; Cost says %+v", got, want)
	}
	m.run(t, 6, 12)
	sum, g := make([]float64, q), make([]float64, q)
	for i, o := range oracles {
		testkit.OK(o.LowerGrad(g, nil, m.methods[i].Y(), whole))
		linalg.Add(sum, sum, g)
	}
	if size := norm(sum); !(size < 1e-6) {
		t.Errorf("y = %v, where the members' gradients sum to %v; they must to 0", m.methods[0].Y(), sum)
	}
}

// A search weighs the penalty against the data, so the oracle has to tell it apart.
func TestSearchNeedsThePenalty(t *testing.T) {
	a := ready(t, &algo.NewtonCG{}, 1, 2)
	err := a.Step(t.Context(), 0, wavy{2}, algotest.NewMixers(algotest.Ring(1, 0.5))[0])
	if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), `init must be "x0"`) {
		t.Errorf("%v", err)
	}
}

// Exact averages are asked for by name where the exchange has none.
func TestNewtonCGNeedsAverages(t *testing.T) {
	a := ready(t, &algo.NewtonCG{Start: "x0"}, 1, 2)
	if err := a.Step(t.Context(), 0, wavy{2}, struct{ dsbo.Mixer }{}); !errors.Is(err, dsbo.ErrCapability) {
		t.Errorf("%v", err)
	}
}

// An expPenalty grows with x, as the penalties of models do.
type expPenalty struct{ *algotest.Quadratic }

func (o expPenalty) Penalty(dst, x []float64) error {
	return fill(dst, func(int) float64 { return math.Exp(x[0]) / 2 })
}

// A search for the start looks at the same constants wherever x was set before it.
func TestSearchForgetsX(t *testing.T) {
	var found []float64
	for _, x := range []float64{0, 2} {
		m := ready(t, new(algo.NewtonCG), 3, 4)
		linalg.Fill(m.X(), x)
		testkit.OK(m.Step(t.Context(), 0, expPenalty{algotest.NewQuadratics(1, 3, 4, 1)[0]},
			algotest.NewMixers(algotest.Ring(1, 0.5))[0]))
		constant, searched := algo.TraitsOf(m).StartConstant()
		if !searched {
			t.Fatal("there was no search")
		}
		found = append(found, constant)
	}
	if found[0] != found[1] {
		t.Errorf("the search starts at %g where x is 0, and at %g where it is 2", found[0], found[1])
	}
}

// slow is a lower problem whose Newton steps gain a third of the way each: g = Σ (y_j − 3)⁴/4 + e^x
// y_j²/2, and f = Σ (y_j − 2)²/2, which is least where y* = 2, at x = −log 2.
type slow struct{ wavy }

func (o slow) UpperGrad(dx, dy, _, y []float64, _ dsbo.Sample) error {
	clear(dx)
	return fill(dy, func(i int) float64 { return y[i] - 2 })
}

func (o slow) LowerGrad(dst, x, y []float64, _ dsbo.Sample) error {
	return fill(dst, func(i int) float64 { return math.Pow(y[i]-3, 3) + math.Exp(x[0])*y[i] })
}

func (o slow) Penalty(dst, x []float64) error {
	return fill(dst, func(int) float64 { return math.Exp(x[0]) })
}

func (o slow) Diagonal(dst, x, y []float64, _ dsbo.Sample) error {
	return fill(dst, func(i int) float64 { return 3*math.Pow(y[i]-3, 2) + math.Exp(x[0]) })
}

func (o slow) HVP(dst, x, y, v []float64, s dsbo.Sample) error {
	testkit.OK(o.Diagonal(dst, x, y, s))
	return fill(dst, func(i int) float64 { return dst[i] * v[i] })
}

func (o slow) Values(x, y []float64, _ dsbo.Sample) (f, g float64, err error) {
	for _, v := range y {
		f += math.Pow(v-2, 2) / 2
		g += math.Pow(v-3, 4)/4 + math.Exp(x[0])*v*v/2
	}
	return f, g, nil
}

// A search takes the constant that is best where y has settled: on the way to a solution f falls at
// every constant. x waits for that also where it is given. Cost says what that takes.
func TestSearchWaitsForY(t *testing.T) {
	for _, start := range []string{"search", "x0"} {
		m := ready(t, &algo.NewtonCG{Damping: 1, Start: start}, 1, 3)
		r := algotest.NewRecorder(slow{wavy{3}})
		testkit.OK(m.Step(t.Context(), 0, r, algotest.NewMixers(algotest.Ring(1, 0.5))[0]))
		if got, want := r.Total, m.Cost(0).Calls; got != want {
			t.Errorf("%s: iteration 0 takes %+v; Cost says %+v", start, got, want)
		}
		if found, searched := algo.TraitsOf(m).StartConstant(); searched != (start == "search") ||
			searched && !(math.Abs(found+math.Log(2)) < 0.5) {
			t.Errorf("the search starts at %g; f is least at %g", found, -math.Log(2))
		}
		if y := m.Y()[0]; start == "x0" && !(math.Abs(math.Pow(y-3, 3)+y) < 0.05) { // x was 0 while y settled
			t.Errorf("y = %g, which solves nothing", y)
		}
	}
}
