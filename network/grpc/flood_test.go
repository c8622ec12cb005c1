package grpc

import (
	"fmt"
	"slices"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network"
)

// TestFloodReachesAll plays the plans of all agents against each other: who sends a row knows it,
// what comes is what is expected, each agent learns each row once and as soon as its neighbours
// know it, and no step is one too many.
func TestFloodReachesAll(t *testing.T) {
	for graph, sizes := range map[string][]int{
		"ring": {1, 2, 3, 4, 5, 8, 9}, "path": {1, 2, 3, 6}, "star": {1, 2, 3, 7}, "complete": {1, 2, 6},
		"server":    {1, 2, 4},
		"hypercube": {1, 8}, "torus": {9, 12}, "exponential": {1, 5, 16}, "erdos-renyi": {1, 16, 40},
	} {
		for _, n := range sizes {
			t.Run(fmt.Sprintf("%s%d", graph, n), func(t *testing.T) {
				w := newGraph(graph, n)
				plans, known := make([]*flood, n), make([][]bool, n)
				for i := range plans {
					plans[i] = testkit.Get(newFlood(w, i))
					known[i] = make([]bool, n)
					known[i][i] = true
				}
				widest := 1
				for s := range plans[0].send {
					next, learned := make([][]bool, n), 0
					for i, p := range plans {
						next[i] = slices.Clone(known[i])
						checkStep(t, w, plans, known, next[i], i, s)
						learned += len(p.learn[s])
						widest = max(widest, len(p.send[s]))
					}
					if learned == 0 {
						t.Errorf("nobody learns anything in step %d", s)
					}
					known = next // what comes in a step can be sent in the next one
				}
				for i, p := range plans {
					if slices.Contains(known[i], false) || len(p.send) != len(plans[0].send) || p.widest != widest {
						t.Errorf(
							"agent %d knows %v after %d steps with %d rows at most; it must know all after %d with %d",
							i, known[i], len(p.send), p.widest, len(plans[0].send), widest)
					}
				}
			})
		}
	}
}

// checkStep checks agent i's part in a step, before which the agents have the known rows, and notes
// in own what it learns.
func checkStep(t *testing.T, w *network.Matrix, plans []*flood, known [][]bool, own []bool, i, s int) {
	t.Helper()
	for _, a := range plans[i].send[s] {
		if !known[i][a] {
			t.Errorf("step %d: agent %d sends the row of agent %d, which it has not learned", s, i, a)
		}
	}
	for _, l := range plans[i].learn[s] {
		j := w.Neighbours(i)[l.neighbour]
		if got := plans[j].send[s][l.position]; got != l.agent || own[l.agent] {
			t.Errorf(
				"step %d: agent %d learns the row of agent %d from agent %d, who sends that of %d; known before: %v",
				s, i, l.agent, j, got, own[l.agent])
		}
		own[l.agent] = true
	}
	for k, j := range w.Neighbours(i) {
		if got, want := plans[i].sizes[s][k], len(plans[j].send[s]); got != want {
			t.Errorf("step %d: agent %d expects %d rows from agent %d, which sends %d", s, i, got, j, want)
		}
		for a, knows := range known[j] {
			if knows && !own[a] {
				t.Errorf("step %d: agent %d does not learn the row of agent %d, which agent %d knows", s, i, a, j)
			}
		}
	}
}

func TestFloodNeedsAWay(t *testing.T) {
	_, err := newFlood(testkit.Get(network.NewMatrix([][]float64{{0.5, 0.5, 0}, {0.5, 0.5, 0}, {0, 0, 1}})), 1)
	testkit.WantError(t, "two parts", err, dsbo.ErrConfig, "no path of edges leads from agent 0 to agent 2")
}
