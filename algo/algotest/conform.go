package algotest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"dsbo"
	"dsbo/algo"
)

// Options say how [TestMethod] runs a method. The zero Options suit a decentralized method.
type Options struct {
	P, Q   int                               // lengths of x and y; default 3 and 4
	W      [][]float64                       // mixing matrix, which sets the number of agents; default a ring of 4
	Cost   func(p, q, k int) algo.Cost       // what iteration k costs one agent; nil: not checked
	Oracle func(agent, p, q int) dsbo.Oracle // default: noisy quadratics that differ, from NewQuadratics
}

func (o Options) withDefaults() Options {
	if o.P == 0 {
		o.P = 3
	}
	if o.Q == 0 {
		o.Q = 4
	}
	if o.W == nil {
		o.W = Ring(4, 0.5)
	}
	if o.Oracle == nil {
		o.Oracle = func(agent, p, q int) dsbo.Oracle {
			a := NewQuadratics(agent+1, p, q, 7)[agent]
			a.Noise = 0.1
			return a
		}
	}
	return o
}

// TestMethod checks that a method keeps the contract of [dsbo.Algorithm]: views and state, the same
// bits again and after a resume, nothing allocated in steady state, inputs of the oracle left alone,
// cost as stated, errors passed on with their place, cancelling, NaN, one agent. newMethod is called
// often and must return a fresh method each time.
func TestMethod(t *testing.T, newMethod func(p, q int) dsbo.Algorithm, opt Options) {
	s := suite{newMethod, opt.withDefaults()}
	t.Run("views", s.views)
	t.Run("oracle calls", s.guarded)
	t.Run("same bits", s.deterministic)
	t.Run("resume", s.resume)
	t.Run("cost", s.cost)
	t.Run("no allocation", s.allocation)
	t.Run("one agent", s.oneAgent)
	t.Run("cancelled", s.cancelled)
	t.Run("oracle error", s.oracleError)
	t.Run("mixer error", s.mixerError)
	t.Run("wrong shape", s.shape)
	t.Run("NaN", s.nan)
}

type suite struct {
	newMethod func(p, q int) dsbo.Algorithm
	Options
}

// A fleet is all agents of one run.
type fleet struct {
	methods []dsbo.Algorithm
	oracles []dsbo.Oracle
	mixers  []*Mixer
}

func (s suite) fleet() fleet {
	f := fleet{mixers: NewMixers(s.W)}
	for i := range s.W {
		f.methods = append(f.methods, s.newMethod(s.P, s.Q))
		f.oracles = append(f.oracles, s.Oracle(i, s.P, s.Q))
	}
	return f
}

// run does iterations from..to−1.
func (f fleet) run(t *testing.T, from, to int) {
	t.Helper()
	for k := from; k < to; k++ {
		if err := Step(t.Context(), k, f.methods, f.oracles, f.mixers); err != nil {
			t.Fatalf("iteration %d: %v", k, err)
		}
	}
}

// state copies everything: each agent's state, X and Y.
func (f fleet) state() [][]float64 {
	var all [][]float64
	for _, a := range f.methods {
		for _, part := range a.State() {
			all = append(all, clone(part.Value))
		}
		all = append(all, clone(a.X()), clone(a.Y()))
	}
	return all
}

// sameBits compares, NaN being equal to itself.
func sameBits(a, b [][]float64) bool {
	return slices.EqualFunc(a, b, func(v, w []float64) bool {
		return slices.EqualFunc(v, w, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
	})
}

func (s suite) views(t *testing.T) {
	f := s.fleet()
	names := func() (n []string) {
		for _, part := range f.methods[0].State() {
			n = append(n, fmt.Sprintf("%s(%d)", part.Name, len(part.Value)))
		}
		return n
	}
	a := f.methods[0]
	before, x, y := names(), a.X(), a.Y()
	if len(x) != s.P || len(y) != s.Q {
		t.Fatalf("X has %d entries and Y %d, want %d and %d", len(x), len(y), s.P, s.Q)
	}
	f.run(t, 0, 2)
	if after := names(); !slices.Equal(before, after) {
		t.Errorf("State changed from %v to %v: names and lengths must stay", before, after)
	}
	slices.Sort(before)
	if len(slices.Compact(before)) != len(a.State()) {
		t.Errorf("State has a name twice: %v", before)
	}
	if !same(x, a.X()) || !same(y, a.Y()) {
		t.Error("X or Y moved to other memory: they must be views")
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
	f, plain := s.fleet(), s.fleet()
	for i, o := range f.oracles {
		f.oracles[i] = &guard{Oracle: o, t: t}
	}
	f.run(t, 0, 4)
	plain.run(t, 0, 4)
	if !sameBits(f.state(), plain.state()) {
		t.Error("results depend on what stood in the oracle's destinations before the call")
	}
}

func (s suite) deterministic(t *testing.T) {
	f, g := s.fleet(), s.fleet()
	f.run(t, 0, 5)
	g.run(t, 0, 5)
	if !sameBits(f.state(), g.state()) {
		t.Error("two runs of one problem differ")
	}
}

func (s suite) resume(t *testing.T) {
	f, g := s.fleet(), s.fleet()
	f.run(t, 0, 3)
	g.run(t, 0, 1) // what g did before must not matter
	for i, a := range f.methods {
		from, to := a.State(), g.methods[i].State()
		for j := range from {
			copy(to[j].Value, from[j].Value)
		}
	}
	f.run(t, 3, 6)
	g.run(t, 3, 6)
	if !sameBits(f.state(), g.state()) {
		t.Error("a run that goes on from a copied State differs from the run itself")
	}
}

func (s suite) cost(t *testing.T) {
	if s.Cost == nil {
		t.Skip("no cost stated")
	}
	f := s.fleet()
	for i, o := range f.oracles {
		f.oracles[i] = NewRecorder(o)
	}
	for k := range 4 {
		f.run(t, k, k+1)
		want := s.Cost(s.P, s.Q, k)
		for i, o := range f.oracles {
			r := o.(*Recorder)
			got := algo.Cost{Floats: f.mixers[i].Floats, Messages: f.mixers[i].Messages, Calls: r.Total}
			if got != want {
				t.Errorf("iteration %d, agent %d: cost %+v, stated %+v", k, i, got, want)
			}
			r.Reset()
			f.mixers[i].Reset()
		}
	}
}

func (s suite) allocation(t *testing.T) {
	a, o, m := s.newMethod(s.P, s.Q), s.Oracle(0, s.P, s.Q), NewMixers(Ring(1, 1))[0]
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
	if n := testing.AllocsPerRun(20, step); n != 0 {
		t.Errorf("%v allocations in a Step", n)
	}
}

func (s suite) oneAgent(t *testing.T) {
	a, o, m := s.newMethod(s.P, s.Q), s.Oracle(0, s.P, s.Q), NewMixers(Ring(1, 1))[0]
	for k := range 3 {
		if err := a.Step(t.Context(), k, o, m); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range append(clone(a.X()), a.Y()...) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Fatalf("x = %v, y = %v", a.X(), a.Y())
		}
	}
}

func (s suite) cancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := NewRecorder(s.Oracle(0, s.P, s.Q))
	err := s.newMethod(s.P, s.Q).Step(ctx, 0, r, NewMixers(Ring(1, 1))[0])
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Step with a cancelled context returned %v", err)
	}
	if len(r.Calls) != 0 {
		t.Errorf("Step with a cancelled context asked %v", r.Calls[0])
	}
}

// alone runs two iterations of a single agent.
func (s suite) alone(t *testing.T, o dsbo.Oracle, m dsbo.Mixer) error {
	a := s.newMethod(s.P, s.Q)
	for k := range 2 {
		if err := a.Step(t.Context(), k, o, m); err != nil {
			return err
		}
	}
	return nil
}

var errInjected = errors.New("injected failure")

func (s suite) oracleError(t *testing.T) {
	all := NewRecorder(s.Oracle(0, s.P, s.Q))
	if err := s.alone(t, all, NewMixers(Ring(1, 1))[0]); err != nil {
		t.Fatal(err)
	}
	for i := range all.Calls {
		r := NewRecorder(s.Oracle(0, s.P, s.Q))
		r.FailAt, r.Err = i+1, errInjected
		passedOn(t, all.Calls[i].String(), s.alone(t, r, NewMixers(Ring(1, 1))[0]))
		if len(r.Calls) != i+1 {
			t.Errorf("after the failure of %v the oracle was asked %v", r.Calls[i], r.Calls[i+1])
		}
	}
}

func (s suite) mixerError(t *testing.T) {
	all := &failing{Mixer: NewMixers(Ring(1, 1))[0]}
	if err := s.alone(t, s.Oracle(0, s.P, s.Q), all); err != nil {
		t.Fatal(err)
	}
	for i := range all.calls {
		m := &failing{Mixer: NewMixers(Ring(1, 1))[0], at: i + 1}
		passedOn(t, fmt.Sprintf("exchange %d", i), s.alone(t, s.Oracle(0, s.P, s.Q), m))
		if m.calls != i+1 {
			t.Errorf("after the failure of exchange %d there were %d more", i, m.calls-i-1)
		}
	}
}

// passedOn checks that an error is the injected one and says where it happened.
func passedOn(t *testing.T, where string, err error) {
	t.Helper()
	if !errors.Is(err, errInjected) {
		t.Errorf("%s failed and Step returned %v", where, err)
	} else if !strings.Contains(err.Error(), "iteration") {
		t.Errorf("%s: the error %q does not say in which iteration", where, err)
	}
}

// failing is a mixer whose at-th call fails (from 1; 0: none).
type failing struct {
	*Mixer
	calls, at int
}

func (f *failing) Mix(ctx context.Context, dst, src []float64) error {
	if f.calls++; f.calls == f.at {
		return errInjected
	}
	return f.Mixer.Mix(ctx, dst, src)
}

func (s suite) shape(t *testing.T) {
	err := s.newMethod(s.P+1, s.Q).Step(t.Context(), 0, s.Oracle(0, s.P, s.Q), NewMixers(Ring(1, 1))[0])
	if !errors.Is(err, dsbo.ErrShape) {
		t.Errorf("an oracle for p = %d and a method for p = %d: %v", s.P, s.P+1, err)
	}
}

func (s suite) nan(t *testing.T) {
	f := s.fleet()
	for i, o := range f.oracles {
		f.oracles[i] = &guard{Oracle: o, t: t, nan: true}
	}
	for k := range 3 { // an error is as good as none; coming back is what counts
		if Step(t.Context(), k, f.methods, f.oracles, f.mixers) != nil {
			return
		}
	}
}
