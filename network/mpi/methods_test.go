package mpi

import (
	"context"
	"errors"
	"slices"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/networktest"
)

// testMethods checks that all methods for several agents come to the bits of one process over
// teams that open opens: each on a graph of three agents that its traits ask for, with compressed
// vectors too if it knows a parameter compress.
func testMethods(t *testing.T, open func(*network.Matrix) (teams []network.Team, closeAll func())) {
	half := 0.5 // of a circle in one direction
	circle := [][][]float64{{{half, 0, half}, {half, half, 0}, {0, half, half}}}
	for _, c := range []struct {
		graph string
		w     *network.Matrix
		takes func(algo.Traits) bool
	}{
		{"ring", testkit.Get(network.Ring(3, 0.4)).W,
			func(t algo.Traits) bool { return !t.OneAgent && !t.ExactAverage }},
		{"server", testkit.Get(network.Server(3)).W, func(t algo.Traits) bool { return t.ExactAverage }},
		{"directed", testkit.Get(network.NewDirected(circle, circle)),
			func(t algo.Traits) bool { return t.Directed }},
	} {
		t.Run(c.graph, func(t *testing.T) {
			teams, closeAll := open(c.w)
			defer closeAll()
			for _, name := range algo.NamesWhere(c.takes) {
				for _, object := range []string{`{}`, `{"compress":{"kind":"round","bits":4}}`} {
					if algo.Decode(testkit.Get(algo.New(name)), []byte(object)) != nil {
						continue // it does not know the parameter
					}
					want := states(t, name, object, c.w, []network.Team{network.NewLocal(c.w)})
					for i, got := range states(t, name, object, c.w, teams) {
						if got != nil && !slices.EqualFunc(got, want[i], slices.Equal[[]float64]) {
							t.Errorf("%s%s, agent %d: %v, in one process %v", name, object, i, got, want[i])
						}
					}
				}
			}
		})
	}
}

// states runs a method over teams, and returns the state of each agent that is here.
func states(t *testing.T, name, object string, w *network.Matrix, teams []network.Team) [][][]float64 {
	const p, q, iterations = 3, 4, 3
	oracles, all := algotest.NewQuadratics(w.N(), p, q, 7), make([][][]float64, w.N())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ends := make([]*network.Averager, w.N())
	for _, team := range teams {
		averages := testkit.Get(network.NewAverages(team, w, network.AverageOptions{}))
		for _, i := range team.Local() {
			ends[i] = averages.Agent(i)
		}
	}
	err := errors.Join(networktest.RunAll(w.N(), func(i int) (err error) {
		if ends[i] == nil {
			return nil
		}
		m, o := testkit.Get(algo.New(name)), dsbo.Oracle(oracles[i])
		if slices.Contains(algo.Parameters(m), "lg") {
			testkit.OK(algo.Decode(m, []byte(`{"lg":5}`)))
		}
		testkit.OK(algo.Decode(m, []byte(object)))
		err = m.Init(p, q, iterations)
		for k := 0; k < iterations && err == nil; k++ {
			ends[i].Begin(2 * uint64(k))
			err = m.Step(ctx, k, o, ends[i])
		}
		for _, part := range m.State() {
			all[i] = append(all[i], part.Value)
		}
		if err != nil {
			cancel()
		}
		return err
	})...)
	if err != nil {
		t.Fatalf("%s%s: %v", name, object, err)
	}
	return all
}
