package train_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/network"
	"dsbo/runs"
)

// An apart method serves one agent alone, as on machines that are apart, though it could serve all.
type apart struct{ algo.Method }

func (a *apart) Init(p, q, K int) error {
	a.Method = algo.Clone(a.Method)
	return a.Method.Init(p, q, K)
}

func (a *apart) Traits() algo.Traits {
	t := algo.TraitsOf(a.Method)
	t.Terms = false
	return t
}

// TestShared: a method that serves all agents comes to the bits, calls and traffic of methods that
// serve one each, on each wire.
func TestShared(t *testing.T) {
	for _, name := range []string{"newtoncg", "adamcg"} {
		for _, wire := range []network.Wire{network.Float64, network.Float32, network.BF16, network.Int8} {
			t.Run(name+" "+wire.String(), func(t *testing.T) {
				c, _ := config(t)
				for i, o := range algotest.NewQuadratics(agents, p, 40, 1) { // vectors so long that they are rounded
					c.Problem.Oracles[i], c.Problem.Evaluate[i] = o, o
				}
				c.K, c.Problem.Average = 6, network.AverageOptions{Wire: wire, Seed: 3}
				c.Method = method(t, name, `init="x0"`, "mem=6")
				one := run(t, c)
				c.Method = &apart{c.Method}
				each := run(t, c)
				if diff := cmp.Diff(each.X, one.X) + cmp.Diff(each.Y, one.Y); diff != "" {
					t.Errorf("one method for all has other bits (-each +one):\n%s", diff)
				}
				for i, want := range each.Usage {
					got := one.Usage[i]
					got.Times, want.Times = runs.Times{}, runs.Times{}
					if got != want {
						t.Errorf("agent %d has spent %+v, with a method of its own %+v", i, got, want)
					}
				}
			})
		}
	}
}
