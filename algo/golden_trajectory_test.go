package algo_test

import (
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/internal/testkit"
)

// moment is what all agents hold at one time, by letter: a row an agent.
type moment map[string][][]float64

// A trajectory is the moments before the first iteration and after each.
type trajectory struct {
	golden
	oracles []dsbo.ValueOracle
	moments []moment
	exacts  map[int]values // by moment, of those that a series asks for
	solver  evaluator

	recorders []*algotest.Recorder
	mixer     *algotest.Mixer // of the first agent
	template  algo.Method     // the first agent's
}

func runGolden(t *testing.T, g golden) trajectory {
	t.Helper()
	traits := algo.TraitsOf(g.method(t))
	if traits.ExactAverage { // the file's W is not used
		g.W = algotest.Average(g.Agents)
	}
	tr := trajectory{golden: g, exacts: map[int]values{}}
	var as []algo.Method
	var os []dsbo.Oracle
	for i := range g.Agents {
		a := g.method(t)
		testkit.OK(a.Init(g.P, g.Q, g.K))
		copy(a.X(), g.startX(t))
		o := g.newOracle(i)
		tr.recorders = append(tr.recorders, algotest.NewRecorder(o))
		as, os = append(as, a), append(os, tr.recorders[i])
		exact := dsbo.ValueOracle(o)
		if g.Kind == "quadratic" && g.Draws == nil { // exact solutions take most of the time
			exact = closedForm(g, i)
		}
		tr.oracles = append(tr.oracles, exact)
	}
	ms := g.mixers(t)
	tr.mixer, tr.template = ms[0], as[0]
	tr.solver = newEvaluator(tr.oracles, traits.Personalized)
	tr.record(t, as)
	for k := range g.K {
		testkit.OK(algotest.Step(t.Context(), k, as, os, ms))
		tr.record(t, as)
	}
	return tr
}

// mixers joins the file's agents: by W, and by A and B where the file has them.
func (g golden) mixers(t *testing.T) []*algotest.Mixer {
	t.Helper()
	if g.params["A"] == nil {
		return algotest.NewMixers(g.W)
	}
	return directedMixers(parsed[[][][]float64](g.params["A"]), parsed[[][][]float64](g.params["B"]))
}

func (tr *trajectory) record(t *testing.T, as []algo.Method) {
	t.Helper()
	m := moment{}
	for _, a := range as {
		for letter, v := range algo.Letters(a) {
			m[letter] = append(m[letter], slices.Clone(v))
		}
	}
	if tr.Algo == "sparkle" {
		tr.corrections(t, m)
	}
	tr.moments = append(tr.moments, m)
}

// exact returns what is true at the mean of x of a moment.
func (tr *trajectory) exact(t *testing.T, k int) values {
	t.Helper()
	if _, known := tr.exacts[k]; !known {
		tr.exacts[k] = tr.solver.at(t, average(tr.moments[k]["X"]))
	}
	return tr.exacts[k]
}

// corrections adds the D of each of SPARKLE's variables, which the method does not hold: D = Σ B² v
// over the iterates so far.
func (tr *trajectory) corrections(t *testing.T, m moment) {
	strategy := tr.method(t).(*algo.Sparkle).Strategy
	for letter, kind := range map[string]string{"X": strategy.X, "Y": strategy.Y, "Z": strategy.Z} {
		name := "D" + strings.ToLower(letter)
		times := map[string]int{"ed": 1, "extra": 1, "gt": 2}[kind]
		d := m[letter]
		for range times {
			d = linear(d, -1, mix(tr.W, d))
		}
		if len(tr.moments) == 0 || times == 0 {
			d = linear(m[letter], -1, m[letter]) // zero at the start, and without a correction
		} else {
			d = linear(tr.moments[len(tr.moments)-1][name], 1, d)
		}
		m[name] = d
	}
}

func average(rows [][]float64) []float64 {
	m := make([]float64, len(rows[0]))
	for _, r := range rows {
		axpy(m, 1/float64(len(rows)), r)
	}
	return m
}

// consensus is (1/n) Σ_i ‖v_i − v̄‖².
func consensus(rows [][]float64) float64 {
	m, s := average(rows), 0.0
	for _, r := range rows {
		d := slices.Clone(r)
		axpy(d, -1, m)
		s += dot(d, d) / float64(len(rows))
	}
	return s
}

// series evaluates what at each moment from the first-th on.
func series[T any](ms []moment, first int, what func(k int, m moment) T) []T {
	var s []T
	for k := first; k < len(ms); k++ {
		s = append(s, what(k, ms[k]))
	}
	return s
}

// series computes what an expected key stands for. Series of x, r and exact values have an entry
// before the first iteration, the others start after it. ok is false for a key that is not known.
func (tr *trajectory) series(t *testing.T, key string) (v any, ok bool) {
	t.Helper()
	if name, is := strings.CutSuffix(key, "_bar"); is && strings.Contains("x r y z u", name) {
		l := strings.ToUpper(name)
		return series(tr.moments, first(name), func(_ int, m moment) []float64 { return average(letter(t, m, l)) }),
			true
	}
	if name, is := strings.CutPrefix(key, "cons_"); is && strings.Contains("x y z", name) {
		l := strings.ToUpper(name)
		return series(tr.moments, first(name), func(_ int, m moment) float64 { return consensus(letter(t, m, l)) }),
			true
	}
	switch key {
	case "Phi":
		return series(tr.moments, 0, func(k int, _ moment) float64 { return tr.exact(t, k).phi }), true
	case "hg_norm":
		return series(tr.moments, 0, func(k int, _ moment) float64 { return norm(tr.exact(t, k).gradient) }), true
	case "upper":
		return series(tr.moments, 1, func(k int, _ moment) float64 { return tr.upper(t, k) }), true
	case "x_star":
		return tr.minimum(), true
	case "y_star":
		return tr.solver.at(t, tr.minimum()).y, true
	case "Phi_star":
		return tr.solver.at(t, tr.minimum()).phi, true
	}
	return nil, false
}

// minimum returns x* of quadratic agents.
func (tr *trajectory) minimum() []float64 {
	var qs []*algotest.Quadratic
	for i := range tr.Agents {
		qs = append(qs, closedForm(tr.golden, i))
	}
	return algotest.Solve(qs).X
}

// first is the moment at which a series starts.
func first(name string) int {
	if name == "x" || name == "r" {
		return 0
	}
	return 1
}

func letter(t *testing.T, m moment, l string) [][]float64 {
	t.Helper()
	if m[l] == nil {
		t.Fatalf("the method has no %s", l)
	}
	return m[l]
}

// upper is the averaged f at the means after iteration k: MA-DSBO's x is the x of the iteration,
// from before its last line; the others' is the new one.
func (tr *trajectory) upper(t *testing.T, k int) float64 {
	t.Helper()
	at := k
	if tr.Algo == "madsbo" {
		at = k - 1
	}
	x, y, sum := average(tr.moments[at]["X"]), average(tr.moments[k]["Y"]), 0.0
	for _, o := range tr.oracles {
		f, _ := testkit.Get2(o.Values(x, y, whole))
		sum += f / float64(len(tr.oracles))
	}
	return sum
}
