package algotest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"dsbo/algo"
	"dsbo/network"
)

// TestOverTeams checks that all methods for several agents come to the bits of one process over a
// transport. open is the suite's of package networktest; each method runs on a graph that its
// traits ask for, of three agents, with compressed vectors too if it knows a parameter compress.
func TestOverTeams(t *testing.T, open func(*network.Matrix) (teams []network.Team, closeAll func())) {
	half := 0.5 // of a circle in one direction
	circle := [][][]float64{{{half, 0, half}, {half, half, 0}, {0, half, half}}}
	for _, c := range []struct {
		graph string
		W     func() (*network.Matrix, error)
		takes func(algo.Traits) bool
	}{
		{"ring", func() (*network.Matrix, error) { return network.NewMatrix(Ring(3, 0.4)) },
			func(t algo.Traits) bool { return !t.OneAgent && !t.ExactAverage }},
		{"server", func() (*network.Matrix, error) { return network.NewMatrix(Average(3)) },
			func(t algo.Traits) bool { return t.ExactAverage }},
		{"directed", func() (*network.Matrix, error) { return network.NewDirected(circle, circle) },
			func(t algo.Traits) bool { return t.Directed }},
	} {
		w, err := c.W()
		if err != nil {
			t.Fatal(err)
		}
		t.Run(c.graph, func(t *testing.T) {
			teams, closeAll := open(w)
			defer closeAll()
			for _, name := range algo.NamesWhere(c.takes) {
				for _, object := range []string{`{}`, `{"compress":{"kind":"round","bits":4}}`} {
					s := suite{newMethod: func() algo.Method { return decoded(name, object) }}
					if s.newMethod() != nil {
						s.overTeams(t, name+object, w, teams)
					}
				}
			}
		})
	}
}

// decoded returns the named method with parameters, nil if it does not know them.
func decoded(name, object string) algo.Method {
	m, err := algo.New(name)
	if err != nil || algo.Decode(m, []byte(object)) != nil {
		return nil
	}
	return m
}

// overTeams runs a method over teams, and compares the state of the agents that are here.
func (s suite) overTeams(t *testing.T, name string, w *network.Matrix, teams []network.Team) {
	t.Helper()
	const iterations = 3
	whole := s.agentsOver(NewMixersOver(w))
	whole.run(t, 0, iterations)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	for _, team := range teams {
		mixers, err := mixersOf(team, w)
		if err != nil {
			t.Fatal(err)
		}
		for at, i := range team.Local() {
			wg.Go(func() {
				m, o := s.method(p, q), oracle(i)
				for k := range iterations {
					if err := stepAgent(ctx, k, m, o, mixers[at]); err != nil && !errors.Is(err, context.Canceled) {
						t.Errorf("%s, agent %d: %v", name, i, err)
						cancel()
						return
					}
				}
				for j, part := range whole.methods[i].State() {
					if got := m.State()[j]; !slices.Equal(got.Value, part.Value) {
						t.Errorf("%s, agent %d: %s is %v, in one process %v", name, i, part.Name, got.Value, part.Value)
					}
				}
			})
		}
	}
	wg.Wait()
}
