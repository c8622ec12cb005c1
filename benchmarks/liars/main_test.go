package main

import (
	"context"
	"math"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/network"
)

// TestLiars: with robust mixing, two of eight agents that lie keep the others' Φ within 5 % of what
// they would find without them, where the attack ends far off, or not at all, with plain mixing.
func TestLiars(t *testing.T) {
	p := problems()[0]
	p.iterations = 50
	o := p.load()
	w := testkit.Get(network.New("complete", agents, network.Options{})).W
	const liars = 2
	honest := p.run(context.Background(), o, induced(w, agents-liars), 0, nil)
	for _, a := range attacks() {
		if testing.Short() && a.name != "drift by 1" {
			continue
		}
		for _, x := range []network.Mixing{network.Clipped{Liars: liars}, network.Trimmed{Liars: liars}} {
			if end := p.run(context.Background(), o, testkit.Get(w.WithMixing(x)), liars,
				a.lie); !(math.Abs(end.phi/honest.phi-1) <= 0.05) {
				t.Errorf("%s, %v: Φ is %v; it must be within 5 %% of %v", a.name, x, end.phi, honest.phi)
			}
		}
		// of so few honest agents: they differ little
		harmless := a.name == "none" || a.name == "a little: mean − 1.5 deviations"
		if end := p.run(context.Background(), o, w, liars, a.lie); !harmless && math.Abs(end.phi/honest.phi-1) <= 0.05 {
			t.Errorf("%s, plain: Φ is %v, within 5 %% of %v: the attack must do harm", a.name, end.phi, honest.phi)
		}
	}
}
