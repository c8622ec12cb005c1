package train_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"dsbo"
	"dsbo/algo/algotest"
	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/network"
	"dsbo/train"
)

// sharpPenalty returns the largest eigenvalue of H⁻¹∇²_yy f of quadratics, averaged.
func sharpPenalty(qs []*algotest.Quadratic) float64 {
	q := qs[0].Q
	a, d := mat.NewDense(q, q, nil), mat.NewDense(q, q, nil)
	for _, o := range qs {
		a.Add(a, mat.NewDense(q, q, o.A))
		d.Add(d, mat.NewDense(q, q, o.D))
	}
	var m mat.Dense
	testkit.OK(m.Solve(a, d))
	var e mat.Eigen
	if !e.Factorize(&m, mat.EigenNone) {
		panic("no eigenvalues")
	}
	largest := 0.0
	for _, v := range e.Values(nil) {
		largest = max(largest, real(v))
	}
	return largest
}

// TestCentralNeedsAMinimum: with order 2 λ must be above the largest eigenvalue of H⁻¹∇²_yy f, to 5
// per cent, and the error says by which λ it is. Order 1, and a
// loss f of bounded gradient, take any λ.
func TestCentralNeedsAMinimum(t *testing.T) {
	seeds := uint64(4)
	if testing.Short() {
		seeds = 1
	}
	for seed := uint64(1); seed <= seeds; seed++ {
		for _, name := range []string{"dbifo", "fab", "c2dfb", "f2sa"} {
			n := agents
			if name == "f2sa" {
				n = 1
			}
			qs := algotest.NewQuadratics(n, p, q, seed)
			c := train.Config{W: testkit.Get(network.NewMatrix(algotest.Ring(n, 0.5))), K: 20, EvalEvery: 20}
			for _, o := range qs {
				c.Problem.Oracles = append(c.Problem.Oracles, o)
				c.Problem.Evaluate = append(c.Problem.Evaluate, o)
			}
			sharp := sharpPenalty(qs)
			gamma := func(lambda float64) string { // for y and z to go equally far
				if name == "c2dfb" || name == "f2sa" {
					return fmt.Sprint(0.05 * lambda)
				}
				return "0.05"
			}
			for share, order := range map[float64]int{0.95: 2, 1.05: 2, 0.9: 1} {
				lambda := fmt.Sprint(share * sharp)
				c.Method = method(t, name, "alpha=1e-9", "beta=0.05", "gamma="+gamma(share*sharp),
					fmt.Sprint("order=", order), "lam="+lambda, "lam0="+lambda)
				_, err := train.Run(t.Context(), c)
				if share > 1 || order == 1 {
					testkit.OK(err)
					continue
				}
				parameter := map[bool]string{true: "lam0", false: "lam"}[name == "f2sa"]
				want := name + ": " + parameter +
					" must be above L_f/μ_g with order 2, so that λg − f has a minimum in y ("
				var enough, is float64
				if !errors.Is(err, dsbo.ErrConfig) || !strings.HasPrefix(err.Error(), want) {
					t.Fatalf("seed %d, λ of %g: error %v", seed, share*sharp, err)
				}
				rest := strings.TrimPrefix(err.Error(), want)
				testkit.Get(fmt.Sscanf(rest, "%g is enough here); it is %g", &enough, &is))
				if !(math.Abs(is-share*sharp) <= 1e-9) || enough < sharp || enough > 3*sharp {
					t.Errorf("seed %d: %v; the least is %g", seed, err, sharp)
				}
			}
		}
	}
	for _, float32 := range []bool{false, true} {
		set := testkit.Get(data.Synthetic{Agents: 3, Features: 6, Train: 30, Val: 40, Rate: 1, Seed: 1}.Task())
		c := train.Config{Method: method(t, "dbifo", "beta=0.001", "gamma=0.001", "lam=0.01", "order=2"), K: 2,
			W: testkit.Get(network.NewMatrix(algotest.Ring(3, 0.5))), StartX: []float64{-9, -9, -9, -9, -9, -9}}
		c.Problem = testkit.Get(train.NewProblem(set, models.Logistic{Features: 6}, models.Config{Float32: float32}))
		testkit.Get(train.Run(t.Context(), c))
	}
}
