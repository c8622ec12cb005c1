package train_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"dsbo"
	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/runs"
	"dsbo/train"
	"dsbo/train/exact"
)

func TestMain(m *testing.M) {
	testkit.SmallRuns()
	testkit.InMemory()
	goleak.VerifyTestMain(m)
}

func run(t *testing.T, c train.Config) *train.Result {
	t.Helper()
	return testkit.Get(train.Run(context.Background(), c))
}

// TestPersonalizedValues: where each agent has its own y*, a record's Φ, gradient and distances are
// means over the agents' own, and the residual is the largest.
func TestPersonalizedValues(t *testing.T) {
	c, qs := config(t)
	c.Method, c.K, c.EvalEvery, c.Tol = method(t, "pdsbo_gossip"), 1, 1, 1e-2
	x, start := make([]float64, qs[0].P), slices.Repeat([]float64{1}, qs[0].Q)
	c.Problem.Start = start
	got := run(t, c).Records[0]
	var phi, off, size, residual float64
	gradient := make([]float64, len(x))
	for i, q := range qs {
		own := algotest.Solve(qs[i : i+1])
		y := own.LowerSolution(x)
		upper, _, err := q.Values(x, y, dsbo.Sample{Set: dsbo.Whole})
		testkit.OK(err)
		phi, off, size = phi+upper/float64(len(qs)), off+linalg.Dist2(start, y), size+linalg.Dot(y, y)
		linalg.Axpy(gradient, 1/float64(len(qs)), own.Gradient(x))
		solver := exact.Solver{Oracles: []dsbo.ValueOracle{q}, Start: start, Tol: c.Tol, AdjointTol: c.AdjointTol}
		residual = max(residual, testkit.Get(solver.Solve(t.Context(), x)).Residual)
	}
	for name, of := range map[string]struct{ got, want, tol float64 }{ // a residual below .01 leaves less
		"phi": {float64(got.Phi), phi, 1e-3}, "gradient": {float64(got.GradNorm), linalg.Norm(gradient), 1e-2},
		"lower_error":    {float64(got.LowerError), math.Sqrt(off / size), 1e-2},
		"lower_residual": {float64(got.LowerResidual), residual, 1e-12},
	} {
		if !(math.Abs(of.got/of.want-1) <= of.tol) {
			t.Errorf("%s is %g, want %g", name, of.got, of.want)
		}
	}
}

// TestRunEvaluates: records come when they should, and say what an independent look at the
// result says.
func TestRunEvaluates(t *testing.T) {
	c, qs := config(t)
	steps := 0
	c.OnIteration = func(done int) {
		if steps++; done != steps {
			t.Errorf("iteration %d reported as %d", steps, done)
		}
	}
	r := run(t, c)
	var at []int
	for _, rec := range r.Records {
		at = append(at, rec.Iteration)
	}
	if diff := cmp.Diff([]int{0, 8, 16, 24, 32, 40}, at); diff != "" {
		t.Errorf("records at other iterations (-want +got):\n%s", diff)
	}
	if steps != 40 || r.Iterations != 40 {
		t.Errorf("%d iterations reported, %d done, want 40", steps, r.Iterations)
	}
	last := r.Last()
	grad := algotest.Solve(qs).Gradient(r.X)
	near(t, "grad_norm", []float64{float64(last.GradNorm)}, []float64{linalg.Norm(grad)}, 1e-10)
	y := algotest.Solve(qs).LowerSolution(r.X)
	near(t, "lower_error", []float64{float64(last.LowerError)},
		[]float64{math.Sqrt(linalg.Dist2(r.Y, y)) / linalg.Norm(y)}, 1e-10)
	if first := r.Records[0]; last.Phi >= first.Phi || first.HypergradientError.Known() ||
		first.MsPerIteration.Known() {
		t.Errorf("Φ from %v to %v; hypergradient error %v before the first iteration", first.Phi, last.Phi,
			first.HypergradientError)
	}
	if !(last.ConsensusX > 0 && last.ConsensusZ > 0) || last.TestLoss.Known() || !last.HypergradientError.Known() ||
		last.LeastEigenvalue.Known() {
		t.Errorf("unlikely record %+v", last)
	}
	if len(r.Best.Z) != len(r.Y) || !(linalg.Norm(r.Best.Z) > 0) {
		t.Errorf("z of the best iterate is %v", r.Best.Z)
	}
	if first := r.Records[1].EvaluationSent.Bytes; first <= 0 || first >= last.EvaluationSent.Bytes ||
		last.EvaluationSent.Bytes > r.Evaluation.Bytes {
		t.Errorf("evaluations sent %+v, in all %+v, at first %+v", last.EvaluationSent, r.Evaluation,
			r.Records[1].EvaluationSent)
	}
}

// TestWhenRecordsAreExact: on float64 all records have exact values, on float32 the first one after
// the start, after each quarter and at the end, or with ExactEach all, on narrower wires and where
// the lower problem may not be convex none. Least eigenvalues are at the start, in the middle and
// at the end.
func TestWhenRecordsAreExact(t *testing.T) {
	all := []int{0, 10, 20, 30, 40, 45}
	var none []int
	for name, c := range map[string]struct {
		wire         network.Wire
		nonconvex    bool
		each         bool
		matrix       dsbo.CurvatureMatrix
		every        int
		exact, least []int
	}{
		"float64":             {network.Float64, false, false, dsbo.Hessian, 10, all, none},
		"float32":             {network.Float32, false, false, dsbo.Hessian, 3, []int{3, 12, 24, 36, 45}, none},
		"float32, few":        {network.Float32, false, false, dsbo.Hessian, 45, []int{45}, none},
		"float32, three":      {network.Float32, false, false, dsbo.Hessian, 23, []int{23, 45}, none},
		"float32, each":       {network.Float32, false, true, dsbo.Hessian, 10, all, none},
		"bf16, each":          {network.BF16, false, true, dsbo.Hessian, 10, none, none},
		"not convex":          {network.Float64, true, false, dsbo.Hessian, 10, none, []int{0, 20, 45}},
		"not convex, damped":  {network.Float64, true, false, dsbo.DampedHessian, 10, none, all},
		"float32, not convex": {network.Float32, true, true, dsbo.Hessian, 10, none, []int{0, 20, 45}},
	} {
		config, _ := config(t)
		config.K, config.EvalEvery, config.ExactEach = 45, c.every, c.each
		config.Problem.Average.Wire, config.Problem.Nonconvex, config.Problem.Matrix = c.wire, c.nonconvex, c.matrix
		config = config.WithDefaults()
		var exact, least []int
		for _, k := range config.RecordedIterations() {
			if config.ExactAt(k) {
				exact = append(exact, k)
			}
			if config.LeastEigenvalueAt(k) {
				least = append(least, k)
			}
		}
		if !slices.Equal(exact, c.exact) || !slices.Equal(least, c.least) {
			t.Errorf("%s: exact values at %v, want %v; least eigenvalues at %v, want %v", name, exact, c.exact, least,
				c.least)
		}
	}
}

// TestDefaults: ten evaluations, and checkpoints no oftener than they or ten times.
func TestDefaults(t *testing.T) {
	for _, c := range []struct{ k, every, K, EvalEvery, CheckpointEvery int }{
		{0, 0, 100, 10, 10}, {15, 0, 15, 2, 2}, {100, 1, 100, 1, 10}, {100, 30, 100, 30, 30}, {1, 0, 1, 1, 1},
	} {
		got := train.Config{K: c.k, EvalEvery: c.every}.WithDefaults()
		if got.K != c.K || got.EvalEvery != c.EvalEvery || got.CheckpointEvery != c.CheckpointEvery ||
			got.DenseLimit != 4<<30 {
			t.Errorf("K %d, evaluations every %d: %d, %d, checkpoints every %d; %d bytes for matrices", c.k, c.every,
				got.K, got.EvalEvery, got.CheckpointEvery, got.DenseLimit)
		}
	}
}

// TestRunCounts: what is counted is what the method's formula says.
func TestRunCounts(t *testing.T) {
	c, _ := config(t)
	last := run(t, c).Last()
	testkit.OK(c.Method.Init(p, q, c.K))
	cost := c.Method.Cost(0)
	const all = agents * 40
	got := []int64{int64(last.UpperGrad), int64(last.LowerGrad), int64(last.HVP), int64(last.JVP), last.Messages,
		last.Floats, last.Bytes}
	floats := int64(2 * all * cost.Floats) // to each of two neighbours
	want := []int64{all * int64(cost.UpperGrad), all * int64(cost.LowerGrad), all * int64(cost.HVP),
		all * int64(cost.JVP), 2 * all * int64(cost.Messages), floats, 8 * floats}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("counts differ (-want +got):\n%s", diff)
	}
}

// TestSameBits: neither the number of processors nor how often the run is stopped for evaluation
// changes a bit.
func TestSameBits(t *testing.T) {
	c, _ := config(t)
	want := run(t, c)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, procs := range []int{1, 3} {
		runtime.GOMAXPROCS(procs)
		got := run(t, c)
		sameRun(t, want, got)
	}
	c.EvalEvery = 1
	got := run(t, c)
	if diff := cmp.Diff(want.X, got.X); diff != "" {
		t.Errorf("evaluating more often changed x:\n%s", diff)
	}
}

// sameRun compares all but the times.
func sameRun(t *testing.T, want, got *train.Result) {
	t.Helper()
	if diff := cmp.Diff([][]float64{want.X, want.Y}, [][]float64{got.X, got.Y}); diff != "" {
		t.Errorf("x or y differ:\n%s", diff)
	}
	if len(want.Records) != len(got.Records) {
		t.Fatalf("%d records, want %d", len(got.Records), len(want.Records))
	}
	for i := range want.Records {
		if diff := cmp.Diff(want.Records[i].Timeless(), got.Records[i].Timeless(), nanEqual); diff != "" {
			t.Errorf("record %d differs:\n%s", i, diff)
		}
	}
}

var nanEqual = cmp.Comparer(func(a, b runs.Number) bool {
	return math.Float64bits(float64(a)) == math.Float64bits(float64(b)) || a != a && b != b
})

func TestMethodsRun(t *testing.T) {
	c, _ := config(t)
	c.K, c.EvalEvery = 4, 2
	complete := testkit.Get(network.Server(agents))
	for _, name := range algo.Names() {
		t.Run(name, func(t *testing.T) {
			c := c
			c.Method = method(t, name)
			if name == "newtoncg" {
				c.Method = method(t, name, `init="x0"`) // quadratics have no penalty by which a start could be found
			}
			info := algo.TraitsOf(c.Method)
			if info.ExactAverage {
				if err := c.Validate(); !errors.Is(err, dsbo.ErrConfig) {
					t.Errorf("%v, want that a ring is refused", err)
				}
				c.W = complete.W
			}
			if info.OneAgent {
				if err := c.Validate(); !errors.Is(err, dsbo.ErrCapability) {
					t.Errorf("%v, want that %d agents are refused", err, agents)
				}
				one := testkit.Get(network.Ring(1, 0))
				c.W, c.Problem.Oracles, c.Problem.Evaluate = one.W, c.Problem.Oracles[:1], c.Problem.Evaluate[:1]
			}
			if r := run(t, c); !r.Last().Phi.Known() || r.Iterations != 4 {
				t.Errorf("ended after %d iterations with %+v", r.Iterations, r.Last())
			}
			if info.Dense != nil {
				c.DenseLimit = 100
				if err := c.Validate(); !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), "GiB") {
					t.Errorf("%v, want that the memory is refused", err)
				}
			}
		})
	}
}

// TestDivergence: the error names the same agent and iteration whatever the scheduling, and what
// would be stable.
func TestDivergence(t *testing.T) {
	c, _ := config(t)
	c.Method = method(t, "madsbo", "beta=5")
	c.MaxNorm = 1e6
	var first string
	for range 2 {
		_, err := train.Run(context.Background(), c)
		var d *dsbo.DivergedError
		if !errors.As(err, &d) || !errors.Is(err, dsbo.ErrDiverged) {
			t.Fatalf("%v, want divergence", err)
		}
		if d.Quantity != "norm of y" || !(d.Value > 1e6) || !strings.Contains(d.Advice, ": beta=") {
			t.Errorf("%v, want y above 1e6 and a better beta", err)
		}
		if first == "" {
			first = err.Error()
		}
		if err.Error() != first {
			t.Errorf("%v, before: %s", err, first)
		}
	}
}

// TestOracleFailure: one agent's failure ends the run for all, and is the error returned.
func TestOracleFailure(t *testing.T) {
	c, _ := config(t)
	lost := errors.New("the data are gone")
	c.Problem.Oracles[3] = &hooked{ValueOracle: c.Problem.Evaluate[3], hvp: after(30, lost)}
	r, err := train.Run(context.Background(), c)
	if !errors.Is(err, lost) || !strings.HasPrefix(err.Error(), "agent 3: madsbo: iteration 7") {
		t.Errorf("%v, want the failure of agent 3", err)
	}
	if len(r.Records) != 1 {
		t.Errorf("%d records, want the one before", len(r.Records))
	}
}

func TestConfigErrors(t *testing.T) {
	good, _ := config(t)
	for _, c := range []struct {
		name, want string
		change     func(c *train.Config)
	}{
		{"no problem", "must have an oracle for each agent", func(c *train.Config) { c.Problem = train.Problem{} }},
		{"step", "alpha must be in (0, 1]; it is -1", func(c *train.Config) { c.Method = &algo.MADSBO{Alpha: "-1"} }},
		{"start of x", "p = 3", func(c *train.Config) { c.StartX = make([]float64, 2) }},
		{"NaN in it", "must be finite", func(c *train.Config) { c.StartX = []float64{1, math.NaN(), 2} }},
		{"iterations", "iterations must be at least 1, or 0 for the default; it is -1",
			func(c *train.Config) { c.K = -1 }},
		{"evaluation", "evaluate must be exact or off; it is never",
			func(c *train.Config) { c.Evaluate = "never" }},
		{"graph", "mixing matrix", func(c *train.Config) { c.W = nil }},
		{"resume", "folder", func(c *train.Config) { c.Resume = true }},
		{"agents", "mixing matrix must be of the problem's 4 agents; it is of 5", func(c *train.Config) {
			c.Problem.Oracles, c.Problem.Evaluate = c.Problem.Oracles[:4], c.Problem.Evaluate[:4]
		}},
		{"start", "q = 6", func(c *train.Config) { c.Problem.Start = make([]float64, 2) }},
	} {
		bad := good
		c.change(&bad)
		if _, err := train.Run(context.Background(), bad); err == nil || !strings.Contains(err.Error(), c.want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line with %q", c.name, err, c.want)
		}
	}
}

// TestStart: every agent begins at the problem's start, without momentum towards it.
func TestStart(t *testing.T) {
	c, _ := config(t)
	c.Problem.Start = []float64{1, 2, 3, 4, 5, 6}
	c.Method, c.K = &algo.Tuned{MomY: 0.9, T: 1, Beta: "1e-9"}, 1
	r := run(t, c)
	near(t, "y after a tiny step", r.Y, c.Problem.Start, 1e-7) // the gradient is below 100
	if r.Records[0].ConsensusY != 0 {
		t.Errorf("consensus %v at the start, want 0", r.Records[0].ConsensusY)
	}
}

// TestSecondY: the z of a method with a penalty is a second y, which starts where y does.
func TestSecondY(t *testing.T) {
	c, _ := config(t)
	c.Problem.Start = []float64{1, 2, 3, 4, 5, 6}
	const tiny = "1e-9"
	for _, m := range []algo.Method{&algo.DBIFO{Alpha: tiny, Beta: tiny, Gamma: tiny},
		&algo.C2DFB{Alpha: tiny, Beta: tiny, Gamma: tiny}, &algo.FAB{Alpha: tiny, Beta: tiny, Gamma: tiny}} {
		c.Method, c.K = m, 1
		for _, v := range run(t, c).Method.State() {
			if v.Name == "z" {
				near(t, "z after a tiny step", v.Value, c.Problem.Start, 1e-5) // λ times a gradient below 100
			}
		}
	}
}

// TestNothingToCompare: without losses of single examples of either there are no gains.
func TestNothingToCompare(t *testing.T) {
	p := withLosses(raisedBy(6, 1)).Problem
	without := p
	without.Each = nil
	for _, pair := range [][2]train.Problem{{p, without}, {without, p}} {
		gains, err := pair[0].Compare(t.Context(), train.Fit{Y: []float64{0}}, pair[1], train.Fit{Y: []float64{1}})
		if gains != nil || err != nil {
			t.Errorf("gains %+v, error %v", gains, err)
		}
	}
}
