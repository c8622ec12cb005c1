package train_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/train"
)

// Sizes of the quadratic problem that most tests run on.
const agents, p, q = 5, 3, 6

// quadratics returns a problem with a known answer, noisy in its draws, and its agents.
func quadratics(seed uint64) (train.Problem, []*algotest.Quadratic) {
	qs := algotest.NewQuadratics(agents, p, q, seed)
	var prob train.Problem
	for _, o := range qs {
		o.Noise = 0.1
		prob.Oracles = append(prob.Oracles, o)
		prob.Evaluate = append(prob.Evaluate, o)
	}
	return prob, qs
}

// config is a run of 40 iterations on the quadratics over a ring.
func config(t *testing.T) (train.Config, []*algotest.Quadratic) {
	t.Helper()
	g := testkit.Get(network.Ring(agents, 0.5))
	prob, qs := quadratics(1)
	return train.Config{
		Problem: prob, W: g.W, K: 40, EvalEvery: 8, CheckpointEvery: 6, Tol: 1e-13, AdjointTol: 1e-13,
		Method: &algo.MADSBO{Alpha: "0.2", Beta: "0.1", Gamma: "0.1", T: 5, N: 5},
	}, qs
}

// method returns the named method with, of these parameters, those that it has.
func method(t *testing.T, name string, more ...string) algo.Method {
	t.Helper()
	m := testkit.Get(algo.New(name))
	for _, set := range append([]string{"alpha=0.2", "beta=0.1", "gamma=0.1", "T=5", "N=5", "lg=10"}, more...) {
		if key, _, _ := strings.Cut(set, "="); slices.Contains(algo.Parameters(m), key) {
			use(t, m, set)
		}
	}
	return m
}

// A hooked oracle asks, where they are there, before its Hessian-vector products and before its
// gradients of the lower loss whether it may.
type hooked struct {
	dsbo.ValueOracle
	hvp, lower func() error
}

func (h *hooked) HVP(dst, x, y, v []float64, s dsbo.Sample) error {
	if h.hvp != nil {
		if err := h.hvp(); err != nil {
			return err
		}
	}
	return h.ValueOracle.HVP(dst, x, y, v, s)
}

// Capabilities are the oracle's: all agents have to give the same things.
func (h *hooked) Capabilities() *dsbo.OracleCapabilities {
	of := *h.ValueOracle.Capabilities()
	of.Of = h
	return &of
}

func (h *hooked) LowerGrad(dst, x, y []float64, s dsbo.Sample) error {
	if h.lower != nil {
		if err := h.lower(); err != nil {
			return err
		}
	}
	return h.ValueOracle.LowerGrad(dst, x, y, s)
}

// after returns what fails with err from the n-th call on, 0 being the first.
func after(n int, err error) func() error {
	return func() error {
		if n--; n < 0 {
			return err
		}
		return nil
	}
}

// stopAfter runs c and interrupts it after an iteration.
func stopAfter(c train.Config, k int) (*train.Result, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c.OnIteration = func(done int) {
		if done == k {
			cancel()
		}
	}
	return train.Run(ctx, c)
}

func near(t *testing.T, name string, got, want []float64, tol float64) {
	t.Helper()
	for i := range want {
		if math.Abs(got[i]-want[i]) > tol || math.IsNaN(got[i]) {
			t.Errorf("%s[%d] = %.15g, want %.15g within %g", name, i, got[i], want[i], tol)
			return
		}
	}
}
