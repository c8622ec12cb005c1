package algotest

import (
	"fmt"
	"slices"
	"testing"

	"dsbo/algo"
	"dsbo/internal/linalg"
)

// members: a method continues when the last agent leaves, and when an agent joins. A change is a
// function of the state alone, is idempotent, leaves x as it is, and changes neither names nor
// lengths. The cost is as stated afterwards too.
func (s suite) members(t *testing.T) {
	if _, ok := s.method(p, q).(algo.Reformer); !ok {
		t.Skip("it is no algo.Reformer, and runs where members stay the same")
	}
	f := s.agents()
	f.run(t, 0, 3)
	n := len(f.methods)
	stay := max(1, n-1) // a method for one agent stays as it is
	f.methods, f.oracles = f.methods[:stay], f.oracles[:stay]
	for i, m := range f.methods {
		r := m.(algo.Reformer)
		x, before := slices.Clone(m.X()), names(m)
		r.Reform()
		once := agents{methods: f.methods[i : i+1]}.state()
		r.Reform()
		if twice := (agents{methods: f.methods[i : i+1]}).state(); !slices.EqualFunc(once, twice,
			slices.Equal[[]float64]) {
			t.Errorf("agent %d: a second Reform changes the state", i)
		}
		if !slices.Equal(x, m.X()) || !slices.Equal(before, names(m)) {
			t.Errorf("agent %d: Reform changes x, or names and lengths of the state", i)
		}
	}
	if n > 1 { // another one takes the place of who left
		late := s.method(p, q)
		if err := algo.TakeOver(late.(algo.Reformer), f.methods[0].(algo.Reformer).Handover()); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(late.X(), f.methods[0].X()) {
			t.Error("an agent that comes in must have the x that it takes over")
		}
		f.methods, f.oracles = append(f.methods, late), append(f.oracles, oracle(n))
	}
	f.mixers = NewMixers(s.W)
	f.checkCost(t, 3)
	f.run(t, 4, 6)
	for _, v := range f.state() {
		if !linalg.AllFinite(v) {
			t.Fatalf("after a change of members the state holds %v", v)
		}
	}
}

// checkCost runs iteration k and compares what it takes with what the methods state.
func (f agents) checkCost(t *testing.T, k int) {
	t.Helper()
	recorded := f
	recorded.oracles = nil
	for i, o := range f.oracles {
		recorded.oracles = append(recorded.oracles, NewRecorder(o))
		f.mixers[i].Reset()
	}
	recorded.run(t, k, k+1)
	for i, o := range recorded.oracles {
		got := f.mixers[i].Cost
		got.Calls = o.(*Recorder).Total
		if want := f.methods[i].Cost(k); got != want {
			t.Errorf("iteration %d, agent %d: cost %+v, stated %+v", k, i, got, want)
		}
	}
}

// names lists the names and the lengths of a method's state.
func names(m algo.Method) (all []string) {
	for _, part := range m.State() {
		all = append(all, fmt.Sprintf("%s(%d)", part.Name, len(part.Value)))
	}
	return all
}
