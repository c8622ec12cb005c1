package algotest

import (
	"slices"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/internal/linalg"
	"dsbo/network"
)

// members: a method goes on when the last agent leaves, and when one comes in. What a change does
// is a function of the state alone, done twice is done once, leaves x as it is, and neither names
// nor lengths change. The cost is as stated after it too.
func (s suite) members(t *testing.T) {
	if _, ok := s.method(p, q).(algo.Reformer); !ok {
		t.Skip("it is no algo.Reformer, and runs where members stay the same")
	}
	f := s.agents()
	f.run(t, 0, 3)
	n := len(f.methods)
	stay := max(1, n-1)
	f.methods, f.oracles = f.methods[:stay], f.oracles[:stay]
	for i, m := range f.methods {
		r := m.(algo.Reformer)
		x, before := slices.Clone(m.X()), shape(m)
		r.Reform()
		once := agents{methods: f.methods[i : i+1]}.state()
		r.Reform()
		if twice := (agents{methods: f.methods[i : i+1]}).state(); !slices.EqualFunc(once, twice,
			slices.Equal[[]float64]) {
			t.Errorf("agent %d: a second Reform changes the state", i)
		}
		if !slices.Equal(x, m.X()) || !slices.Equal(before, shape(m)) {
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
	for i, o := range f.oracles {
		f.oracles[i] = NewRecorder(o)
	}
	f.run(t, 3, 4)
	for i, m := range f.methods {
		sent := f.mixers[i]
		got := algo.Cost{Floats: sent.Floats, Messages: sent.Messages, Averages: sent.Averages, Joined: sent.Joined,
			AverageFloats: sent.AverageFloats, Calls: f.oracles[i].(*Recorder).Total}
		if want := m.Cost(3); got != want {
			t.Errorf("agent %d: after a change of members the cost is %+v, stated %+v", i, got, want)
		}
	}
	f.run(t, 4, 6)
	for _, v := range f.state() {
		if !linalg.AllFinite(v) {
			t.Fatalf("after a change of members the state holds %v", v)
		}
	}
}

// shape returns the names and the lengths of a method's state.
func shape(m algo.Method) (all []struct {
	name string
	n    int
}) {
	for _, part := range m.State() {
		all = append(all, struct {
			name string
			n    int
		}{part.Name, len(part.Value)})
	}
	return all
}

// A Membership is agents of one method on quadratics, and who of them takes part. Agents are named
// by their numbers.
type Membership struct {
	Methods []algo.Method // by number; those that are not there have what they left with
	Oracles []dsbo.Oracle
	Present []int // ascending
	made    func() algo.Method
	matrix  func(n int) [][]float64
	mixers  []*Mixer
}

// NewMembership returns as many agents as there are oracles, with methods that made returns after
// Init; all of present are there. matrix gives the weights of n agents.
func NewMembership(made func() algo.Method, oracles []dsbo.Oracle, present []int,
	matrix func(n int) [][]float64) *Membership {
	m := &Membership{Methods: make([]algo.Method, len(oracles)), Oracles: oracles, Present: present,
		made: made, matrix: matrix}
	for _, i := range present {
		m.Methods[i] = made()
	}
	m.mixers = NewMixers(matrix(len(present)))
	return m
}

// Run does iterations from..to−1.
func (m *Membership) Run(t *testing.T, from, to int) {
	t.Helper()
	var methods []algo.Method
	var oracles []dsbo.Oracle
	for _, i := range m.Present {
		methods, oracles = append(methods, m.Methods[i]), append(oracles, m.Oracles[i])
	}
	for k := from; k < to; k++ {
		if err := Step(t.Context(), k, methods, oracles, m.mixers); err != nil {
			t.Fatalf("iteration %d: %v", k, err)
		}
	}
}

// Change makes others the members: who comes in takes over from the first that stays.
func (m *Membership) Change(t *testing.T, present []int) {
	t.Helper()
	first := slices.IndexFunc(present, func(i int) bool { return slices.Contains(m.Present, i) })
	from := m.Methods[present[first]].(algo.Reformer).Handover()
	for _, i := range present {
		if slices.Contains(m.Present, i) {
			m.Methods[i].(algo.Reformer).Reform()
			continue
		}
		m.Methods[i] = m.made()
		if err := algo.TakeOver(m.Methods[i].(algo.Reformer), from); err != nil {
			t.Fatal(err)
		}
	}
	m.Present = present
	m.mixers = NewMixers(m.matrix(len(present)))
}

// Sum returns the sum over the members of a named part of their state.
func (m *Membership) Sum(name string) []float64 {
	var sum []float64
	for _, i := range m.Present {
		for _, part := range m.Methods[i].State() {
			if part.Name != name {
				continue
			}
			if sum == nil {
				sum = make([]float64, len(part.Value))
			}
			linalg.Add(sum, sum, part.Value)
		}
	}
	return sum
}

// Metropolis is the mixing matrix of a path of n agents with Metropolis weights.
func Metropolis(n int) [][]float64 { return rows(network.New("path", n, network.Options{})) }
