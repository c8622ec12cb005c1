package train_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/network"
	"dsbo/train"
)

// TestStableIsTheBound: gradient tracking on ½Lz² over a graph's least eigenvalue dies out just
// below the bound and grows above.
func TestStableIsTheBound(t *testing.T) {
	const l = 3
	for name, n := range map[string]int{"ring": 8, "path": 5, "complete": 4, "star": 6} {
		g := testkit.Get(network.New(name, n, network.Options{}))
		gamma, beta := train.StableBounds(g.W, l)
		if beta != 2./l {
			t.Errorf("bound of β %g, want 2/L", beta)
		}
		least := g.W.LambdaMin()
		if got, want := train.TrackedBound(g.W, l, .3), (1+least)*(1+1.6*least)/6; !(math.Abs(got-want) <= 1e-15) {
			t.Errorf("%s of %d: with momentum 0.3 the bound is %g, want %g", name, n, got, want)
		}
		for _, c := range []struct {
			share  float64
			stable bool
		}{{0.97, true}, {1.03, false}} {
			grown := 0.0
			for _, lambda := range []float64{1, 0, g.W.LambdaMin()} {
				z, s := 1.0, l*1.0
				d := s
				for range 4000 {
					z = lambda*z - c.share*gamma*d
					d, s = lambda*d+l*z-s, l*z
				}
				grown = max(grown, math.Abs(z))
			}
			if stable := grown < 1e-3; stable != c.stable {
				t.Errorf("%s of %d, %g of the bound: z = %g in the end, want stable %v", name, n, c.share,
					grown, c.stable)
			}
		}
	}
}

// TestStepsBeyondTheirBounds: a step at its bound is warned of, one below it is not, and a step of
// z with momentum may be half as large again. What would be stable is a step of 0.95 of 0.8 of the
// bound, where it is above 0.8 of it.
func TestStepsBeyondTheirBounds(t *testing.T) {
	const l = 4
	w := testkit.Get(network.New("path", 3, network.Options{})).W
	least := w.LambdaMin()
	tracked := func(m float64) float64 { return (1 + least) * (1 + least*(1+2*m)) / (2 * l) }
	for _, m := range []float64{0, 0.3} {
		if got := train.TrackedBound(w, l, m); !(math.Abs(got-tracked(m)) <= 1e-15) {
			t.Errorf("with momentum %g the bound is %g, want %g", m, got, tracked(m))
		}
	}
	config := func(beta, gamma, momentum float64) train.Config {
		return train.Config{W: w, K: 10, Method: &algo.Tuned{Beta: algo.Constant(beta), Gamma: algo.Constant(gamma),
			MomZ: momentum}}
	}
	const below = 1 - 1e-9
	for _, c := range []struct {
		beta, gamma, momentum float64
		warned                []string
		settings              []string // nil: not asked for
	}{
		{2. / l * below, tracked(0) * below, 0, nil, []string{"beta=0.38", fmt.Sprintf("gamma=%.2g", 0.76*tracked(0))}},
		{2. / l, tracked(0), 0, []string{"beta", "gamma"}, nil},
		{0.8 * 2 / l * below, 1.5 * tracked(0.3) * below, 0.3, nil, nil},
		{0.8 * 2 / l * 1.001, 1.5 * tracked(0.3), 0.3, []string{"gamma"}, nil},
		{0.8 * 2 / l * below, 0.8 * tracked(0) * below, 0, nil, []string{}},
		{0.1, 0.01, 0.99, nil, nil},
	} {
		of := config(c.beta, c.gamma, c.momentum)
		var names []string
		for _, warning := range train.StepWarnings(of, l, 0) {
			name, _, _ := strings.Cut(warning, " ")
			names = append(names, name)
		}
		if fmt.Sprint(names) != fmt.Sprint(c.warned) && tracked(c.momentum) > 0 {
			t.Errorf("steps %g and %g with momentum %g: warnings of %v, want %v", c.beta, c.gamma, c.momentum, names,
				c.warned)
		}
		if got := train.StableSettings(of, l, 0); c.settings != nil && fmt.Sprint(got) != fmt.Sprint(c.settings) {
			t.Errorf("steps %g and %g: stable are %v, want %v", c.beta, c.gamma, got, c.settings)
		}
	}
}

// TestEarliest: of several divergences the earliest iteration's counts, of one iteration the lowest
// agent's.
func TestEarliest(t *testing.T) {
	at := func(agent, iteration int) error { return &dsbo.DivergedError{Agent: agent, Iteration: iteration} }
	got := train.Earliest([]error{nil, at(1, 7), at(2, 5), errors.New("another"), at(4, 5)})
	if got == nil || got.Agent != 2 || got.Iteration != 5 {
		t.Errorf("the divergence is %v, want agent 2's in iteration 5", got)
	}
}

// TestAdviceHelps: a run diverges as x grows to where the lower problem is too stiff for its steps:
// x must grow, as training examples are fewer than features. With either part of the advice it
// does not.
func TestAdviceHelps(t *testing.T) {
	c := train.Config{
		K: 400, EvalEvery: 400, Evaluate: train.EvaluateOff,
		Method: &algo.Tuned{
			T: 20, N: 20, Alpha: "0.5", WarmZ: true, TrackY: true, MomY: 0.95, MomZ: 0.95,
			XStep: "adam", Lr: "0.1", V: 0.95, Clip: []float64{-8, 8},
		},
	}
	set := testkit.Get(data.Synthetic{Agents: 2, Features: 30, Train: 20, Val: 200, Rate: 1, Seed: 1}.Task())
	c.Problem = testkit.Get(train.NewProblem(set, models.Logistic{Features: 30}, models.Config{}))
	path := testkit.Get(network.New("path", 2, network.Options{}))
	c.W = path.W
	l := testkit.Get(c.Problem.Curvature(t.Context(), make([]float64, 30), make([]float64, 30)))
	use(t, c.Method, fmt.Sprintf("beta=%g", 0.7/l), fmt.Sprintf("gamma=%g", 0.65/l))
	_, err := train.Run(context.Background(), c)
	d := (*dsbo.DivergedError)(nil)
	if !errors.As(err, &d) {
		t.Fatalf("%v, want divergence", err)
	}
	known, same := c, (*dsbo.DivergedError)(nil)
	known.Start.Curvature = l // which is found at the start where it is not known
	if _, err := train.Run(context.Background(), known); !errors.As(err, &same) || same.Advice != d.Advice {
		t.Errorf("where the curvature of the start is known: %v, want %q", err, d.Advice)
	}
	_, settings, _ := strings.Cut(d.Advice, ": ")
	steps, box, _ := strings.Cut(settings, ", or ")
	for _, follow := range [][]string{strings.Fields(steps), {box}} {
		again := c
		again.Method = algo.Clone(c.Method)
		use(t, again.Method, follow...)
		if _, err := train.Run(context.Background(), again); err != nil {
			t.Errorf("%q, and with %q of it: %v", d.Advice, follow, err)
		}
	}
}

// use sets parameters, each name=value.
func use(t *testing.T, m algo.Method, settings ...string) {
	t.Helper()
	for _, s := range settings {
		name, value, ok := strings.Cut(s, "=")
		if err := algo.Decode(m, fmt.Appendf(nil, "{%q:%s}", name, value)); err != nil || !ok {
			t.Fatalf("%q: %v", s, err)
		}
	}
}
