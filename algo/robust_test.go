package algo_test

import (
	"context"
	"math"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
)

// A shove is an exchange whose sums are off at one agent while it is on, as robust mixing's are.
type shove struct {
	dsbo.Averager
	on *bool
}

func (s shove) Mix(ctx context.Context, dst, src []float64) error {
	err := s.Averager.Mix(ctx, dst, src)
	if *s.on {
		for e := range dst {
			dst[e] += 0.1
		}
	}
	return err
}

// TestRobustMethodsForget: methods that claim to take exchanges that do not keep sums end where
// they would have ended, if sums were off for some iterations alone; those that carry trackers or
// multipliers do not.
func TestRobustMethodsForget(t *testing.T) {
	const agents, p, q, K = 4, 2, 3, 300
	end := func(m algo.Method, shoved int) []float64 {
		ms, on := algotest.NewMixers(algotest.Ring(agents, 0.5)), true
		ms[0].Averager = shove{ms[0].Averager, &on}
		as, os := agentsOn(algotest.NewQuadratics(agents, p, q, 3),
			func() algo.Method { return ready(t, algo.Clone(m), p, q) })
		testkit.OK(algotest.Run(t.Context(), 0, shoved, as, os, ms))
		on = false
		testkit.OK(algotest.Run(t.Context(), shoved, K, as, os, ms))
		return average(each(as, algo.Method.X))
	}
	trackers := algo.Strategy{X: "gt", Y: "gt", Z: "gt"}
	for _, m := range []algo.Method{
		&algo.MADSBO{Alpha: "0.1", Beta: "0.1", Gamma: "0.1", T: 2, N: 4},
		&algo.DSOBA{Alpha: "0.1", Beta: "0.1", Gamma: "0.1"},
		&algo.JHIP{Alpha: "0.1", Beta: "0.1", Gamma: "0.1", T: 2, N: 4},
		&algo.GBDSBO{Alpha: "0.05", Beta: "0.1", Mav: 0.2, L: "4", N: 4},
		&algo.Gossip{Alpha: "0.1", Beta: "0.1", Gamma: "0.1", T: 2, N: 4},
		&algo.Tuned{Alpha: "0.1", Beta: "0.1", Gamma: "0.1", T: 2, N: 4, WarmZ: true, TrackY: true},
		&algo.Sparkle{Alpha: "0.05", Beta: "0.1", Gamma: "0.1", Strategy: trackers},
		&algo.MDBO{Alpha: "0.05", Beta: "0.1", L: "4", N: 4},
	} {
		moved := math.Sqrt(linalg.Dist2(end(m, 3), end(m, 0)))
		// What contracts by 4 % or more an iteration has lost a shove to 1e-5 of itself after 300.
		if robust := algo.TraitsOf(m).Robust; robust != (moved < 1e-5) || math.IsNaN(moved) {
			t.Errorf("%s: three iterations that are off move the end by %g; Robust is %t",
				algo.NameOf(m), moved, robust)
		}
	}
}
