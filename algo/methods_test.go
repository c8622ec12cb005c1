package algo_test

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
)

// What the docs of the other methods say, tried.

// closedForm is agent i of a golden quadratic, in closed form: long runs need no graphs.
func closedForm(g golden, i int) *algotest.Quadratic {
	return &algotest.Quadratic{Quadratic: g.Data.quadratic(i)}
}

// final runs the quadratic of a golden file with other parameters and returns the exact gradient's
// norm at the mean of x.
func final(t *testing.T, file, name string, K int, change ...string) float64 {
	t.Helper()
	if testing.Short() {
		t.Skip("runs a thousand iterations")
	}
	g := readGolden(t, filepath.Join("testdata", "golden", file+".json"))
	g.Algo = name
	var as []algo.Method
	var os []dsbo.Oracle
	var values []dsbo.ValueOracle
	for i := range g.Agents {
		o := closedForm(g, i)
		as, os, values = append(as, ready(t, g.method(t, change...), g.P, g.Q)), append(os, o), append(values, o)
	}
	e := newEvaluator(values, algo.TraitsOf(as[0]).Personalized)
	iterate(t, K, as, os, algotest.NewMixers(g.W))
	return norm(e.at(t, average(each(as, algo.Method.X))).gradient)
}

// TestBiased: methods stop where the exact gradient is not zero when data differ: MDBO, however
// many terms it has, and SPARKLE without its corrections. On this problem a method without a bias
// gets below 1e-11.
func TestBiased(t *testing.T) {
	for _, change := range [][]string{{"mdbo", "lg=8", "N=30"}, {"mdbo", "lg=8", "N=200"},
		{"sparkle", "alpha=0.05", "beta=0.05", "gamma=0.05", `strategy={"x":"none","y":"none","z":"none"}`}} {
		least := map[string]float64{"mdbo": 0.5, "sparkle": 1e-11}[change[0]] // of mdbo it is above 1
		end := final(t, "sparkle_ed_quadratic_n5", change[0], 1000, change[1:]...)
		if !(end > least) || math.IsInf(end, 1) {
			t.Errorf("%v: the exact gradient ends at %g", change, end)
		}
	}
}

// The augmented Lagrangian is exact for the personalized problem, given steps enough for z; gossip
// has a bias of order α.
func TestPersonalized(t *testing.T) {
	if end := final(t, "pdsbo_al_quadratic_n6", "pdsbo_al", 800, "T=5", "N=400"); !(end < 1e-8) {
		t.Errorf("augmented Lagrangian: the gradient ends at %g", end)
	}
	var bias []float64
	for _, alpha := range []float64{0.05, 0.025} {
		end := final(t, "pdsbo_al_quadratic_n6", "pdsbo_gossip", 800, "T=5", "N=100", fmt.Sprint("alpha=", alpha))
		bias = append(bias, end)
	}
	if r := bias[0] / bias[1]; !(r > 1.6 && r < 2.4) { // 2 to first order in α
		t.Errorf("gossip: the gradient ends at %v for α and α/2, ratio %g; want about 2", bias, r)
	}
}

// Each addition to MA-DSBO brings x nearer to where the exact gradient vanishes.
func TestTunedIsBetter(t *testing.T) {
	var ends []float64
	for _, change := range [][]string{{}, {"warm_z=true"}, {"warm_z=true", "track_y=true"}} {
		end := final(t, "quadratic_n5", "madsbo_tuned", 1000,
			append(change, "alpha=0.05", "beta=0.05", "gamma=0.05", "N=5")...)
		ends = append(ends, end)
	}
	if !(ends[1] < ends[0]/2 && ends[2] < ends[1]/2) {
		t.Errorf("exact gradient: plain %g, warm z %g, and tracked y %g", ends[0], ends[1], ends[2])
	}
}

// With no option set the tuned method is MA-DSBO to the last bit, draws included.
func TestTunedWithoutOptionsIsMADSBO(t *testing.T) {
	w := newCrew(t, 4, steps)
	v := newCrew(t, 4, steps)
	var tuned []*algo.Tuned
	for range v.agents {
		tuned = append(tuned, ready(t,
			&algo.Tuned{Alpha: steps.Alpha, Beta: steps.Beta, Gamma: steps.Gamma, T: steps.T, N: steps.N}, 3, 4))
	}
	for k := range 4 {
		w.step(t, k)
		testkit.OK(algotest.Step(t.Context(), k, tuned, v.os, v.ms))
		for i, a := range w.agents {
			b := tuned[i]
			if !slices.Equal(a.X(), b.X()) || !slices.Equal(a.Y(), b.Y()) ||
				!slices.Equal(algo.TraitsOf(a).Z, algo.TraitsOf(b).Z) ||
				!slices.Equal(algo.TraitsOf(a).U, algo.TraitsOf(b).U) {
				t.Fatalf("iteration %d, agent %d: the methods differ", k, i)
			}
		}
	}
}

// Clip keeps x in its box.
func TestClip(t *testing.T) {
	a := ready(t, &algo.Tuned{Alpha: "0.3", Beta: "0.15", T: 3, N: 4, XStep: "adam", Clip: []float64{0.15, 0.25}}, 3, 4)
	linalg.Fill(a.X(), 0.2)
	o, m := algotest.NewQuadratics(1, 3, 4, 2)[0], algotest.NewMixers(algotest.Ring(1, 0.5))[0]
	for k := range 3 {
		testkit.OK(a.Step(t.Context(), k, o, m))
		if lo, hi := slices.Min(a.X()), slices.Max(a.X()); lo < 0.15 || hi > 0.25 || lo == hi {
			t.Errorf("iteration %d: x in [%g, %g]", k, lo, hi)
		}
	}
}

// The mean of the single-term draws over N' = 0..N−1 is the Neumann series.
func TestSeriesIsTheMeanOfTheDraws(t *testing.T) {
	const N = 6
	o := algotest.NewQuadratics(1, 3, 4, 6)[0]
	z := func(draws ...int) []float64 {
		a := ready(t, &algo.ALSET{T: 2, N: N, L: "4", NPrime: draws}, 3, 4)
		alone(t, 1, a, o)
		return algo.TraitsOf(a).Z
	}
	sum := make([]float64, 4)
	for n := range N {
		axpy(sum, 1.0/N, z(n))
	}
	if d := distance(sum, z()); d > 1e-14 {
		t.Errorf("mean of draws and series differ by %g", d)
	}
}

// q steps of conjugate gradients solve a q×q system.
func TestConjugateGradientsEnd(t *testing.T) {
	qs := algotest.NewQuadratics(1, 3, 4, 6)
	for _, warm := range []bool{false, true} {
		a := ready(t, &algo.AIDCG{T: 5, N: 4, WarmZ: warm}, 3, 4)
		for k := range 3 {
			testkit.OK(a.Step(t.Context(), k, qs[0], nil))
			if d := distance(algo.TraitsOf(a).Z, algotest.Solve(qs).InverseProduct(a.Y())); d > 1e-12 {
				t.Errorf("warm %v, iteration %d: z is off by %g", warm, k, d)
			}
		}
	}
}

// Iterative differentiation is the derivative of f(x, y^T(x)), y^T from a fixed start.
func TestITDIsTheDerivative(t *testing.T) {
	g := readGolden(t, filepath.Join("testdata", "golden", "itd_logistic_n1.json"))
	o := g.newOracle(0)
	at := func(x []float64) (*algo.ITD, float64) {
		a := ready(t, &algo.ITD{Alpha: "0.1", Beta: "0.3", T: 6, ColdY: true}, g.P, g.Q)
		copy(a.X(), x)
		testkit.OK(a.Step(t.Context(), 0, o, nil))
		f, _ := testkit.Get2(o.Values(x, a.Y(), whole))
		return a, f
	}
	x := []float64{0.1, -0.4, 0.3, 0.2, -0.1, 0.5}
	a, _ := at(x)
	const h = 1e-5 // central differences: error h² f'''/6 + 1e-16/h ≈ 1e-10 for f of size 1
	for j, u := range algo.TraitsOf(a).U {
		v := x[j]
		x[j] = v + h
		_, up := at(x)
		x[j] = v - h
		_, down := at(x)
		x[j] = v
		if fd := (up - down) / (2 * h); !(math.Abs(fd-u) <= 1e-8) {
			t.Errorf("entry %d: u = %g, differences give %g", j, u, fd)
		}
	}
}

// DSBO-JHIP's Z solves Σ H_i Z = Σ J_i', so that the mean of u is the hypergradient when y is y*.
func TestJHIPIsExactInTheLimit(t *testing.T) {
	if d := directionError(t, 1, &algo.JHIP{N: 400, Gamma: "0.1", Beta: "1e-13", T: 1}); d > 1e-10 {
		t.Errorf("mean of u is off by %g", d)
	}
}

// GBDSBO's averages stay apart by their weight b when data differ, and its direction, a product of
// three of them, is off by the order of b².
func TestGBDSBOIsExactInTheLimit(t *testing.T) {
	at := func(b float64) float64 {
		return directionError(t, int(20/b), &algo.GBDSBO{N: 80, L: "4", Mav: b, Alpha: "1e-13", Beta: "1e-13"})
	}
	coarse, fine := at(0.1), at(0.05)
	if r := coarse / fine; !(fine < 1e-3 && r > 3 && r < 5) {
		t.Errorf("mean of the directions is off by %g for b = 0.1 and %g for b = 0.05; want a ratio of about 4", coarse,
			fine)
	}
}

// directionError holds (x, y) at (0, y*(0)) by steps too small to matter, and returns how far the
// mean of u is from the hypergradient after K iterations.
func directionError(t *testing.T, K int, template algo.Method) float64 {
	t.Helper()
	const n, p, q = 4, 3, 4
	qs := algotest.NewQuadratics(n, p, q, 13)
	x := make([]float64, p)
	y := algotest.Solve(qs).LowerSolution(x)
	as, os := agentsOn(qs, func() algo.Method {
		m := ready(t, algo.Clone(template), p, q)
		copy(m.Y(), y)
		return m
	})
	iterate(t, K, as, os, algotest.NewMixers(algotest.Ring(n, 0.4)))
	us := each(as, func(m algo.Method) []float64 { return algo.TraitsOf(m).U })
	return distance(average(us), algotest.Solve(qs).Gradient(x))
}

// TestStepEndsAtAnError, however many inner steps are still to come: who interrupts a run does not
// wait for them.
func TestStepEndsAtAnError(t *testing.T) {
	const endless = `1000000000000`
	broken := errors.New("broken")
	for _, tt := range []struct{ method, parameters string }{
		{"madsbo", `{"T":` + endless + `}`},
		{"madsbo", `{"T":1,"N":` + endless + `}`},
		{"madsbo_tuned", `{"T":` + endless + `}`},
		{"madsbo_tuned", `{"T":1,"N":` + endless + `}`},
		{"jhip", `{"T":` + endless + `}`},
		{"jhip", `{"T":1,"N":` + endless + `}`},
		{"fednest", `{"lg":5,"T":` + endless + `}`},
		{"aidcg", `{"T":` + endless + `}`},
		{"adamcg", `{"T":` + endless + `}`},
	} {
		m := testkit.Get(algo.New(tt.method))
		testkit.OK(algo.Decode(m, []byte(tt.parameters)))
		testkit.OK(m.Init(3, 4, 2))
		o := &algotest.Recorder{Oracle: algotest.NewQuadratics(1, 3, 4, 7)[0], FailAt: 7, Err: broken}
		if err := m.Step(t.Context(), 0, o, algotest.NewMixers(algotest.Ring(1, .5))[0]); !errors.Is(err, broken) {
			t.Errorf("%s with %s: error %v; it must be that of the oracle", tt.method, tt.parameters, err)
		}
	}
}

// TestSearchKeepsTheBest: after each training x and y are of the one whose f is least, by closed
// forms of f and y*.
func TestSearchKeepsTheBest(t *testing.T) {
	qs := algotest.NewQuadratics(1, 3, 4, 2)
	a := ready(t, &algo.Search{Rule: "random", Each: true, Clip: []float64{-2, 2}, T: 2, N: 4}, 3, 4)
	exact := algotest.Solve(qs)
	var best float64
	moved := 0
	for k := range 12 {
		before := slices.Clone(a.X())
		testkit.OK(a.Step(t.Context(), k, qs[0], algotest.NewMixers(algotest.Ring(1, 0.5))[0]))
		f, _ := testkit.Get2(qs[0].Values(a.X(), a.Y(), whole))
		if d := distance(a.Y(), exact.LowerSolution(a.X())); !(d < 1e-9) { // 4 products solve for 4 entries
			t.Errorf("iteration %d: y is off by %g", k, d)
		}
		if k > 0 && f > best {
			t.Errorf("iteration %d: f rose from %g to %g", k, best, f)
		}
		if best = f; !slices.Equal(before, a.X()) {
			moved++
		}
	}
	if moved < 2 || moved == 12 {
		t.Errorf("x moved in %d of 12 iterations; it must in some", moved)
	}
}
