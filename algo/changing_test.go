package algo_test

import (
	"testing"

	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/internal/testkit"
	"dsbo/network"
)

// TestGraphsThatChange: methods that converge exactly do so over weights that change, or say that
// they cannot, and why.
func TestGraphsThatChange(t *testing.T) {
	if testing.Short() {
		t.Skip("runs thousands of iterations")
	}
	qs := algotest.NewQuadratics(5, 3, 4, 5)
	w := testkit.Get(network.NewMatrix(algotest.Ring(5, 0.4)))
	const steps = `"alpha":0.03,"beta":0.08,"gamma":0.08`
	for _, c := range []struct {
		name, object string
		K            int
	}{
		{"dbifo", `{"a":1,"lam":5,"alpha":0.03,"beta":0.02,"gamma":0.02}`, 2400},
		{"sparkle", `{` + steps + `,"strategy":{"x":"gt","y":"gt","z":"gt"}}`, 1500},
		{"sparkle", `{` + steps + `}`, 1500},
		{"sparkle", `{` + steps + `,"strategy":{"x":"extra","y":"extra","z":"extra"}}`, 1500},
		{"c2dfb", `{"lam":5,"alpha":0.02,"beta":0.01,"gamma":0.08,"T":3}`, 1500},
	} {
		fixed := algo.TraitsOf(made(t, c.name, c.object)).FixedGraph != ""
		for _, x := range []network.Mixing{network.Failing{Probability: 0.3}, network.Matchings{}} {
			if fixed && x != (network.Matchings{}) {
				continue // it may converge or not
			}
			m := testkit.Get(w.WithMixing(x))
			end := endOf(t, c.name, c.object, c.K, qs, algotest.NewMixersOver(m))
			off := norm(algotest.Solve(qs).Gradient(end))
			if c.name != "sparkle" {
				axpy(end, -1, penaltySolution(qs, 5, 1))
				off = norm(end)
			}
			if !fixed && !(off <= 1e-10) || fixed && off < 0.1 {
				t.Errorf("%s %s, %v: off by %.3g; it needs a fixed graph: %t", c.name, c.object, x, off, fixed)
			}
		}
	}
}
