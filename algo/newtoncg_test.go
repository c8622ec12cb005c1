package algo_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
)

// A separable problem is of one x, with losses that are sums over the entries of y. lower has what
// an entry adds to g, with its first two derivatives, and upper what it adds to f.
type separable struct {
	q     int
	lower func(j int, y float64) (g, slope, curvature float64)
	upper func(y float64) (f, slope float64)
	tuned bool // g has the penalty ½ eˣ ‖y‖² too
}

func (o separable) Dims() (p, q int) { return 1, o.q }

func (o separable) Capabilities() *dsbo.OracleCapabilities {
	return &dsbo.OracleCapabilities{Of: o, Values: o.Values, Diagonal: o.Diagonal}
}

// fill sets the entries of dst.
func fill(dst []float64, entry func(i int) float64) error {
	for i := range dst {
		dst[i] = entry(i)
	}
	return nil
}

func (o separable) UpperGrad(dx, dy, _, y []float64, _ dsbo.Sample) error {
	clear(dx)
	return fill(dy, func(i int) float64 { _, d := o.upper(y[i]); return d })
}

func (o separable) LowerGrad(dst, x, y []float64, _ dsbo.Sample) error {
	return fill(dst, func(i int) float64 { _, d, _ := o.lower(i, y[i]); return d + o.penalty(x)*y[i] })
}

// penalty returns the second derivative of an entry's penalty.
func (o separable) penalty(x []float64) float64 {
	if !o.tuned {
		return 0
	}
	return math.Exp(x[0])
}

func (o separable) Diagonal(dst, x, y []float64, _ dsbo.Sample) error {
	return fill(dst, func(i int) float64 { _, _, c := o.lower(i, y[i]); return c + o.penalty(x) })
}

func (o separable) HVP(dst, x, y, v []float64, s dsbo.Sample) error {
	testkit.OK(o.Diagonal(dst, x, y, s))
	return fill(dst, func(i int) float64 { return dst[i] * v[i] })
}

func (o separable) JVP(dst, x, y, v []float64, _ dsbo.Sample) error {
	dst[0] = o.penalty(x) * linalg.Dot(y, v)
	return nil
}

func (o separable) Values(x, y []float64, _ dsbo.Sample) (f, g float64, err error) {
	for i, v := range y {
		upper, _ := o.upper(v)
		lower, _, _ := o.lower(i, v)
		f, g = f+upper, g+lower+o.penalty(x)*v*v/2
	}
	return f, g, nil
}

// A penalized problem gives its penalty.
type penalized struct{ separable }

func (o penalized) Capabilities() *dsbo.OracleCapabilities {
	of := o.separable.Capabilities()
	of.Of = o
	of.Penalty = func(dst, x []float64) error { return fill(dst, func(int) float64 { return o.penalty(x) }) }
	return of
}

// squares is f = ½ Σ (y_j − centre)².
func squares(centre float64) func(y float64) (f, slope float64) {
	return func(y float64) (f, slope float64) { return (y - centre) * (y - centre) / 2, y - centre }
}

// wavy is a lower problem that is not convex: g = Σ cos y_j + y_j²/20, f = ‖y‖²/2.
func wavy(q int) separable {
	return separable{q: q, upper: squares(0), lower: func(_ int, y float64) (g, slope, curvature float64) {
		return math.Cos(y) + y*y/20, y/10 - math.Sin(y), 0.1 - math.Cos(y)
	}}
}

// With negative curvature of the lower loss the method does not move, and descends to a minimum
// once it is damped.
func TestDampingLeavesNegativeCurvature(t *testing.T) {
	const q = 5
	for _, damping := range []float64{0, 1} {
		a := ready(t, &algo.NewtonCG{Start: "x0", Damping: damping}, 1, q)
		linalg.Fill(a.Y(), 0.3)
		o := wavy(q)
		alone(t, 25, a, o)
		g := make([]float64, q)
		testkit.OK(o.LowerGrad(g, nil, a.Y(), whole))
		if solved := norm(g) < 1e-6 && a.Y()[0] > 2; solved != (damping > 0) {
			t.Errorf("damping %g: y = %v, gradient %v", damping, a.Y(), g)
		}
	}
}

// steep is a lower problem whose Hessian vanishes away from its centre: g = Σ log
// cosh(slope (y_j − centre)) + y_j²/200, and f as wavy's.
func steep(q int, slope, centre float64) separable {
	o := wavy(q)
	o.lower = func(_ int, y float64) (g, d, curvature float64) {
		at := slope * (y - centre)
		return math.Log(math.Cosh(at)) + y*y/200, slope*math.Tanh(at) + y/100, math.Pow(slope/math.Cosh(at), 2) + 0.01
	}
	return o
}

// TestNewMembersPullGently: a member comes in whose losses pull far and curve little where the
// others' solution is. A full Newton step goes beyond the new solution, to where nothing curves,
// and the next ones from one end to the other; the steps after a change lead there. What they cost
// is what Cost says.
func TestNewMembersPullGently(t *testing.T) {
	const q = 3
	var recorders []*algotest.Recorder
	var oracles []dsbo.Oracle
	for _, o := range []separable{steep(q, 1, 0), steep(q, 1, 0), steep(q, 5, 1)} {
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

// A flat problem has constant diagonals of the penalty and of all.
type flat struct {
	medians
	penalty, all float64
}

func (o flat) Capabilities() *dsbo.OracleCapabilities {
	constant := func(dst []float64, v float64) error { linalg.Fill(dst, v); return nil }
	return &dsbo.OracleCapabilities{Of: o,
		Penalty:  func(dst, _ []float64) error { return constant(dst, o.penalty) },
		Diagonal: func(dst, _, _ []float64, _ dsbo.Sample) error { return constant(dst, o.all) }}
}

// A search weighs the penalty against the data, so the oracle has to tell it apart, and neither may
// be 0.
func TestSearchNeedsThePenalty(t *testing.T) {
	for _, o := range []dsbo.Oracle{wavy(2), flat{penalty: 1, all: 1}, flat{all: 1}, flat{}} {
		a := ready(t, &algo.NewtonCG{}, 1, 2)
		err := a.Step(t.Context(), 0, o, algotest.NewMixers(algotest.Ring(1, 0.5))[0])
		if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), `init must be "x0"`) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// mixOnly is an exchange of Mix alone.
type mixOnly struct{ dsbo.Mixer }

func (mixOnly) Capabilities() *dsbo.MixerCapabilities { return nil }

// Exact averages are asked for by name where the exchange has none.
func TestNewtonCGNeedsAverages(t *testing.T) {
	a := ready(t, &algo.NewtonCG{Start: "x0"}, 1, 2)
	if err := a.Step(t.Context(), 0, wavy(2), mixOnly{}); !errors.Is(err, dsbo.ErrCapability) {
		t.Errorf("%v", err)
	}
}

// An expPenalty grows with x, as the penalties of models do.
type expPenalty struct{ *algotest.Quadratic }

func (o expPenalty) Capabilities() *dsbo.OracleCapabilities {
	of := *o.Quadratic.Capabilities()
	of.Of = o
	of.Penalty = func(dst, x []float64) error { return fill(dst, func(int) float64 { return math.Exp(x[0]) / 2 }) }
	return &of
}

// A search for the start looks at the same constants wherever x was set before it.
func TestSearchForgetsX(t *testing.T) {
	var found []float64
	for _, x := range []float64{0, 2} {
		m := ready(t, new(algo.NewtonCG), 3, 4)
		linalg.Fill(m.X(), x)
		alone(t, 1, m, expPenalty{algotest.NewQuadratics(1, 3, 4, 1)[0]})
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
var slow = penalized{separable{q: 3, upper: squares(2), tuned: true,
	lower: func(_ int, y float64) (g, slope, curvature float64) {
		return math.Pow(y-3, 4) / 4, math.Pow(y-3, 3), 3 * math.Pow(y-3, 2)
	}}}

// A search takes the constant that is best where y has settled: on the way to a solution f falls at
// every constant. x waits for that also where it is given. Cost says what that takes.
func TestSearchWaitsForY(t *testing.T) {
	for _, start := range []string{"search", "x0"} {
		m := ready(t, &algo.NewtonCG{Damping: 1, Start: start}, 1, 3)
		r := algotest.NewRecorder(slow)
		alone(t, 1, m, r)
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

// countsOf returns what an iteration costs, by kind.
func countsOf(c algo.Cost) []int {
	return []int{c.Averages, c.AverageFloats, c.Floats, c.UpperGrad, c.LowerGrad, c.HVP, c.JVP, c.Diagonal, c.Value}
}

// TestForecast: whatever newtoncg finds, an iteration costs no less than its least forecast and no
// more than the most; any other method costs its Cost.
func TestForecast(t *testing.T) {
	const iterations = 5
	for name, m := range map[string]*algo.NewtonCG{
		"given": {Start: "x0"}, "search": {Start: "search"}, "damped": {Start: "x0", Damping: 1},
		"damped search": {Start: "search", Damping: 1}, "diagonals": {Start: "x0", DgEvery: 2},
	} {
		m := with(m)
		testkit.OK(m.Init(3, 4, iterations))
		o, mixer := algotest.NewQuadratics(1, 3, 4, 1)[0], algotest.NewMixers(algotest.Ring(1, .5))[0]
		ahead := algo.Clone(m)
		testkit.OK(ahead.Init(3, 4, iterations))
		for k := range iterations {
			least, most := algo.ForecastOf(ahead, k)
			testkit.OK(m.Step(t.Context(), k, dsbo.Oracle(o), mixer))
			cost := countsOf(m.Cost(k))
			for i, n := range cost {
				if n < countsOf(least)[i] || n > countsOf(most)[i] {
					t.Errorf("%s, iteration %d: %v; the forecast is %v to %v", name, k, cost, countsOf(least),
						countsOf(most))
					break
				}
			}
		}
	}
	m := testkit.Get(algo.New("dsoba"))
	testkit.OK(m.Init(3, 4, iterations))
	if least, most := algo.ForecastOf(m, 1); least != m.Cost(1) || most != m.Cost(1) {
		t.Errorf("dsoba costs %+v to %+v", least, most)
	}
}

// with returns newtoncg with the parameters that another one has set.
func with(of *algo.NewtonCG) algo.Method {
	m := testkit.Get(algo.New("newtoncg"))
	algo.Inherit(m, of)
	return m
}

// TestParametersSet: a parameter is set where the method has one of that name and type; schedules
// that are left open follow the curvature, and others stay.
func TestParametersSet(t *testing.T) {
	m := &algo.MADSBO{Beta: "0.5"}
	for name, c := range map[string]struct {
		value any
		want  bool
	}{"T": {3, true}, "alpha": {algo.Schedule("1"), true}, "N": {"3", false}, "rho": {3, false}} {
		if got := algo.Set(m, name, c.value); got != c.want {
			t.Errorf("%s = %v: set %t", name, c.value, got)
		}
	}
	if algo.SetAuto(m); m.T != 3 || m.Alpha != "1" || m.Beta != "0.5" || m.Gamma != algo.Auto {
		t.Errorf("%+v", m)
	}
	if algo.Held(testkit.Get(algo.New("dsoba"))) != nil || algo.Held(testkit.Get(algo.New("adamcg"))) == nil {
		t.Error("adamcg can hold x, and dsoba cannot")
	}
	names := algo.NamesWhere(func(of algo.Traits) bool { return of.OneAgent })
	if !slices.Contains(names, "soba") || slices.Contains(names, "dsoba") {
		t.Errorf("for one agent: %v", names)
	}
	of := algo.Traits{}
	if of.LongestVector(2, 3) != 40 {
		t.Errorf("vectors of %d numbers", of.LongestVector(2, 3))
	}
}
