package algo_test

import (
	"slices"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/internal/testkit"
)

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
