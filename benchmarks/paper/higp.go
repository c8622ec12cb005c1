package main

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/cmplx"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"dsbo"
	"dsbo/algo"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/network"
)

// An inverseProduct is what Algorithm 1 solves: Σ H_i z = Σ b_i for the quadratics' H_i = A_i and
// b_i = ∇_y f_i at (0, 0), on a graph.
type inverseProduct struct {
	ms      []models.Quadratic
	oracles []dsbo.Oracle
	w       *network.Matrix
	star    []float64
	lmax    float64 // the largest eigenvalue of any H_i
}

func newInverseProduct(c quadratics, w *network.Matrix) *inverseProduct {
	ms := c.agents()
	star := testkit.Get(models.SolveQuadratics(ms)).InverseProduct(make([]float64, c.q))
	return &inverseProduct{ms: ms, oracles: c.problem(0).Oracles, w: w, star: star, lmax: c.high}
}

// errorAfter runs N steps from 0 on all agents and returns the root of the mean of ‖z_i − z*‖²,
// relative to ‖z*‖.
func (s *inverseProduct) errorAfter(ctx context.Context, gamma float64, N int) float64 {
	p, q := s.oracles[0].Dims()
	x, y := make([]float64, p), make([]float64, q)
	off := make([]float64, len(s.oracles))
	onAgents(ctx, s.oracles, s.w, func(ctx context.Context, i int, o dsbo.Oracle, m dsbo.Mixer) error {
		h := algo.NewHIGP(q)
		err := h.Solve(ctx, 0, o, m, x, y, gamma, N)
		off[i] = linalg.Dist2(h.Z(), s.star)
		return err
	})
	return math.Sqrt(stat.Mean(off, nil)) / linalg.Norm(s.star)
}

// A decay is the error of HIGP against its number of steps.
type decay struct {
	steps, errors []float64
	factor        float64 // of the error, per step: from the line through the logarithms
	rSquared      float64 // share of the logarithms' variance that the line explains
}

// decay measures the errors after up to limit steps, until one is below 1e-11 or above 1e6. The
// line is fitted to those below 0.1 or, of fewer than 3, to the second half.
func (s *inverseProduct) decay(ctx context.Context, gamma float64, limit int) decay {
	var d decay
	stride := 1
	for N := 1; N <= limit; N += stride {
		e := s.errorAfter(ctx, gamma, N)
		if e < 1e-11 || e > 1e6 {
			break
		}
		d.steps, d.errors = append(d.steps, float64(N)), append(d.errors, e)
		stride = max(1, N/12)
	}
	from := slices.IndexFunc(d.errors, func(e float64) bool { return e < 0.1 })
	if from < 0 || len(d.errors)-from < 3 {
		from = len(d.errors) / 2
	}
	steps, logs := d.steps[from:], column(d.errors[from:], math.Log10)
	intercept, slope := stat.LinearRegression(steps, logs, nil, false)
	d.factor, d.rSquared = math.Pow(10, slope), stat.RSquared(steps, logs, nil, intercept, slope)
	return d
}

// radius is the spectral radius of the iteration (z, d) ← (Wz − γd, Wd + H(z⁺ − z)) on the errors
// that can occur: Σ d = Σ (Hz − b) at all times, which leaves out q eigenvalues that are 1.
func (s *inverseProduct) radius(gamma float64) float64 {
	n, q := s.w.N(), s.ms[0].Q
	m := mat.NewDense(2*n*q, 2*n*q, nil)
	for i := range n {
		for j := range n {
			w, own := s.w.At(i, j), 0.0
			if i == j {
				own = 1
			}
			for a := range q {
				m.Set(i*q+a, j*q+a, w)
				m.Set(i*q+a, (n+j)*q+a, -gamma*own)
				m.Set((n+i)*q+a, (n+j)*q+a, w)
				for b := range q {
					h := s.ms[i].A[a*q+b]
					m.Set((n+i)*q+a, j*q+b, (w-own)*h)
					m.Set((n+i)*q+a, (n+j)*q+b, m.At((n+i)*q+a, (n+j)*q+b)-gamma*own*h)
				}
			}
		}
	}
	var e mat.Eigen
	if !e.Factorize(m, mat.EigenNone) {
		testkit.OK(errors.New("the eigenvalues of HIGP's iteration were not found"))
	}
	v := e.Values(nil)
	slices.SortFunc(v, func(a, b complex128) int { return cmp.Compare(cmplx.Abs(a-1), cmplx.Abs(b-1)) })
	r := 0.0
	for _, c := range v[q:] {
		r = max(r, cmplx.Abs(c))
	}
	return r
}

// limit is the largest γ, times L_max, that is stable, by bisection on the spectral radius.
func (s *inverseProduct) limit() float64 {
	low, high := 0.0, 3/s.lmax
	for range 25 {
		mid := (low + high) / 2
		if s.radius(mid) < 1 {
			low = mid
		} else {
			high = mid
		}
	}
	return low * s.lmax
}
