package algo_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/train/exact"
)

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
			v, ok := tr.series(t, key)
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

// compareCounts compares the file's counts with the counts of the first agent, and these with what
// the method states.
func compareCounts(t *testing.T, tr trajectory) {
	t.Helper()
	counts, calls, m := tr.Counts, tr.recorders[0].Total, tr.mixer
	want := algo.Cost{
		Averages:      counts["averages_q"] + counts["averages_p"] + counts["averages_1"],
		AverageFloats: counts["averages_q"]*tr.Q + counts["averages_p"]*tr.P + counts["averages_1"],
		Calls: dsbo.Calls{LowerGrad: counts["lower_grad"], HVP: counts["hvp"], UpperGrad: counts["upper_grad"],
			JVP:      counts["jvp"],
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
			f, _ := testkit.Get2(tr.oracles[i].Values(of[j].X, of[j].Y, whole))
			sum += f / float64(tr.Agents)
		}
		values = append(values, sum)
	}
	compareNumbers(t, "phase0.constants", constants, testkit.Get(json.Marshal(tr.Phase0.Constants)))
	compareNumbers(t, "phase0.f", values, testkit.Get(json.Marshal(tr.Phase0.F)))
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
	testkit.OK(json.Unmarshal(again, &a))
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

// flatten lists the numbers of nested lists and describes their shape, lists of unequal
// length included.
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

var whole = dsbo.Sample{Set: dsbo.Whole}

// values are what is true at one x: Φ, its gradient, y*(x).
type values struct {
	phi      float64
	gradient []float64
	y        []float64
}

// An evaluator gives the exact values of a problem, or of its personalized variant, in which each
// agent has its own y.
type evaluator []*exact.Solver

func newEvaluator(os []dsbo.ValueOracle, personalized bool) evaluator {
	const tol = 1e-12
	if !personalized {
		return evaluator{{Oracles: os, Tol: tol, AdjointTol: tol}}
	}
	var e evaluator
	for i := range os {
		e = append(e, &exact.Solver{Oracles: os[i : i+1], Tol: tol, AdjointTol: tol})
	}
	return e
}

func (e evaluator) at(t *testing.T, x []float64) values {
	t.Helper()
	sum := values{gradient: make([]float64, len(x))}
	for _, group := range e {
		s := testkit.Get(group.Solve(t.Context(), x))
		sum.phi += s.Phi / float64(len(e))
		axpy(sum.gradient, 1/float64(len(e)), s.Gradient)
		sum.y = s.Y
	}
	return sum
}

// dot and axpy are short names for the tests' own sums.
var dot, axpy = linalg.Dot[float64], linalg.Axpy[float64]

func norm(v []float64) float64 { return math.Sqrt(dot(v, v)) }
