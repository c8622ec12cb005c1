package algotest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"unsafe"

	"dsbo"
	"dsbo/algo"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
)

// Sizes of the suite's problem, and iterations of its runs.
const p, q, K = 3, 4, 8

// TestMethod checks that a method satisfies the contract of [algo.Method]: parameters by their
// names, views and state, the same bits again and after a resume, other members, nothing allocated
// in steady state, inputs of the oracle left alone, cost as stated, errors passed on with their
// place, cancelling, NaN, one agent. newMethod is called often and must return a fresh method each
// time, before Init, with parameters that suit quadratics of curvature up to 3. A parameter lg that
// is left open is set to 5. The agents are a ring of four, or what the method's traits ask for.
func TestMethod(t *testing.T, newMethod func() algo.Method) {
	s := suite{newMethod: newMethod, W: Ring(4, 0.5)}
	switch traits := algo.TraitsOf(newMethod()); {
	case traits.OneAgent:
		s.W = Ring(1, 0.5)
	case traits.ExactAverage:
		s.W = Average(3)
	}
	t.Run("parameters", s.parameters)
	t.Run("views", s.views)
	t.Run("oracle calls", s.guarded)
	t.Run("same bits", s.sameAgain)
	t.Run("resume", s.resume)
	t.Run("members", s.members)
	t.Run("cost", s.cost)
	t.Run("no allocation", s.allocation)
	t.Run("cancelled", s.cancelled)
	t.Run("oracle error", s.oracleError)
	t.Run("mixer error", s.mixerError)
	t.Run("wrong shape", s.shape)
	t.Run("dense", s.dense)
	t.Run("NaN", s.nan)
}

type suite struct {
	newMethod func() algo.Method
	W         [][]float64 // its size is the number of agents
}

// template returns a method before Init.
func (s suite) template() algo.Method {
	m := s.newMethod()
	text, err := json.Marshal(m)
	if err == nil && slices.Contains(algo.Parameters(m), "lg") && !bytes.Contains(text, []byte(`"lg":`)) {
		err = algo.Decode(m, []byte(`{"lg":5}`))
	}
	if err != nil {
		panic(err)
	}
	return m
}

// method returns a method for x of length p and y of length q.
func (s suite) method(p, q int) algo.Method {
	m := s.template()
	if err := m.Init(p, q, K); err != nil {
		panic(err)
	}
	return m
}

// oracle returns an agent's noisy quadratic, which differs from the others'.
func oracle(agent int) dsbo.Oracle {
	o := NewQuadratics(agent+1, p, q, 7)[agent]
	o.Noise = 0.1
	return o
}

// parameters: they have names, agree with their JSON and a clone, and have defaults that work;
// values that cannot work are refused by name.
func (s suite) parameters(t *testing.T) {
	m := s.template()
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	again := s.newMethod()
	if err := algo.Decode(again, text); err != nil {
		t.Errorf("its own parameters %s are refused: %v", text, err)
	}
	for what, other := range map[string]algo.Method{"decoded": again, "cloned": algo.Clone(m)} {
		if got, err := json.Marshal(other); err != nil || !bytes.Equal(got, text) {
			t.Errorf("parameters %s are %s once %s (%v)", text, got, what, err)
		}
	}
	testkit.WantError(t, "an unknown parameter", algo.Decode(again, []byte(`{"no such":1}`)), dsbo.ErrConfig,
		`"no such"`)
	for _, size := range [][2]int{{0, q}, {p, 0}, {-1, q}} {
		if err := s.template().Init(size[0], size[1], K); !errors.Is(err, dsbo.ErrShape) {
			t.Errorf("Init for p = %d, q = %d: %v", size[0], size[1], err)
		}
	}
	a := s.method(p, q)
	if err := a.Init(p+1, q+2, K); err != nil || len(a.X()) != p+1 || len(a.Y()) != q+2 {
		t.Errorf("a second Init for p = %d, q = %d: %v, x has %d entries and y %d", p+1, q+2, err,
			len(a.X()), len(a.Y()))
	}
}

// agents are the agents of one run.
type agents struct {
	methods []algo.Method
	oracles []dsbo.Oracle
	mixers  []*Mixer
}

func (s suite) agents() agents { return s.agentsOver(NewMixers(s.W)) }

// agentsOver returns an agent for each mixer.
func (s suite) agentsOver(mixers []*Mixer) agents {
	f := agents{mixers: mixers}
	for i := range mixers {
		f.methods = append(f.methods, s.method(p, q))
		f.oracles = append(f.oracles, oracle(i))
	}
	return f
}

// run does iterations from..to−1.
func (f agents) run(t *testing.T, from, to int) {
	t.Helper()
	if err := Run(t.Context(), from, to, f.methods, f.oracles, f.mixers); err != nil {
		t.Fatalf("iterations %d to %d: %v", from, to-1, err)
	}
}

// state copies everything: each agent's state, X and Y.
func (f agents) state() [][]float64 {
	var all [][]float64
	for _, a := range f.methods {
		for _, part := range a.State() {
			all = append(all, slices.Clone(part.Value))
		}
		all = append(all, slices.Clone(a.X()), slices.Clone(a.Y()))
	}
	return all
}

// compare runs iterations of f and g, which must find the same bits.
func compare(t *testing.T, f, g agents, from, to int, difference string) {
	t.Helper()
	f.run(t, from, to)
	g.run(t, from, to)
	if !sameBits(f.state(), g.state()) {
		t.Error(difference)
	}
}

func sameBits(a, b [][]float64) bool {
	same := func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }
	return slices.EqualFunc(a, b, func(v, w []float64) bool { return slices.EqualFunc(v, w, same) })
}

// views: X, Y and State are views of all state, of stated lengths and names, and zero after Init.
func (s suite) views(t *testing.T) {
	f := s.agents()
	a := f.methods[0]
	before, x, y := names(a), a.X(), a.Y()
	if len(x) != p || len(y) != q {
		t.Fatalf("X has %d entries and Y %d, want %d and %d", len(x), len(y), p, q)
	}
	for _, part := range a.State() {
		if slices.ContainsFunc(part.Value, func(v float64) bool { return v != 0 }) {
			t.Errorf("%s starts at %v: all state must be zero after Init", part.Name, part.Value)
		}
	}
	f.run(t, 0, 2)
	if after := names(a); !slices.Equal(before, after) {
		t.Errorf("State changed from %v to %v: names and lengths must stay", before, after)
	}
	slices.Sort(before) // for Compact, which removes equal neighbours
	if len(slices.Compact(before)) != len(a.State()) {
		t.Errorf("State has a name twice: %v", before)
	}
	if !same(x, a.X()) || !same(y, a.Y()) {
		t.Error("X or Y moved to other memory: they must be views")
	}
	earlier := slices.Clone(a.Y())
	if f.run(t, 2, 3); slices.Equal(earlier, a.Y()) && !algo.TraitsOf(a).KeepsBest {
		t.Error("Y shows what it was before an iteration")
	}
	for what, v := range map[string][]float64{"X": a.X(), "Y": a.Y()} {
		if !slices.ContainsFunc(a.State(), func(n dsbo.Named) bool { return same(n.Value, v) }) {
			t.Errorf("State does not hold %s", what)
		}
	}
}

// same reports whether two slices are the same memory.
func same(a, b []float64) bool { return len(a) == len(b) && unsafe.SliceData(a) == unsafe.SliceData(b) }

func (s suite) guarded(t *testing.T) {
	f, plain := s.agents(), s.agents()
	for i, o := range f.oracles {
		f.oracles[i] = &Recorder{Oracle: o, guard: t}
	}
	compare(t, f, plain, 0, 4, "results depend on what stood in the oracle's destinations before the call")
}

func (s suite) sameAgain(t *testing.T) {
	compare(t, s.agents(), s.agents(), 0, 5, "two runs of one problem differ")
}

// resume resumes from each iteration, for two iterations.
func (s suite) resume(t *testing.T) {
	f := s.agents()
	states := [][][]float64{f.state()}
	for k := range K {
		f.run(t, k, k+1)
		states = append(states, f.state())
	}
	for at := range K - 1 {
		g := s.agents()
		g.run(t, 0, min(at, 1)) // what g did before must not matter
		from := states[at]      // of each agent its State, X and Y, as state copies them
		for _, a := range g.methods {
			parts := a.State()
			for j, to := range parts {
				copy(to.Value, from[j])
			}
			from = from[len(parts)+2:]
		}
		if g.run(t, at, at+2); !sameBits(g.state(), states[at+2]) {
			t.Errorf("a run that goes on from the State copied before iteration %d differs from the run itself", at)
		}
	}
}

// cost: Cost is what a step asks and sends, and no vector is longer than the traits state.
func (s suite) cost(t *testing.T) {
	f := s.agents()
	for k := range 4 {
		f.checkCost(t, k)
		for i, m := range f.mixers {
			if most := algo.TraitsOf(f.methods[i]).LongestVector(p, q); m.Longest > most {
				t.Errorf("iteration %d, agent %d: a vector has %d numbers; it must have %d at most", k, i,
					m.Longest, most)
			}
		}
	}
}

// allocation: after a few steps a step allocates nothing.
func (s suite) allocation(t *testing.T) {
	a, o, m := s.method(p, q), oracle(0), newLone()
	k, ctx := 0, context.Background()
	step := func() {
		if err := a.Step(ctx, k, o, m); err != nil {
			t.Fatal(err)
		}
		k++
	}
	for range 4 {
		step()
	}
	again := func() { // iterations 4 and 5 over and over: there are no more than K
		k = 4
		step()
		step()
	}
	if n := testing.AllocsPerRun(10, again); n != 0 {
		t.Errorf("%v allocations in two Steps", n)
	}
}

// cancelled: with a cancelled context, Step asks nothing.
func (s suite) cancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := NewRecorder(oracle(0))
	err := s.method(p, q).Step(ctx, 0, r, single())
	if !errors.Is(err, context.Canceled) || len(r.Calls) != 0 {
		t.Errorf("Step with a cancelled context returned %v and asked %v", err, r.Calls)
	}
}

// single is the exchange of an agent without others.
func single() *Mixer { return NewMixers(Ring(1, 0.5))[0] }

// alone runs iterations of a single agent.
func (s suite) alone(t *testing.T, iterations int, o dsbo.Oracle, m dsbo.Mixer) (algo.Method, error) {
	a := s.method(p, q)
	for k := range iterations {
		if err := a.Step(t.Context(), k, o, m); err != nil {
			return a, err
		}
	}
	return a, nil
}

var errInjected = errors.New("injected failure")

// oracleError: an error of any call of the oracle ends the step, with the iteration in its text.
func (s suite) oracleError(t *testing.T) {
	all := NewRecorder(oracle(0))
	if _, err := s.alone(t, 2, all, single()); err != nil {
		t.Fatal(err)
	}
	for i := range all.Calls {
		r := &Recorder{Oracle: oracle(0), FailAt: i + 1, Err: errInjected}
		_, err := s.alone(t, 2, r, single())
		testkit.WantError(t, all.Calls[i].String(), err, errInjected, "iteration")
		if len(r.Calls) != i+1 {
			t.Errorf("after the failure of %v the oracle was asked %v", r.Calls[i], r.Calls[i+1])
		}
	}
}

// mixerError: one agent runs alone, and an error of any exchange ends the step, with the iteration
// in its text.
func (s suite) mixerError(t *testing.T) {
	all := single()
	if a, err := s.alone(t, 3, oracle(0), all); err != nil || !linalg.AllFinite(a.X()) || !linalg.AllFinite(a.Y()) {
		t.Fatalf("alone: x = %v, y = %v (%v)", a.X(), a.Y(), err)
	}
	for i := range all.exchanges() {
		m := single()
		m.FailAt, m.Err = i+1, errInjected
		_, err := s.alone(t, 3, oracle(0), m)
		testkit.WantError(t, fmt.Sprintf("exchange %d", i), err, errInjected, "iteration")
		if calls := m.exchanges(); calls != i+1 {
			t.Errorf("after the failure of exchange %d there were %d more", i, calls-i-1)
		}
	}
}

func (s suite) shape(t *testing.T) {
	for _, of := range [][2]int{{p + 1, q}, {p, q + 1}} {
		err := s.method(of[0], of[1]).Step(t.Context(), 0, oracle(0), single())
		if !errors.Is(err, dsbo.ErrShape) {
			t.Errorf("an oracle for p, q = %d, %d and a method for %v: %v", p, q, of, err)
		}
	}
}

// productsOnly hides an oracle's matrices.
type productsOnly struct{ dsbo.Oracle }

func (o productsOnly) Capabilities() *dsbo.OracleCapabilities {
	of := *o.Oracle.Capabilities()
	of.Of, of.Hessian, of.Jacobian = o, nil, nil
	return &of
}

// dense: the trait Dense is set exactly for methods that fail on an oracle without matrices, and
// counts at least the Hessian's bytes.
func (s suite) dense(t *testing.T) {
	bytes := algo.TraitsOf(s.template()).Dense
	if bytes != nil && bytes(784, 7840) < 7840*7840*8 {
		t.Errorf("%d bytes of matrices, a Hessian alone takes 469 MiB", bytes(784, 7840))
	}
	err := s.method(p, q).Step(t.Context(), 0, productsOnly{oracle(0)}, single())
	if errors.Is(err, dsbo.ErrCapability) != (bytes != nil) {
		t.Errorf("on an oracle without matrices Step returned %v", err)
	}
}

// nan: with NaN in all answers, Step returns, with or without an error.
func (s suite) nan(t *testing.T) {
	f := s.agents()
	for i, o := range f.oracles {
		f.oracles[i] = &Recorder{Oracle: o, guard: t, nan: true}
	}
	for k := range 3 { // an error is as good as none; coming back is what counts
		if Step(t.Context(), k, f.methods, f.oracles, f.mixers) != nil {
			return
		}
	}
}
