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
