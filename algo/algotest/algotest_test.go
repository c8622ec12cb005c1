package algotest_test

import (
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/models"
)

var whole = dsbo.Sample{Set: dsbo.Whole}

// A model of the same losses, whose derivatives package modeltest proves, has the same answers up
// to the rounding of sums of a few terms.
func TestQuadraticIsTheModel(t *testing.T) {
	const p, q = 3, 4
	for agent, o := range algotest.NewQuadratics(3, p, q, 17) {
		model := testkit.Get(models.NewOracle(o.Quadratic, data.Shard{}, models.Config{}))
		x, y, v := []float64{0.3, -0.4, 1}, []float64{1, -2, 0.5, 0.25}, []float64{0.5, 1, -1, 2}
		answers := func(o dsbo.ValueOracle) []float64 {
			can := o.Capabilities()
			var all [][]float64
			take := func(n int) []float64 {
				all = append(all, make([]float64, n))
				return all[len(all)-1]
			}
			wantNoErrors(t, o.UpperGrad(take(p), take(q), x, y, whole),
				can.LowerJointGrad(take(p), take(q), x, y, whole), o.LowerGrad(take(q), x, y, whole),
				o.HVP(take(q), x, y, v, whole), o.JVP(take(p), x, y, v, whole), can.Hessian(take(q*q), x, y, whole),
				can.Jacobian(take(p*q), x, y, whole), can.Diagonal(take(q), x, y, whole))
			f, g := testkit.Get2(o.Values(x, y, whole))
			return slices.Concat(append(all, []float64{f, g})...)
		}
		got, want := answers(o), answers(model)
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-13 {
				t.Errorf("agent %d: number %d of the answers is %g, of the model's %g", agent, i, got[i], want[i])
			}
		}
	}
}

func wantNoErrors(t *testing.T, errs ...error) {
	t.Helper()
	testkit.OK(errors.Join(errs...))
}

// The matrices are the matrices of the products, noise included, and one draw gives one answer.
func TestQuadraticMatricesAndDraws(t *testing.T) {
	const p, q = 2, 3
	o := algotest.NewQuadratics(1, p, q, 1)[0]
	o.Noise = 0.5
	x, y, s := make([]float64, p), make([]float64, q), dsbo.Sample{Set: dsbo.Curvature, K: 3, T: 1}
	h, j := make([]float64, q*q), make([]float64, p*q)
	wantNoErrors(t, o.Hessian(h, x, y, s), o.Jacobian(j, x, y, s))
	product := func(s dsbo.Sample, e []float64) ([]float64, []float64) {
		hv, jv := make([]float64, q), make([]float64, p)
		wantNoErrors(t, o.HVP(hv, x, y, e, s), o.JVP(jv, x, y, e, s))
		return hv, jv
	}
	for c := range q {
		e := make([]float64, q)
		e[c] = 1
		hv, jv := product(s, e)
		for i, v := range hv {
			if v != h[i*q+c] {
				t.Errorf("H[%d,%d] = %g, the product gives %g", i, c, h[i*q+c], v)
			}
		}
		for i, v := range jv {
			if v != j[i*q+c] {
				t.Errorf("J[%d,%d] = %g, the product gives %g", i, c, j[i*q+c], v)
			}
		}
		again, _ := product(s, e)
		other, _ := product(dsbo.Sample{Set: dsbo.Curvature, K: 3, T: 2}, e)
		if !slices.Equal(hv, again) || slices.Equal(hv, other) {
			t.Error("draws: the same one must give the same answer, another one another")
		}
	}
}

// stepping is Step with the method in front.
type stepping func(a dsbo.Algorithm, ctx context.Context, k int, o dsbo.Oracle, m dsbo.Mixer) error

// A broken method spoils one thing of a good one.
type broken struct {
	algo.MADSBO
	step  stepping
	state func(s []dsbo.Named) []dsbo.Named
}

func (b *broken) Step(ctx context.Context, k int, o dsbo.Oracle, m dsbo.Mixer) error {
	if b.step == nil {
		return b.MADSBO.Step(ctx, k, o, m)
	}
	return b.step(&b.MADSBO, ctx, k, o, m)
}

func (b *broken) State() []dsbo.Named {
	if b.state == nil {
		return b.MADSBO.State()
	}
	return b.state(b.MADSBO.State())
}

// spoilers are broken methods by the subtest that has to find them.
func spoilers() map[string]broken {
	x, y, dst, calls := make([]float64, 3), make([]float64, 4), make([]float64, 4), 0.0
	before := func(what func(a dsbo.Algorithm, o dsbo.Oracle)) broken {
		return broken{step: func(a dsbo.Algorithm, ctx context.Context, k int, o dsbo.Oracle, m dsbo.Mixer) error {
			what(a, o)
			return a.Step(ctx, k, o, m)
		}}
	}
	ask := func(o dsbo.Oracle, dst []float64) { o.LowerGrad(dst, x, y, dsbo.Sample{Set: dsbo.Lower}) }
	return map[string]broken{
		"views": {state: func(s []dsbo.Named) []dsbo.Named { return s[1:] }},
		"resume": {state: func(s []dsbo.Named) []dsbo.Named {
			s[1].Value = make([]float64, len(s[1].Value))
			return s
		}},
		"no_allocation": before(func(dsbo.Algorithm, dsbo.Oracle) { dst = make([]float64, len(dst)) }),
		"cost":          before(func(_ dsbo.Algorithm, o dsbo.Oracle) { ask(o, dst) }),
		"oracle_calls":  before(func(_ dsbo.Algorithm, o dsbo.Oracle) { ask(o, y) }), // the destination is an input
		"same_bits":     before(func(a dsbo.Algorithm, _ dsbo.Oracle) { calls++; a.X()[0] += calls }),
		"mixer_error": {step: func(a dsbo.Algorithm, ctx context.Context, k int, o dsbo.Oracle, m dsbo.Mixer) error {
			if _, agents := m.Capabilities().Place(); agents == 1 { // as a division by the number of others does
				a.X()[0] = math.NaN()
			}
			return a.Step(ctx, k, o, m)
		}},
		"oracle_error": {step: func(a dsbo.Algorithm, ctx context.Context, k int, o dsbo.Oracle, m dsbo.Mixer) error {
			a.Step(ctx, k, o, m)
			return nil
		}},
	}
}

// TestBroken runs the suite on a broken method; it only does so in the child that
// TestSuiteFinds starts.
func TestBroken(t *testing.T) {
	name := os.Getenv("ALGOTEST_BROKEN")
	if name == "" {
		t.Skip("runs in a child process only")
	}
	spoil := spoilers()[name]
	algotest.TestMethod(t, func() algo.Method {
		b := spoil
		b.T, b.N = 2, 2
		return &b
	})
}

// TestSuiteFinds is the suite's own test: each broken method fails in its subtest.
func TestSuiteFinds(t *testing.T) {
	for name := range spoilers() {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBroken$")
			cmd.Env = append(os.Environ(), "ALGOTEST_BROKEN="+name)
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || !strings.Contains(string(out), "--- FAIL: TestBroken/"+name+" ") {
				t.Errorf("the suite did not find it (%v):\n%s", err, out)
			}
		})
	}
}

// TestMixerCounts: exchanges are counted, and the one of FailAt fails.
func TestMixerCounts(t *testing.T) {
	failure := errors.New("failure")
	m := algotest.NewMixers(algotest.Average(1))[0]
	m.FailAt, m.Err = 3, failure
	wide := []float64{1, 2, 3}
	testkit.OK(m.Mix(t.Context(), wide, wide))
	testkit.OK(m.Mix(t.Context(), wide, wide))
	if m.Messages != 2 || m.Floats != 6 || m.Longest != 3 {
		t.Errorf("%d messages of %d numbers, the longest of %d; there were 2 of 6, the longest of 3", m.Messages,
			m.Floats, m.Longest)
	}
	if err := m.Mix(t.Context(), wide, wide); err != failure {
		t.Errorf("the third exchange ends with %v; it must be %v", err, failure)
	}
}

// TestRecorderPassesOn: a recorder has the oracle's capabilities, but for one that it has no record
// of.
func TestRecorderPassesOn(t *testing.T) {
	algotest.CheckCapabilities(t, func(o dsbo.Oracle) dsbo.Oracle { return algotest.NewRecorder(o) }, "GaussNewton")
}
