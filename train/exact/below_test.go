package exact_test

import (
	"math"
	"testing"

	"dsbo"
	"dsbo/algo/algotest"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/train/exact"
)

// lowered are the losses of an oracle: f less a number, and a lower loss that is so large that a
// share of it is a wide bound.
type lowered struct {
	dsbo.ValueOracle
	by float64
}

func (o lowered) Capabilities() *dsbo.OracleCapabilities {
	of := *o.ValueOracle.Capabilities()
	of.Of, of.Values = o, o.Values
	return &of
}

func (o lowered) Values(x, y []float64, s dsbo.Sample) (upper, lower float64, err error) {
	upper, lower, err = o.ValueOracle.Values(x, y, s)
	return upper - o.by, lower + 1e4, err
}

// TestLossesBelowZero: Φ is right to the tolerance, and to the error that is stated, whatever
// number is taken off f, also where f is far more curved than the lower loss: the gradient stays
// the same.
func TestLossesBelowZero(t *testing.T) {
	const q = 40
	qs := algotest.NewQuadratics(agents, p, q, 5)
	for _, o := range qs {
		linalg.Scale(o.D, 300, o.D)
		linalg.Fill(o.LinearTerm, 0)
		linalg.Fill(o.E, 0)
	}
	x := []float64{1, 2, 3}
	of := func(by float64) (all []dsbo.ValueOracle) {
		for _, o := range qs {
			all = append(all, lowered{o, by})
		}
		return all
	}
	sharp := exact.Solver{Oracles: of(0), Tol: 1e-13, AdjointTol: 1e-13}
	truth := testkit.Get(sharp.Solve(t.Context(), x))
	if truth.Phi <= 0 {
		t.Fatalf("Φ is %g: the test needs one above 0", truth.Phi)
	}
	products := map[int]bool{}
	for _, share := range []float64{0, .999, 1, 1.001, 1.5, 2, 10} {
		by := share * truth.Phi
		solver := exact.Solver{Oracles: of(by), PhiTol: 1e-2}
		got := testkit.Get(solver.Solve(t.Context(), x))
		off := math.Abs(got.Phi - (truth.Phi - by))
		size := math.Abs(got.Phi)
		if got.Phi < 0 {
			products[got.Products] = true
		}
		if off > got.PhiError+1e-12*truth.Phi || share > 1.01 && (!got.Converged || off > 1e-2*size) {
			t.Errorf("less %g of it: Φ is off by %g, of %g; stated are %g", share, off, got.Phi, got.PhiError)
		}
	}
	if len(products) != 1 {
		t.Errorf("below 0 the solves take %v products, want one number", products)
	}
}
