package train_test

import (
	"strings"
	"testing"

	"dsbo"
	"dsbo/algo/algotest"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/train"
)

// TestWhoTakesProducts: where products travel rounded, exact values take them by the oracles of the
// method, each agent's own solution by its own; else evaluation's oracles answer.
func TestWhoTakesProducts(t *testing.T) {
	for _, name := range []string{"pdsbo_gossip", "madsbo", "madsbo, not convex"} {
		name, _, nonconvex := strings.Cut(name, ",") // with the least eigenvalue alone
		for _, wire := range []network.Wire{network.Float64, network.Float32} {
			asked := map[string][]int{}
			for _, how := range []string{train.EvaluateOff, train.EvaluateExact} {
				c, _ := config(t)
				c.Method, c.K, c.EvalEvery, c.Evaluate, c.Tol, c.AdjointTol = method(t, name), 1, 1, how, 0, 0
				c.Problem.Average.Wire, c.Problem.Nonconvex = wire, nonconvex
				var recorders []*algotest.Recorder
				for i, o := range c.Problem.Oracles {
					recorders = append(recorders, algotest.NewRecorder(o))
					c.Problem.Oracles[i] = dsbo.Oracle(recorders[i])
				}
				testkit.Get(train.Run(t.Context(), c))
				for _, r := range recorders {
					asked[how] = append(asked[how], r.Total.HVP)
				}
			}
			for i, n := range asked[train.EvaluateExact] {
				if more := n - asked[train.EvaluateOff][i]; more > 0 != (wire == network.Float32 && !nonconvex) {
					t.Errorf("%s, %v: exact values took %d products by the method's oracle of agent %d", name, wire,
						more, i)
				}
			}
		}
	}
}
