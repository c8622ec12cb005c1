package train_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/algo/algotest"
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
	g, err := network.Ring(agents, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	prob, qs := quadratics(1)
	return train.Config{
		Problem: prob, W: g.W, K: 40, EvalEvery: 8, CheckpointEvery: 6, Tol: 1e-13, AdjointTol: 1e-13,
		Method: &algo.MADSBO{Alpha: "0.2", Beta: "0.1", Gamma: "0.1", T: 5, N: 5},
	}, qs
}

// method returns the named method with, of these parameters, those that it has.
func method(t *testing.T, name string, more ...string) algo.Method {
	t.Helper()
	m, err := algo.New(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range append([]string{"alpha=0.2", "beta=0.1", "gamma=0.1", "T=5", "N=5", "lg=10"}, more...) {
		key, value, _ := strings.Cut(set, "=")
		if !slices.Contains(algo.Parameters(m), key) {
			continue
		}
		if err := algo.Decode(m, fmt.Appendf(nil, "{%q:%s}", key, value)); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// broken is an oracle that fails at the n-th Hessian-vector product.
type broken struct {
	dsbo.Oracle
	n   int
	err error
}

func (b *broken) HVP(dst, x, y, v []float64, s dsbo.Sample) error {
	if b.n--; b.n < 0 {
		return b.err
	}
	return b.Oracle.HVP(dst, x, y, v, s)
}
