package train_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"dsbo"
	"dsbo/algo"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/train"
)

// TestCurvature: the largest eigenvalue of a dense decomposition is found, from below.
func TestCurvature(t *testing.T) {
	prob, qs := quadratics(5)
	got, want := testkit.Get(prob.Curvature(context.Background(), make([]float64, p), make([]float64, q))), 0.0
	for _, o := range qs {
		var e mat.EigenSym
		if !e.Factorize(mat.NewSymDense(q, o.A), false) {
			t.Fatal("no eigenvalues")
		}
		values := e.Values(nil)
		want = max(want, values[len(values)-1])
	}
	if got > want*(1+1e-12) || got < 0.99*want {
		t.Errorf("L_max = %g, want %g or a little less", got, want)
	}
	if _, err := prob.Curvature(context.Background(), make([]float64, p+1), make([]float64, q)); !errors.Is(err,
		dsbo.ErrShape) || !strings.Contains(err.Error(), "agent 0") {
		t.Errorf("%v, want a shape error that names the agent", err)
	}
	flat := []dsbo.Oracle{flat{prob.Oracles[0], 0}, flat{prob.Oracles[1], math.NaN()}}
	if l, err := (train.Problem{Oracles: flat[:1]}).Curvature(context.Background(), make([]float64, p),
		make([]float64, q)); err != nil || l != 0 {
		t.Errorf("curvature of a flat loss %v, %v; want 0", l, err)
	}
	if _, err := (train.Problem{Oracles: flat}).Curvature(context.Background(), make([]float64, p), make([]float64,
		q)); err == nil || !strings.Contains(err.Error(), "agent 1") {
		t.Errorf("%v, want that agent 1 is named", err)
	}
}

// flat is an oracle whose Hessian is one number.
type flat struct {
	dsbo.Oracle
	h float64
}

func (flat) Capabilities() *dsbo.OracleCapabilities { return nil }

func (f flat) HVP(dst, _, _, v []float64, _ dsbo.Sample) error {
	for i := range dst {
		dst[i] = f.h * v[i]
	}
	return nil
}

func TestStepWarnings(t *testing.T) {
	ring := testkit.Get(network.Ring(4, 0.5))
	const lmax = 4
	for _, c := range []struct {
		beta, gamma float64
		want        []string
	}{
		{0.4, 0.12, nil}, // λ_min = 0: γ is below 0.5/4
		{0.5, 0.12, []string{"beta = 0.5"}},
		{0.4, 0.126, []string{"gamma = 0.126"}},
		{1, 1, []string{"beta = 1", "gamma = 1"}},
	} {
		got := train.StepWarnings(
			train.Config{W: ring.W, Method: &algo.MADSBO{Beta: algo.Constant(c.beta), Gamma: algo.Constant(c.gamma)}},
			lmax, 0)
		if len(got) != len(c.want) {
			t.Errorf("beta %g, gamma %g: %q, want %q", c.beta, c.gamma, got, c.want)
			continue
		}
		for i := range got {
			if !strings.Contains(got[i], c.want[i]) {
				t.Errorf("%q: want %q", got[i], c.want[i])
			}
		}
	}
	if got := train.StepWarnings(train.Config{W: ring.W, Method: &algo.ITD{}}, lmax, 0); got != nil {
		t.Errorf("%q: itd has no gamma", got)
	}
}
