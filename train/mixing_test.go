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

// TestRobustMixing: each method runs with robust mixing, to the same bits again, or is refused
// by name.
func TestRobustMixing(t *testing.T) {
	c, _ := config(t)
	c.K, c.EvalEvery = 4, 2
	c.W = testkit.Get(testkit.Get(network.New("complete", agents, network.Options{})).W.WithMixing(
		network.Trimmed{Liars: 1}))
	for _, name := range algo.Names() {
		if c.Method = method(t, name); algo.TraitsOf(c.Method).Robust {
			sameRun(t, run(t, c), run(t, c))
			continue
		}
		_, err := train.Run(context.Background(), c)
		if want := name + " cannot do with mixing trimmed:1"; !errors.Is(err, dsbo.ErrConfig) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; it must be refused: %s", name, err, want)
		}
	}
}

// TestChangingWeights: each method runs over weights that change, to the same bits again, or is
// refused with the reason.
func TestChangingWeights(t *testing.T) {
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
			if traits.OneAgent {
				continue
			}
			listed, _ := w.Mixing().(*network.Listed)
			if traits.ExactAverage || traits.FixedGraph != "" || listed != nil && !traits.Directed {
				_, err := train.Run(context.Background(), c)
				if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), name+" needs ") {
					t.Errorf("%s with mixing %v: %v; it must be refused", name, w.Mixing(), err)
				}
				continue
			}
			sameRun(t, run(t, c), run(t, c))
		}
	}
}
