package algo_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/internal/must"
	"dsbo/internal/vec"
)

// golden is a file of testdata/golden: a problem, a method's parameters, and what an independent
// program in another language found.
type golden struct {
	Algo     string
	Kind     string
	Agents   int `json:"n"`
	P        int `json:"p"`
	Q        int `json:"q"`
	W        [][]float64
	Steps    any `json:"N"` // beside n, which is another
	K        int
	X0       any   // start of x: a number or a vector
	WarmY    *bool `json:"warm_y"`
	Floats   *int  `json:"floats_per_iteration"`
	Data     goldenData
	Expected map[string]json.RawMessage
	Counts   map[string]int // averages and calls of one agent in the whole run
	Phase0   *struct{ Constants, F []float64 }

	params map[string]json.RawMessage // of the method, by name
}

// method returns the file's method, before Init, and after change has set parameters anew.
func (g golden) method(t *testing.T, change ...string) algo.Method {
	t.Helper()
	m := made(t, g.Algo, "{}")
	for _, name := range algo.Parameters(m) {
		if value := g.params[name]; value != nil {
			set(t, m, name, string(value))
		}
	}
	for _, c := range change {
		name, value, _ := strings.Cut(c, "=")
		set(t, m, name, value)
	}
	return m
}

func set(t *testing.T, m algo.Method, name, value string) {
	t.Helper()
	must.OK(algo.Decode(m, fmt.Appendf(nil, "{%q:%s}", name, value)))
}

// startX returns the start of x.
func (g golden) startX(t *testing.T) []float64 {
	t.Helper()
	x := make([]float64, g.P)
	v, _ := flatten(g.X0)
	switch {
	case g.X0 == nil:
	case len(v) == 1:
		vec.Fill(x, v[0])
	case len(v) == g.P:
		copy(x, v)
	default:
		t.Fatalf("x0 has %d numbers, want 1 or %d", len(v), g.P)
	}
	return x
}

func readGolden(t *testing.T, file string) golden {
	t.Helper()
	text := must.Get(os.ReadFile(file))
	var g golden
	must.OK(json.Unmarshal(text, &g))
	if g.Algo == "" {
		g.Algo = "madsbo"
	}
	must.OK(json.Unmarshal(text, &g.params))
	if g.WarmY != nil && !*g.WarmY {
		g.params["cold_y"] = json.RawMessage("true")
	}
	if string(g.params["split"]) == "false" {
		g.params["no_split"] = json.RawMessage("true")
	}
	if l := g.params["Lg"]; l != nil { // as one file has it
		g.params["lg"] = l
	}
	g.Data.P, g.Data.Q = g.P, g.Q
	return g
}

// TestGolden compares whole trajectories. Both sides work in float64 and differ in the order of sums
// only, so that what is compared agrees to about 1e-14 times the growth of errors along a stable
// trajectory; 1e-9 leaves room for that and for none of the mistakes that matter.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "golden", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			g := readGolden(t, file)
			if !slices.Contains(algo.Names(), g.Algo) {
				t.Skipf("algorithm %q is not here", g.Algo)
			}
			if len(g.Expected) == 0 {
				t.Fatal("nothing is expected")
			}
			compareGolden(t, g, runGolden(t, g))
		})
	}
}

// moment is what all agents hold at one time, by letter: a row an agent.
type moment map[string][][]float64

// A trajectory is the moments before the first iteration and after each.
type trajectory struct {
	golden
	oracles []dsbo.ValueOracle
	moments []moment
	exacts  []exact
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
	tr := trajectory{golden: g}
	var as []algo.Method
	var os []dsbo.Oracle
	for i := range g.Agents {
		a := g.method(t)
		must.OK(a.Init(g.P, g.Q, g.K))
		copy(a.X(), g.startX(t))
		o := newOracle(g.Kind, g.Data, i)
		tr.recorders = append(tr.recorders, algotest.NewRecorder(o))
		as, os, tr.oracles = append(as, a), append(os, tr.recorders[i]), append(tr.oracles, o)
	}
	ms := algotest.NewMixers(g.W)
	tr.mixer, tr.template = ms[0], as[0]
	tr.solver = newEvaluator(tr.oracles, traits.Personalized)
	tr.record(t, as)
	for k := range g.K {
		must.OK(algotest.Step(t.Context(), k, as, os, ms))
		tr.record(t, as)
	}
	return tr
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
	tr.exacts = append(tr.exacts, tr.solver.at(t, average(m["X"])))
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

// find computes what an expected key stands for. Series of x, r and exact values have an entry before
// the first iteration, the others start after it. ok is false for a key that is not known.
func (tr *trajectory) find(t *testing.T, key string) (v any, ok bool) {
	t.Helper()
	if name, is := strings.CutSuffix(key, "_bar"); is && strings.Contains("x r y z u", name) {
		l := strings.ToUpper(name)
		return series(tr.moments, first(name), func(_ int, m moment) []float64 { return average(letter(t, m, l)) }), true
	}
	if name, is := strings.CutPrefix(key, "cons_"); is && strings.Contains("x y z", name) {
		l := strings.ToUpper(name)
		return series(tr.moments, first(name), func(_ int, m moment) float64 { return consensus(letter(t, m, l)) }), true
	}
	switch key {
	case "Phi":
		return series(tr.moments, 0, func(k int, _ moment) float64 { return tr.exacts[k].phi }), true
	case "hg_norm":
		return series(tr.moments, 0, func(k int, _ moment) float64 { return norm(tr.exacts[k].gradient) }), true
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

// upper is the averaged f at the means after iteration k: MA-DSBO's x is that of the iteration,
// from before its last line; the others' is the new one.
func (tr *trajectory) upper(t *testing.T, k int) float64 {
	t.Helper()
	at := k
	if tr.Algo == "madsbo" {
		at = k - 1
	}
	x, y, sum := average(tr.moments[at]["X"]), average(tr.moments[k]["Y"]), 0.0
	for _, o := range tr.oracles {
		f, _ := must.Get2(o.Values(x, y, whole))
		sum += f / float64(len(tr.oracles))
	}
	return sum
}

func compareGolden(t *testing.T, g golden, tr trajectory) {
	t.Helper()
	for key, text := range g.Expected {
		switch key {
		case "lower_residual_max": // how well the other program solved the lower problem
		case "first_agents":
			compareAgents(t, key, text, tr.moments[min(1, g.K)])
		case "final_agents":
			compareAgents(t, key, text, tr.moments[g.K])
		default:
			v, ok := tr.find(t, key)
			if !ok {
				t.Errorf("expected has a key %q that this test cannot check", key)
				continue
			}
			compareNumbers(t, key, v, text)
		}
	}
	if g.Counts != nil {
		compareCounts(t, tr)
	}
	if g.Phase0 != nil {
		comparePhase0(t, tr)
	}
	if g.Floats != nil {
		m, most := ready(t, g.method(t), g.P, g.Q), 0
		for k := range g.K {
			most = max(most, m.Cost(k).Floats)
		}
		if most != *g.Floats {
			t.Errorf("floats per neighbour and iteration: %d, want %d", most, *g.Floats)
		}
	}
}

// compareCounts compares the file's counts with those of the first agent, and these with what the method states.
func compareCounts(t *testing.T, tr trajectory) {
	t.Helper()
	counts, calls, m := tr.Counts, tr.recorders[0].Total, tr.mixer
	want := algo.Cost{
		Averages:      counts["averages_q"] + counts["averages_p"] + counts["averages_1"],
		AverageFloats: counts["averages_q"]*tr.Q + counts["averages_p"]*tr.P + counts["averages_1"],
		Calls: algo.Calls{LowerGrad: counts["lower_grad"], HVP: counts["hvp"], UpperGrad: counts["upper_grad"], JVP: counts["jvp"],
			Diagonal: counts["diagonal"], Value: counts["value"]},
	}
	stated := 0
	for k := range tr.K {
		stated += tr.template.Cost(k).AverageFloats
	}
	got := algo.Cost{Averages: m.Averages, AverageFloats: m.AverageFloats, Calls: calls}
	if got != want || stated != want.AverageFloats {
		t.Errorf("counts are %+v, want %+v; the method states %d numbers", got, want, stated)
	}
}

// comparePhase0 compares the constants that a search tried, and the averaged values of f there.
func comparePhase0(t *testing.T, tr trajectory) {
	t.Helper()
	var constants, values []float64
	for _, c := range tr.recorders[0].Calls {
		if c.Kind == "value" {
			constants = append(constants, c.X[0])
		}
	}
	for j := range constants {
		sum := 0.0
		for i, r := range tr.recorders {
			of := slices.DeleteFunc(slices.Clone(r.Calls), func(c algotest.Call) bool { return c.Kind != "value" })
			f, _ := must.Get2(tr.oracles[i].Values(of[j].X, of[j].Y, whole))
			sum += f / float64(tr.Agents)
		}
		values = append(values, sum)
	}
	compareNumbers(t, "phase0.constants", constants, must.Get(json.Marshal(tr.Phase0.Constants)))
	compareNumbers(t, "phase0.f", values, must.Get(json.Marshal(tr.Phase0.F)))
}

func compareAgents(t *testing.T, key string, text json.RawMessage, m moment) {
	t.Helper()
	var want map[string]json.RawMessage
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	for l, rows := range want {
		compareNumbers(t, key+"."+l, letter(t, m, l), rows)
	}
}

// compareNumbers wants max|a−b| / max(1, max|b|) ≤ 1e-9 and equal shapes.
func compareNumbers(t *testing.T, key string, got any, text json.RawMessage) {
	t.Helper()
	again, err := json.Marshal(got) // the same nesting as the file's
	if err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	var a, b any
	must.OK(json.Unmarshal(again, &a))
	if err := json.Unmarshal(text, &b); err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	av, as := flatten(a)
	bv, bs := flatten(b)
	if as != bs {
		t.Errorf("%s: shape %s, want %s", key, as, bs)
		return
	}
	scale, worst := 1.0, 0.0
	for i := range bv {
		scale = max(scale, math.Abs(bv[i]))
		worst = max(worst, math.Abs(av[i]-bv[i])) // NaN stays NaN
	}
	if !(worst/scale <= 1e-9) {
		t.Errorf("%s: relative difference %.3g, at most 1e-9", key, worst/scale)
	}
}

// flatten lists the numbers of nested lists and describes their shape, lists of unequal length included.
func flatten(v any) (numbers []float64, shape string) {
	switch v := v.(type) {
	case float64:
		return []float64{v}, ""
	case []any:
		var inner string
		for i, e := range v {
			n, s := flatten(e)
			numbers = append(numbers, n...)
			if i > 0 && s != inner {
				s = "uneven"
			}
			inner = s
		}
		return numbers, fmt.Sprintf("[%d]%s", len(v), inner)
	}
	return nil, fmt.Sprintf("%T", v)
}
