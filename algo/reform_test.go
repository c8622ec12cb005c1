package algo_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/network"
)

// trackers are the methods' trackers and what they track, by their names in the state; "" is 0.
var trackers = map[string][]struct {
	object string // parameters
	sums   [][2]string
}{
	"madsbo_tuned": {{`{"T":2,"N":3,"warm_z":true,"track_y":true,"mom_y":0.5}`,
		[][2]string{{"y_tracker", "y_gradient"}, {"z_tracker", "z_residual"}}}},
	"mdbo":  {{`{"lg":5}`, [][2]string{{"u_tracker", "u"}, {"v_tracker", "v"}}}},
	"vrdbo": {{`{"lg":5}`, [][2]string{{"u_tracker", "u"}, {"v_tracker", "v"}}}},
	"dbifo": {{`{}`, [][2]string{{"tracker_x", "momentum_x"}, {"tracker_y", "momentum_y"},
		{"tracker_z", "momentum_z"}}}},
	"adasdbo": {{`{"track":true}`, [][2]string{{"tracker_x", "last_x"}, {"tracker_y", "last_y"},
		{"tracker_z", "last_z"}}}},
	"fab": {{`{}`, [][2]string{{"tracker_x", "last_x"}, {"tracker_y", "last_y"}, {"tracker_z", "last_z"}}}},
	"c2dfb": {{`{"T":2}`, [][2]string{{"x_tracker", "u"}, {"y_tracker", "y_gradient"},
		{"z_tracker", "z_gradient"}}}},
	"dascgd":   {{`{}`, [][2]string{{"y", "inner"}, {"z", "upper_y"}}}},
	"pdsbo_al": {{`{}`, [][2]string{{"mu", ""}, {"l", ""}}}},
	"sparkle": {
		{`{"strategy":{"x":"gt","y":"gt","z":"gt"}}`,
			[][2]string{{"x_memory", "x_last"}, {"y_memory", "y_last"}, {"z_memory", "z_last"}}},
		{`{"strategy":{"x":"ed","y":"ed","z":"ed"}}`,
			[][2]string{{"x_memory", ""}, {"y_memory", ""}, {"z_memory", ""}}},
	},
}

// TestSumsHoldAfterAChange: the trackers of those who are there sum to what they track, before a
// change, at once after some left and others came, and after iterations. The sums of a handful of
// terms of size s are right to a few 1e-16 s each, and iterations add as much.
func TestSumsHoldAfterAChange(t *testing.T) {
	for name, cases := range trackers {
		for _, c := range cases {
			m := newMembership(func() algo.Method { return ready(t, made(t, name, c.object), 3, 4) },
				oraclesOf(algotest.NewQuadratics(6, 3, 4, 5)), []int{0, 1, 2, 3, 4}, metropolis)
			m.run(t, 0, 5)
			for k, present := range [][]int{nil, {0, 2, 3, 4}, {0, 2, 4, 5}, {0, 1, 2, 3, 4, 5}} {
				if present != nil {
					m.change(t, present)
				}
				for at := range 2 {
					for _, sums := range c.sums {
						got, want := m.sum(sums[0]), m.sum(sums[1])
						if want == nil {
							want = make([]float64, len(got))
						}
						if d := math.Sqrt(linalg.Dist2(got, want)); d > 1e-13*(1+linalg.Norm(want)) {
							t.Errorf("%s %s, change %d, %d iterations later: the sum of %s is %v; that of %s is %v",
								name, c.object, k, 3*at, sums[0], got, sums[1], want)
						}
					}
					if at == 0 {
						m.run(t, 5+3*k, 8+3*k)
					}
				}
			}
		}
	}
}

// exactMethods converge to the solution, at which the gradient of Φ is 0: with parameters and
// iterations in which they do here.
var exactMethods = []struct {
	name, object string
	K            int
}{
	{"newtoncg", `{"init":"x0","mem":4,"lr":"0.3*(1-k/K)","clip":[-50,50]}`, 300},
	{"adamcg", `{"T":5,"ly":"0.03*(1-k/K)","lr":"0.03*(1-k/K)","mu":1e-9,"clip":[-50,50]}`, 1200},
	{"sparkle", `{"alpha":0.05,"beta":0.15,"gamma":0.15}`, 1500},
	{"sparkle", `{"alpha":0.05,"beta":0.15,"gamma":0.15,"strategy":{"x":"gt","y":"gt","z":"gt"}}`, 1500},
	{"sparkle", `{"alpha":0.05,"beta":0.15,"gamma":0.15,"strategy":{"x":"extra","y":"extra","z":"extra"}}`, 1500},
	{"fednest", `{"T":6,"N":40,"alpha":0.1,"beta":0.2,"lg":4}`, 400},
}

// TestTheOptimumIsThatOfThosePresent: after agents left, one came and one returned, methods that
// converge exactly converge to the solution of the problem of those who are there, which is far
// from the problem of all.
func TestTheOptimumIsThatOfThosePresent(t *testing.T) {
	const p, q = 3, 4
	qs := algotest.NewQuadratics(6, p, q, 5)
	for _, c := range exactMethods {
		t.Run(c.name, func(t *testing.T) {
			matrix := func(n int) [][]float64 { return lazy(metropolis(n)) }
			if c.name == "fednest" {
				matrix = algotest.Average
			}
			m := newMembership(func() algo.Method {
				m := made(t, c.name, c.object)
				testkit.OK(m.Init(p, q, c.K))
				return m
			}, oraclesOf(qs), []int{0, 1, 2, 3, 4}, matrix)
			m.run(t, 0, 40)
			m.change(t, []int{0, 2, 4})
			m.run(t, 40, 90)
			m.change(t, []int{0, 2, 3, 5})
			m.run(t, 90, c.K)
			there := algotest.Solve([]*algotest.Quadratic{qs[0], qs[2], qs[3], qs[5]})
			x := m.sum("x")
			linalg.Scale(x, 1.0/4, x)
			gradient := there.Gradient(x)
			if norm := linalg.Norm(gradient); !(norm <= 1e-6) {
				t.Errorf("‖∇Φ‖ of those present is %.3g at x̄; it must be 1e-6 at most", norm)
			}
			if all := algotest.Solve(qs); linalg.Dist2(all.X, there.X) < 1e-4 {
				t.Fatalf("the solution of all, %v, must be another than that of those present", all.X)
			}
		})
	}
}

// lazy is (I + W)/2.
func lazy(w [][]float64) [][]float64 {
	for i, row := range w {
		for j := range row {
			row[j] /= 2
		}
		row[i] += 0.5
	}
	return w
}

// TestTakeOver: what comes in has to be of the method's own state.
func TestTakeOver(t *testing.T) {
	m := ready(t, made(t, "madsbo", "{}"), 3, 4).(algo.Reformer)
	for _, bad := range [][]dsbo.Named{{{Name: "w", Value: make([]float64, 3)}},
		{{Name: "x", Value: make([]float64, 4)}}} {
		if err := algo.TakeOver(m, bad); err == nil {
			t.Errorf("%v is taken over", bad)
		}
	}
	if names := fmt.Sprint(handed(m), handed(ready(t, made(t, "adamcg", "{}"), 3, 4).(algo.Reformer))); names !=
		"[x y] [x y y_mean y_square x_mean x_square z products u]" {
		t.Errorf("handed over are %s", names)
	}
	for _, name := range []string{"pairs_v", "overshoot"} {
		if slices.Contains(handed(ready(t, made(t, "newtoncg", "{}"), 3, 4).(algo.Reformer)), name) {
			t.Errorf("newtoncg hands over %s, which is of the old members", name)
		}
	}
	for _, name := range []string{"newtoncg", "adamcg"} { // all agents have the same: one that comes in too
		m := ready(t, made(t, name, "{}"), 3, 4).(algo.Reformer)
		late := ready(t, made(t, name, "{}"), 3, 4).(algo.Reformer)
		linalg.Fill(algo.TraitsOf(m).Z, 2)
		linalg.Fill(algo.TraitsOf(m).U, 3)
		testkit.OK(algo.TakeOver(late, m.Handover()))
		got, want := algo.TraitsOf(late), algo.TraitsOf(m)
		if !slices.Equal(got.Z, want.Z) || !slices.Equal(got.U, want.U) {
			t.Errorf("%s: one that comes in has z %v and u %v; it must have %v and %v", name, got.Z, got.U,
				want.Z, want.U)
		}
	}
}

// handed returns the names of what a method hands over.
func handed(m algo.Reformer) (names []string) {
	for _, part := range m.Handover() {
		names = append(names, part.Name)
	}
	return names
}

// A membership is agents of one method on quadratics, and who of them takes part. Agents are named
// by their numbers.
type membership struct {
	methods []algo.Method // by number; those that are not there have what they left with
	oracles []dsbo.Oracle
	present []int // ascending
	made    func() algo.Method
	matrix  func(n int) [][]float64
	mixers  []*algotest.Mixer
}

// newMembership returns as many agents as there are oracles, with methods that made returns after
// Init; all of present are there. matrix gives the weights of n agents.
func newMembership(made func() algo.Method, oracles []dsbo.Oracle, present []int,
	matrix func(n int) [][]float64) *membership {
	m := &membership{methods: make([]algo.Method, len(oracles)), oracles: oracles, present: present,
		made: made, matrix: matrix}
	for _, i := range present {
		m.methods[i] = made()
	}
	m.mixers = algotest.NewMixers(matrix(len(present)))
	return m
}

// run does iterations from..to−1.
func (m *membership) run(t *testing.T, from, to int) {
	t.Helper()
	var methods []algo.Method
	var oracles []dsbo.Oracle
	for _, i := range m.present {
		methods, oracles = append(methods, m.methods[i]), append(oracles, m.oracles[i])
	}
	testkit.OK(algotest.Run(t.Context(), from, to, methods, oracles, m.mixers))
}

// change makes others the members: who comes in takes over from the first that stays.
func (m *membership) change(t *testing.T, present []int) {
	t.Helper()
	first := slices.IndexFunc(present, func(i int) bool { return slices.Contains(m.present, i) })
	from := m.methods[present[first]].(algo.Reformer).Handover()
	for _, i := range present {
		if slices.Contains(m.present, i) {
			m.methods[i].(algo.Reformer).Reform()
			continue
		}
		m.methods[i] = m.made()
		testkit.OK(algo.TakeOver(m.methods[i].(algo.Reformer), from))
	}
	m.present = present
	m.mixers = algotest.NewMixers(m.matrix(len(present)))
}

// sum returns the sum over the members of a named part of their state.
func (m *membership) sum(name string) []float64 {
	var sum []float64
	for _, i := range m.present {
		if part := stateOf(m.methods[i], name); part != nil {
			sum = append(sum, make([]float64, len(part)-len(sum))...)
			linalg.Add(sum, sum, part)
		}
	}
	return sum
}

// metropolis is the mixing matrix of a path of n agents with Metropolis weights.
func metropolis(n int) [][]float64 {
	return testkit.Get(network.New("path", n, network.Options{})).W.Dense()
}
