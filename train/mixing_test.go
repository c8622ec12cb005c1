package train_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/train"
)

// TestMixing: each method runs over weights that change, to the same bits again, with its exchanges
// timed, or is refused by name, with the reason.
func TestMixing(t *testing.T) {
	c, _ := config(t)
	c.K, c.EvalEvery = 4, 2
	ring := testkit.Get(network.New("ring", agents, network.Options{})).W
	circle := make([][]float64, agents) // in one direction
	for i := range circle {
		circle[i] = make([]float64, agents)
		circle[i][i], circle[i][(i+1)%agents] = 0.5, 0.5
	}
	directed := testkit.Get(network.NewDirected([][][]float64{circle}, [][][]float64{circle}))
	for _, w := range []*network.Matrix{testkit.Get(ring.WithMixing(network.Failing{Probability: 0.3})),
		testkit.Get(ring.WithMixing(network.Matchings{})), directed} {
		for _, name := range algo.Names() {
			c.W, c.Method = w, method(t, name)
			if name == "newtoncg" {
				c.Method = method(t, name, `init="x0"`)
			}
			traits := algo.TraitsOf(c.Method)
			refused, want := traits.ExactAverage || traits.FixedGraph != "" || w == directed && !traits.Directed,
				name+" needs "
			if traits.OneAgent {
				continue
			}
			if !refused {
				once := run(t, c)
				sameRun(t, once, run(t, c))
				if once.Usage[0].MixSeconds <= 0 {
					t.Errorf("%s with mixing %v: its exchanges must be timed", name, w.Mixing())
				}
			} else if _, err := train.Run(context.Background(), c); !errors.Is(err, dsbo.ErrConfig) ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("%s with mixing %v: %v; it must be refused: %s", name, w.Mixing(), err, want)
			}
		}
	}
}
