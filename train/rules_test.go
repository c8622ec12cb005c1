package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"dsbo"
	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/membership"
	"dsbo/network/networktest"
	"dsbo/runs"
)

// threeAgents returns a stepper of agents without a method, of which some have seen the exchange
// fail.
func threeAgents(l layout, alike bool, failed ...int) *stepper {
	s := &stepper{Group: network.NewGroup(network.GroupConfig{N: 3}), layout: l, alike: alike}
	for range 3 {
		s.agents = append(s.agents, &agent{mixer: new(meteredMixer)})
	}
	for _, i := range failed {
		s.agents[i].mixer.failed = true
	}
	return s
}

// TestFailure: an error of an agent's own comes before errors of the exchange, which it has
// ended, and of these the first one; a divergence is none, but where the exchange failed.
func TestFailure(t *testing.T) {
	own, closed, later := errors.New("own"), errors.New("closed"), errors.New("closed later")
	diverged := &dsbo.DivergedError{}
	for name, c := range map[string]struct {
		errs   []error
		failed []int
		want   error
	}{
		"none":                   {[]error{nil, nil, nil}, nil, nil},
		"diverged":               {[]error{nil, diverged, nil}, nil, nil},
		"of the exchange":        {[]error{nil, closed, later}, []int{1, 2}, closed},
		"own, after":             {[]error{closed, nil, own}, []int{0}, own},
		"diverged elsewhere":     {[]error{nil, nil, diverged}, []int{2}, diverged},
		"own beside a diverging": {[]error{diverged, own, nil}, nil, own},
	} {
		if got := threeAgents(layout{}, false, c.failed...).failure(c.errs); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestWhoAgrees: agents of one process stop where they are interrupted; of one state that may come
// back know alone that they diverge, and how; others ask all. An interrupted agent that may come
// back ends the session.
func TestWhoAgrees(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	own := &dsbo.DivergedError{Iteration: 4, Quantity: "μ", Value: 1e9}
	closed := errors.New("closed")
	ranks, sessions := layout{local: []int{0, 1, 2}}, layout{local: []int{0, 1, 2}, returns: true}
	for name, c := range map[string]struct {
		of    layout
		alike bool
		ctx   context.Context
		err   error  // of the second agent
		want  string // whether all stop, what diverged, and the error
	}{
		"one process":              {layout{}, false, t.Context(), nil, "false"},
		"one process, ended":       {layout{}, false, ended, nil, "true"},
		"one process, failed":      {layout{}, false, t.Context(), closed, "false; closed"},
		"one process, both":        {layout{}, false, ended, closed, "false; interrupted in iteration 7"},
		"one process, diverged":    {layout{}, true, t.Context(), own, "false; μ"},
		"ranks":                    {ranks, true, t.Context(), nil, "false"},
		"ranks, ended":             {ranks, true, ended, nil, "true"},
		"ranks, diverged":          {ranks, true, t.Context(), own, "false; something of the method's own"},
		"sessions":                 {sessions, false, t.Context(), nil, "false"},
		"sessions, ended":          {sessions, false, ended, nil, "false; context canceled"},
		"sessions, diverged":       {sessions, false, t.Context(), own, "false; something of the method's own"},
		"sessions, alike":          {sessions, true, t.Context(), nil, "false"},
		"sessions, alike, ended":   {sessions, true, ended, nil, "false; context canceled"},
		"sessions, alike, diverge": {sessions, true, t.Context(), own, "false; μ"},
	} {
		s := threeAgents(c.of, c.alike)
		s.done = 7
		stop, first, err := s.agree(c.ctx, s, []error{nil, c.err, nil})
		got := fmt.Sprint(stop)
		if first != nil {
			got += "; " + first.Quantity
		}
		if err != nil {
			text, _, _ := strings.Cut(err.Error(), ":")
			got += "; " + text
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestDisagreement: agents that have not what most of all have are named; where no more than half
// have the same, all digests are.
func TestDisagreement(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   string
	}{
		{[]float64{1, 2, 1}, "after iteration 7 agents [1] have another x than the others: they must"},
		{[]float64{3, 2, 1}, "after iteration 7 agents have not the same x, and fewer than half agree; their digests"},
	} {
		e := &evaluator{stepper: threeAgents(layout{}, true)}
		e.done = 7
		err := e.disagreement(t.Context(), "x", func(i int) []float64 { return c.values[i : i+1] })
		if !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.values, err, c.want)
		}
	}
}

// A large oracle gives whole matrices, which are never asked for, but those that it lacks.
type large struct {
	dsbo.Oracle
	lacks string
}

func (large) Dims() (p, q int) { return 1 << 10, 1 << 14 }

func (o large) Capabilities() *dsbo.OracleCapabilities {
	dense := func(_, _, _ []float64, _ dsbo.Sample) error { return nil }
	c := &dsbo.OracleCapabilities{Of: o, Hessian: dense, Jacobian: dense}
	switch o.lacks {
	case "Hessian":
		c.Hessian = nil
	case "Jacobian":
		c.Jacobian = nil
	}
	return c
}

// TestMatricesFit: a method with whole matrices is refused where oracles lack one of them, or the
// matrices of all agents here are above the limit: with N = 2, 8 (4q² + 4pq) bytes each, which is
// (8 + 0.5) GiB; a Hessian of 8q² bytes is 2 GiB.
func TestMatricesFit(t *testing.T) {
	c := Config{Method: &algo.GBDSBO{N: 2, L: "10"}, K: 1, W: testkit.Get(network.Ring(2, 0.5)).W}
	c.Problem.Oracles = []dsbo.Oracle{large{}, large{}}
	testkit.WantError(t, "the default limit", c.Validate(), dsbo.ErrConfig,
		"take 17.0 GiB for 2 agents with p=1024 and q=16384 (one Hessian is 2048.0 MiB): the limit is 4.0 GiB")
	c.DenseLimit = 17 << 30
	if err := c.Validate(); err != nil {
		t.Errorf("as large as the limit: %v", err)
	}
	c.W, c.Problem.Oracles, c.DenseLimit = testkit.Get(network.New("complete", 1, network.Options{})).W,
		c.Problem.Oracles[:1], 17<<29-1
	testkit.WantError(t, "one agent", c.Validate(), dsbo.ErrConfig, "take 8.5 GiB for 1 agent ")
	for _, lacks := range []string{"Hessian", "Jacobian"} {
		c.Problem.Oracles, c.DenseLimit = []dsbo.Oracle{large{lacks: lacks}}, 17<<30
		testkit.WantError(t, "no "+lacks, c.Validate(), dsbo.ErrCapability, "needs whole Hessians and Jacobians")
	}
}

// TestFirstEpoch: a run that does not resume begins in the first epoch, and looks for no
// checkpoint.
func TestFirstEpoch(t *testing.T) {
	c := Config{Method: testkit.Get(algo.New("newtoncg")), K: 9, W: testkit.Get(network.Ring(3, 0.5)).W,
		Membership: membership.Log{{Epoch: 1, Iteration: 5, Members: []int{0, 1}}}, Dir: t.TempDir(), From: new(Point)}
	c.Problem.Oracles = make([]dsbo.Oracle, 3)
	if got := testkit.Get(c.startEpoch()); got.W.N() != 3 {
		t.Errorf("begins with %d agents", got.W.N())
	}
}

// TestTimesOfShared: of the time of three agents' one method, each has spent a third of what is not
// its oracle's.
func TestTimesOfShared(t *testing.T) {
	s := &shared{agents: threeAgents(layout{}, true).agents, busy: 9 * time.Second}
	s.terms.Store(int64(min(3, runtime.GOMAXPROCS(0))) * int64(6*time.Second))
	s.agents[0].allSteps = 15 * time.Second
	if mix, algebra := s.times(); mix != time.Second || algebra != 2*time.Second {
		t.Errorf("mixed for %v, own algebra for %v", mix, algebra)
	}
}

// TestOnlyDrawn: Φ is only drawn where held-out examples choose the iterate, averages travel in
// float32, and nobody asks for each value.
func TestOnlyDrawn(t *testing.T) {
	for _, c := range []struct {
		heldOut, each bool
		wire          network.Wire
		want          bool
	}{
		{true, false, network.Float32, true}, {false, false, network.Float32, false},
		{true, true, network.Float32, false}, {true, false, network.Float64, false},
	} {
		of := Config{HeldOut: c.heldOut, ExactEach: c.each}
		if of.Problem.Average.Wire = c.wire; of.drawsAlone() != c.want {
			t.Errorf("%+v: %t", c, !c.want)
		}
	}
}

// TestSameBest: processes that have not the same best iterate end the run, whatever the method, and
// agents of one state those that have not the same x or y.
func TestSameBest(t *testing.T) {
	const best = 4
	for differs, name := range []string{"x", "y", "z", "u", "iteration or best iterate"} {
		for _, alike := range []bool{false, true} {
			teams, closeAll := networktest.Processes(testkit.Get(network.Ring(2, 0.5)).W, []int{0}, []int{1})
			errs := networktest.RunAll(2, func(i int) error {
				m := &algo.MADSBO{}
				testkit.OK(m.Init(1, 1, 1))
				a, of := &agent{alg: m}, make([]float64, 4)
				s := &stepper{Group: network.NewGroup(network.GroupConfig{N: 2, Team: teams[i]}),
					agents: make([]*agent, 2), alike: alike}
				s.agents[i] = a
				e := &evaluator{stepper: s, bestState: newBestState(1, 1)}
				e.means = means{x: of[:1], y: of[1:2], z: of[2:3], u: of[3:]}
				[][]float64{a.x(), a.y(), a.z(), a.u(), e.bestState.head[headRose:]}[differs][0] = float64(i)
				return e.findMeans(t.Context())
			})
			closeAll()
			for _, err := range errs {
				if differs == best || alike && differs < 2 {
					testkit.WantError(t, "other records have risen", err, nil, "have not the same "+name)
				} else if err != nil {
					t.Errorf("%s is another one, alike %t: %v", name, alike, err)
				}
			}
		}
	}
}

// TestTimesStay: the times of an agent that has a folder of its own stay there; ranks share a
// folder, which has them.
func TestTimesStay(t *testing.T) {
	spent := runs.Usage{Calls: dsbo.Calls{HVP: 3}, Times: runs.Times{MixSeconds: 2}}
	for returns, want := range map[bool]float64{true: 0, false: 2} {
		got := layout{local: []int{1}, returns: returns}.sharedUsage(spent)
		if got.Times.MixSeconds != want || got.Calls != spent.Calls {
			t.Errorf("agents that return %t: %+v is told", returns, got)
		}
	}
}

// TestWithoutEvaluate: a problem without oracles for its evaluation has no exact values, and a best
// iterate of three numbers beside its vectors.
func TestWithoutEvaluate(t *testing.T) {
	c := &Config{Evaluate: EvaluateExact, p: 1, q: 1}
	c.Problem.Oracles = []dsbo.Oracle{algotest.NewQuadratics(1, 1, 1, 1)[0]}
	e := testkit.Get(newEvaluator(c, &stepper{Group: network.NewGroup(network.GroupConfig{N: 1}),
		agents: []*agent{{alg: testkit.Get(algo.New("newtoncg"))}}}))
	if e.sharedExact != nil || e.ownExact != nil || e.everExact || len(e.bestState.head) != 3 {
		t.Errorf("solves by %+v, the best iterate's numbers are %v", e.sharedExact, e.bestState.head)
	}
}

// TestBestByPhi: without held-out examples the best iterate is the one of the least Φ, also where
// examples could be compared one by one.
func TestBestByPhi(t *testing.T) {
	e := &evaluator{stepper: threeAgents(layout{}, true), config: &Config{}, everExact: true,
		bestState: newBestState(1, 1)}
	e.problem.Each = func(int, Set, Fit) (Each, error) { return Each{Losses: []float64{1}}, nil }
	e.means = means{x: []float64{0}, y: []float64{0}}
	for k, phi := range []runs.Number{3, 1, 2} {
		testkit.OK(e.updateBest(t.Context(), runs.Record{Iteration: k, Phi: phi, HoldoutLoss: runs.Unknown()}))
	}
	if best := e.best(); best.Iteration != 1 || best.Value != 1 || best.By != "Φ" {
		t.Errorf("the best is %+v", best)
	}
}

// TestOneWithoutAnswers: one example without an answer leaves no share of right ones.
func TestOneWithoutAnswers(t *testing.T) {
	for right, want := range map[float64]float64{math.NaN(): math.NaN(), 1: 3} {
		p := Problem{Oracles: make([]dsbo.Oracle, 3), Score: func(i int, _ Fit) (s Scores, err error) {
			s.Test = Score{Rows: 1, Losses: 2, Right: 1}
			if i == 1 {
				s.Test.Right = right
			}
			return s, nil
		}}
		s := testkit.Get(p.scores(t.Context(), network.NewGroup(network.GroupConfig{N: 3}), Fit{})).Test
		if got := s.Right; s.Rows != 3 || s.Losses != 6 || got != want && !math.IsNaN(want+got) {
			t.Errorf("%g right answers: %+v", right, s)
		}
	}
}

// A serving method has the traits that it is given.
type serving struct {
	algo.Method
	of algo.Traits
}

func (s serving) Traits() algo.Traits { return s.of }

// TestMayShare: agents share a method that has one state for all, and asks for terms alone.
func TestMayShare(t *testing.T) {
	for k := range 4 {
		of := algo.Traits{Alike: k&1 > 0, Terms: k&2 > 0}
		if got := mayShare(serving{of: of}); got != (k == 3) {
			t.Errorf("alike %t, terms %t: shared %t", of.Alike, of.Terms, got)
		}
	}
}

// TestNearWhole: a sum of counts is whole but for rounding, by a millionth of it or of 1; one that
// is farther off is of counts that are not whole.
func TestNearWhole(t *testing.T) {
	for sum, want := range map[float64]float64{3 + 1e-7: 3, 1 - 0.7e-6: 1, 0.7e-6: 0,
		1 + 1.5e-6: 1 + 1.5e-6, 1.5e-6: 1.5e-6,
		1e7 + 0.4: 1e7, 1e5 - 0.2: 1e5 - 0.2, 2.5: 2.5} {
		if got := nearWhole(sum); got != want {
			t.Errorf("%.10g: %.10g, want %.10g", sum, got, want)
		}
	}
}

// TestSharedFailure: an average of agents that share a method has failed with the exchange, not by
// the term of one of them.
func TestSharedFailure(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{{nil, false}, {&termError{nil, errors.New("own")}, false}, {errors.New("closed"), true}} {
		s := &shared{agents: threeAgents(layout{}, true).agents}
		if s.noteAverage(time.Now(), &c.err); s.agents[0].mixer.failed != c.want {
			t.Errorf("%v: the exchange has failed: %t", c.err, !c.want)
		}
	}
}

// TestMoves: the start of an epoch is moved by about a fifth of a vector's norm, and a zero vector
// as one of ones; of 4000 draws the norm is right to 5 %. Without an epoch nothing moves.
func TestMoves(t *testing.T) {
	for _, c := range []struct{ entry, epoch, want float64 }{{3, 1, .6}, {-3, 2, .6}, {0, 1, .2}, {3, 0, 0}} {
		v := slices.Repeat([]float64{c.entry}, 4000)
		apartness{7, uint64(c.epoch)}.move(v, moveY)
		for i := range v {
			v[i] -= c.entry
		}
		if got := linalg.Norm(v) / math.Sqrt(4000); !(math.Abs(got-c.want) <= .05*c.want) {
			t.Errorf("%+v: an entry moves by %g", c, got)
		}
	}
}
