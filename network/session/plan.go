package session

import (
	"slices"

	"dsbo"
	"dsbo/network"
)

// A gatherPlan is one agent's plan by which all learn the rows of all. In step s every agent sends
// its neighbours the rows of the agents that are s edges away from it, and learns the rows of the
// agents that are s+1 away. The graph alone gives the plan, so that no row needs to say whose it
// is; it has as many steps as the graph's diameter, for all agents, because exchanges are numbered.
type gatherPlan struct {
	send   [][]int        // by step: whose rows this agent sends, in ascending order
	sizes  [][]int        // by step and neighbour: how many rows it sends
	learn  [][]learnedRow // by step
	widest int            // the most rows that any agent sends in one step, 1 at least
}

// A learnedRow is one that comes from a neighbour.
type learnedRow struct {
	agent     int // whose row
	neighbour int // the number of who sends it among the neighbours; the first of those that do
	position  int // among the rows that come from there
}

// newGatherPlan returns an agent's plan, in O(n·edges) time at most.
func newGatherPlan(w *network.Matrix, agent int) (*gatherPlan, error) {
	far := make([][]int, w.N())
	steps := 0
	for i := range far {
		far[i] = w.Distances(i)
		if j := slices.Index(far[i], -1); j >= 0 {
			return nil, dsbo.ConfigErrorf(
				"the graph must be connected to gather over it; no path of edges leads from agent %d to agent %d", i, j)
		}
		steps = max(steps, slices.Max(far[i]))
	}
	f := &gatherPlan{widest: 1}
	for _, row := range far {
		count := make([]int, steps+1)
		for _, d := range row {
			count[d]++
		}
		f.widest = max(f.widest, slices.Max(count[:max(1, steps)])) // the last ones nobody has to be told of
	}
	known := make([]bool, w.N())
	for s := range steps {
		var sizes []int
		var learn []learnedRow
		for k, j := range w.Neighbours(agent) {
			rows := agentsAt(far[j], s)
			sizes = append(sizes, len(rows))
			for position, i := range rows {
				if far[agent][i] == s+1 && !known[i] {
					known[i] = true
					learn = append(learn, learnedRow{agent: i, neighbour: k, position: position})
				}
			}
		}
		f.send = append(f.send, agentsAt(far[agent], s))
		f.sizes = append(f.sizes, sizes)
		f.learn = append(f.learn, learn)
	}
	return f, nil
}

// agentsAt returns the agents at a distance, in ascending order.
func agentsAt(far []int, distance int) []int {
	var agents []int
	for i, d := range far {
		if d == distance {
			agents = append(agents, i)
		}
	}
	return agents
}
