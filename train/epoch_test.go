package train

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/membership"
	"dsbo/runs"
)

// TestStartOfEpochs: each epoch's solutions start elsewhere near the start of the problem, the same
// whenever the epoch is come to; in the first epoch it is the start itself.
func TestStartOfEpochs(t *testing.T) {
	p := &Problem{Start: []float64{1, 2, 3}, Oracles: []dsbo.Oracle{nil, algotest.NewQuadratics(1, 1, 3, 1)[0]}}
	p.Average.Seed = 5
	starts := map[int][]float64{}
	for _, number := range []int{0, 1, 2, 1, 0, 2} {
		p.setApart(membership.Epoch{Number: number, ID: []string{"", "a", "b"}[number]})
		if before := starts[number]; before != nil && !slices.Equal(before, p.Start) {
			t.Errorf("epoch %d starts at %v, and before at %v", number, p.Start, before)
		}
		starts[number] = slices.Clone(p.Start)
	}
	if first := starts[0]; !slices.Equal(first, []float64{1, 2, 3}) || slices.Equal(starts[1], first) ||
		slices.Equal(starts[2], starts[1]) {
		t.Errorf("starts %v", starts)
	}
}

// TestEpochBegun: what was evaluated before an epoch that begins after the last iteration, and is
// not followed by another one there, counts for nothing.
func TestEpochBegun(t *testing.T) {
	for _, c := range []struct {
		done int
		next int // iteration of the next epoch
		anew bool
	}{{5, 9, true}, {5, 5, false}, {4, 9, false}, {4, 4, false}} {
		r := &runner{evaluated: 3, stepper: &stepper{done: c.done}}
		r.Config = Config{K: 5, Membership: membership.Log{{Iteration: c.next}}}
		if r.epochBegun(); (r.evaluated < 0) != c.anew || !r.newEpoch || r.end != 5 {
			t.Errorf("%+v: evaluated %d, ends at %d", c, r.evaluated, r.end)
		}
	}
}

// TestIdentity: a checkpoint is of one start, one matrix of products and one mixing, and names each
// of these only where it is not the usual one.
func TestIdentity(t *testing.T) {
	of := func(change func(c *Config)) string {
		c := &Config{Method: testkit.Get(algo.New("dsoba"))}
		c.W = testkit.Get(network.New("ring", 3, network.Options{})).W
		change(c)
		return string(testkit.Get(c.identity(0)))
	}
	seen := map[string]string{}
	for name, change := range map[string]func(c *Config){
		"usual": func(*Config) {}, "matrix": func(c *Config) { c.Problem.Matrix = dsbo.DampedHessian },
		"start":  func(c *Config) { c.StartX = []float64{2, 2} },
		"other":  func(c *Config) { c.StartX = []float64{2, 3} },
		"turned": func(c *Config) { c.StartX = []float64{3, 2} }, "patience": func(c *Config) { c.Patience = 2 },
		"digest":                  func(c *Config) { c.Problem.Digests = []string{"a", "b", "c"} },
		"digest of a later agent": func(c *Config) { c.Problem.Digests = []string{"a", "b", "d", "e"} },
	} {
		got := of(change)
		if before := seen[got]; before != "" {
			t.Errorf("%s has the identity of %s", name, before)
		}
		seen[got] = name
	}
	c := &Config{}
	for want, x := range map[string][]float64{"0": nil, "2": {2, 2}, "-1.5": {-1.5}} {
		if c.StartX = x; fmt.Sprint(c.startDigest()) != want {
			t.Errorf("the start %v is told as %v", x, c.startDigest())
		}
	}
}

// TestRises: of n examples a loss is above another by more than chance from 2.9/1.96 of Student's
// quantile of 97.5 % on, in standard errors.
func TestRises(t *testing.T) {
	for n, bound := range map[int]float64{2: 18.8, 31: 3.0217, 1 << 20: 2.9} {
		for share, want := range map[float64]bool{1.001: true, .999: false, -2: false} {
			g := runs.Gain{Examples: n, LossError: .5, LossChange: runs.Number(.5 * share * bound)}
			if rises(g) != want {
				t.Errorf("%d examples, %g of %g errors: %t", n, share, bound, !want)
			}
		}
	}
	if rises(runs.Gain{Examples: 9}) {
		t.Error("a loss that is the same rises")
	}
}

// TestLeastEigenvalues: they are found at the start, at the record in the middle and at the end of
// runs that may not be convex, and of damped Hessians at each record.
func TestLeastEigenvalues(t *testing.T) {
	for _, c := range []struct{ every, last, middle int }{{1, 3, 2}, {1, 4, 2}, {1, 5, 3}, {3, 12, 6}} {
		of := Config{K: c.last, EvalEvery: c.every, Evaluate: EvaluateExact}
		of.Problem.Nonconvex, of.Problem.Evaluate = true, []dsbo.ValueOracle{nil}
		var at []int
		for k := range c.last + 1 {
			if of.LeastEigenvalueAt(k) {
				at = append(at, k)
			}
		}
		if !slices.Equal(at, []int{0, c.middle, c.last}) {
			t.Errorf("%+v: at %v", c, at)
		}
		if of.Problem.Matrix = dsbo.DampedHessian; !of.LeastEigenvalueAt(1) {
			t.Error("not of a damped Hessian")
		}
		if of.Problem.Matrix, of.Problem.Nonconvex = dsbo.Hessian, false; of.LeastEigenvalueAt(0) {
			t.Error("of a convex problem")
		}
	}
}

// stepsOf is a method that has some steps.
type stepsOf struct {
	algo.Search
	Alpha, Beta, Gamma algo.Schedule
}

func (*stepsOf) Init(_, _, _ int) error { return nil }

// TestHasSteps: a method has steps where one of y or z is there, or one of x follows the curvature;
// one that cannot begin has none, and none at all is MA-DSBO.
func TestHasSteps(t *testing.T) {
	for _, c := range []struct {
		m    algo.Method
		want bool
	}{{&algo.MADSBO{T: 1, N: 1, Alpha: "1", Beta: "1", Gamma: "1"}, true}, {&algo.DSOBA{Alpha: "1", Beta: "1"}, true},
		{testkit.Get(algo.New("newtoncg")), false}, {&stepsOf{Gamma: "1"}, true}, {&stepsOf{Alpha: "1"}, false},
		{&stepsOf{Alpha: "2/L"}, true}, {&algo.MADSBO{Alpha: "-1", Beta: "1"}, false}, {nil, true}} {
		if got := (Config{K: 3, Method: c.m}).HasSteps(); got != c.want {
			t.Errorf("%T: %t", c.m, got)
		}
	}
}

// TestAdvise: steps of one agent stay below 2/L, with a margin, by the largest L of 10 + 5 |x|
// where the run diverged and in the box of x; a smaller box is advised where a part of it, in
// eighths, keeps L below the mean of start and end, and steps are stable at the start.
func TestAdvise(t *testing.T) {
	w := testkit.Get(network.New("complete", 1, network.Options{})).W
	steps := func(box ...float64) algo.Method {
		return &algo.Tuned{T: 1, N: 1, Alpha: "1", Beta: "0.1", Gamma: "0.1", XStep: "adam", Lr: "0.1", Clip: box}
	}
	const unknown, small = 0, "the steps of y and z are stable "
	for _, c := range []struct {
		m           algo.Method
		first, last float64 // curvature at the start, and x at the end
		want        string
	}{
		{testkit.Get(algo.New("newtoncg")), 10, 4, ""},
		{steps(), unknown, math.NaN(), ""},
		{steps(), 40, math.NaN(), "stable with L_max = 40 at the start: beta=0.038 gamma=0.038"},
		{steps(-8, 8), 40, math.NaN(), "stable with L_max = 40 at the start: beta=0.038 gamma=0.038"},
		{steps(), 10, 6, "stable with L_max = 40 where it diverged: beta=0.038 gamma=0.038"},
		{steps(), 10, 1, small + "where it diverged, with L_max = 15: lr, the step of x, must be smaller"},
		{steps(-.5, 1.2), 10, 1, small + "in the box of x, with L_max = 16: lr, the step of x, must be smaller"},
		{steps(-8, 8), 10, 4, "stable with L_max = 50 in the box of x: beta=0.03 gamma=0.03, or clip=[-2,2]"},
		{steps(-8, 8), unknown, 4, "stable with L_max = 50 in the box of x: beta=0.03 gamma=0.03, or clip=[-2,2]"},
		{steps(-8, 8), 25, 4, "stable with L_max = 50 in the box of x: beta=0.03 gamma=0.03"},
		{steps(-2, 2), 10, 4, "stable with L_max = 30 in the box of x: beta=0.051 gamma=0.051"},
		{steps(-80, 80), 10, 4, "stable with L_max = 410 in the box of x: beta=0.0037 gamma=0.0037"},
	} {
		config := Config{K: 3, W: w, Method: c.m, Start: Start{Curvature: c.first}, p: 1}
		got := config.advise(0, func(int) []float64 { return []float64{c.last} },
			func(x func(i int) []float64) float64 {
				if math.IsNaN(c.last) {
					return 0
				}
				return 10 + 5*math.Abs(x(0)[0])
			})
		if got != c.want {
			t.Errorf("first L %g, last x %g, box %v: advice %q, want %q", c.first, c.last, config.Box(), got, c.want)
		}
	}
}

// TestPairs: gains are on sets that have examples, of models that are compared on the same ones.
func TestPairs(t *testing.T) {
	of := func(n int) Problem {
		p := Problem{Oracles: []dsbo.Oracle{algotest.NewQuadratics(1, 1, 1, 1)[0]}}
		p.Each = func(_ int, set Set, m Fit) (e Each, err error) {
			if set == ValSet {
				e.Losses = slices.Repeat(m.Y, n)
			}
			return e, nil
		}
		return p
	}
	gains := testkit.Get(of(1).Compare(t.Context(), Fit{Y: []float64{3}}, of(1), Fit{Y: []float64{1}}))
	if len(gains) != 1 || gains[0].Set != runs.Validation || gains[0].Examples != 1 || gains[0].LossChange != 2 {
		t.Errorf("gains %+v", gains)
	}
	_, err := of(1).Compare(t.Context(), Fit{Y: []float64{3}}, of(2), Fit{Y: []float64{1}})
	testkit.WantError(t, "two examples and one", err, dsbo.ErrShape, "compared on the same examples")
}

// TestLatestEpoch: an epoch begins at the last iteration at the latest.
func TestLatestEpoch(t *testing.T) {
	w := testkit.Get(network.New("ring", 3, network.Options{})).W
	l := membership.Log{{Epoch: 1, Iteration: 5, Members: []int{0, 1}}}
	if all := testkit.Get(EpochMatrices(l, w, 5)); len(all) != 2 || all[1].N() != 2 {
		t.Errorf("%d epochs", len(all))
	}
	_, err := EpochMatrices(l, w, 4)
	testkit.WantError(t, "after the last iteration", err, dsbo.ErrConfig, "must begin at iteration K = 4 at the latest")
	c := Config{Membership: l, W: w, K: 5, Method: struct{ algo.Method }{testkit.Get(algo.New("dsoba"))}}
	c.Problem.Oracles = make([]dsbo.Oracle, 3)
	testkit.WantError(t, "no way on", c.checkMembership(), dsbo.ErrCapability, "does not say how it goes on")
	c.Problem.Oracles = c.Problem.Oracles[:2]
	testkit.WantError(t, "two of three", c.checkMembership(), dsbo.ErrConfig, "of the roster's 3 agents; it is of 2")
}

// TestBegan: a folder without a checkpoint has begun with nothing, and without records the last one
// is none.
func TestBegan(t *testing.T) {
	if k, settings := Began(runs.Folder(t.TempDir())); k != 0 || settings != nil {
		t.Errorf("begun with K = %d and %s", k, settings)
	}
	r := &Result{}
	if r.Last().Iteration != 0 {
		t.Error("a record of no run")
	}
	if r.Records = []runs.Record{{Iteration: 2}}; r.Last().Iteration != 2 {
		t.Errorf("the last record is %+v", r.Last())
	}
}

// TestAgreed: all processes stop where one is to, and name the earliest divergence, of several the
// first agent's, by its number in the roster; an error that is none comes before.
func TestAgreed(t *testing.T) {
	of := func(iteration int, quantity string) error {
		return &dsbo.DivergedError{Iteration: iteration, Quantity: quantity, Value: 1e9}
	}
	x, z, own, failed := of(7, "norm of x"), of(5, "norm of z"), of(3, "μ"), errors.New("failed")
	for name, c := range map[string]struct {
		stops bool
		errs  []error
		want  string // agent, iteration and quantity; or the error
	}{
		"none":             {false, []error{nil, nil, nil}, ""},
		"stops":            {true, []error{nil, nil, nil}, ""},
		"one":              {false, []error{nil, x, nil}, "2 7 norm of x"},
		"the earlier":      {false, []error{nil, x, z}, "5 5 norm of z"},
		"the earlier, too": {true, []error{z, x, nil}, "0 5 norm of z"},
		"both":             {false, []error{nil, z, of(5, "norm of y")}, "2 5 norm of z"},
		"of its own":       {false, []error{x, own, z}, "2 3 something of the method's own"},
		"at once":          {false, []error{nil, x, of(0, "norm of y")}, "5 0 norm of y"},
		"failed":           {true, []error{x, failed, nil}, "failed"},
	} {
		g := network.NewGroup(network.GroupConfig{N: 3, Numbers: []int{0, 2, 5}})
		s := &stepper{Group: g, agents: []*agent{{mixer: new(meteredMixer)}, {mixer: new(meteredMixer)},
			{mixer: new(meteredMixer)}}}
		stop, first, err := s.agreeAll(t.Context(), c.stops, c.errs)
		got := ""
		if first != nil {
			if got = fmt.Sprintf("%d %d %s", first.Agent, first.Iteration, first.Quantity); first.Value != 1e9 {
				t.Errorf("%s: value %g", name, first.Value)
			}
		}
		if err != nil {
			got = err.Error()
		}
		if got != c.want || stop != (c.stops && err == nil) {
			t.Errorf("%s: %q, stop %t", name, got, stop)
		}
	}
}
