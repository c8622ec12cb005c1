package train

import (
	"context"
	"math"

	"dsbo/algo"
	"dsbo/internal/linalg"
	"dsbo/runs"
	"dsbo/train/exact"
)

// addExactValues adds the exact values to a record. For a personalized problem these are averages
// over the agents' own solutions.
func (e *evaluator) addExactValues(ctx context.Context, r *runs.Record) error {
	none := runs.Unknown()
	r.Phi, r.GradNorm, r.HypergradientError, r.LowerError, r.LowerResidual = none, none, none, none, none
	var all values
	var err error
	switch {
	case !e.config.ExactAt(e.done):
		return nil
	case e.sharedExact != nil:
		e.adoptPairs()
		all, err = e.exactValues(ctx, e.sharedExact, e.means.y, e.means.z)
	case e.ownExact != nil:
		all, err = e.personalizedValues(ctx)
	default:
		return nil
	}
	if err != nil {
		return err
	}
	norm := linalg.Norm(all.gradient)
	r.Phi, r.GradNorm, r.LowerResidual = runs.Number(all.phi), runs.Number(norm), runs.Number(all.residual)
	r.LowerError = runs.Number(math.Sqrt(all.off / all.size))
	if e.means.u != nil && r.Iteration > 0 {
		r.HypergradientError = runs.Number(math.Sqrt(linalg.Dist2(e.means.u, all.gradient)) / norm)
	}
	return nil
}

// adoptPairs gives the exact solver the pairs that the method has, if all agents have them alike:
// they are of a lower problem nearby.
func (e *evaluator) adoptPairs() {
	if pairs := e.adoptablePairs(); pairs != nil {
		e.sharedExact.AdoptPairs(pairs)
	}
}

// adoptablePairs returns the pairs of adoptPairs; nil if there are none.
func (e *evaluator) adoptablePairs() *linalg.Memory {
	pairs := algo.TraitsOf(e.method()).Pairs
	if pairs == nil || !pairs.Relative || pairs.Pairs() == 0 {
		return nil
	}
	return pairs
}

// values are the exact values at one x: Φ, the residual of y*, ‖y − y*‖², ‖y*‖² and ∇Φ.
type values struct {
	phi, residual, off, size float64
	gradient                 []float64
}

// Tolerances of records before the last one where Φ is drawn alone ([Config.HeldOut]). On MNIST
// with 3750 examples an agent it is then off by 7e-5 of it, and a solution takes half the products.
// The last record's hypergradient is too small for them.
const drawnPhi, drawnGradient = 1e-3, 1e-2

// exactValues finds the exact values at x̄, for agents at y and z.
func (e *evaluator) exactValues(ctx context.Context, s *exact.Solver, y, z []float64) (values, error) {
	s.PhiTol, s.GradientTol = 0, 0
	if e.config.drawsAlone() && e.done < e.config.K {
		s.PhiTol, s.GradientTol = drawnPhi, drawnGradient
	}
	sol, err := s.SolveNear(ctx, e.means.x, y, z)
	if err != nil {
		return values{}, err
	}
	return values{sol.Phi, sol.Residual, linalg.Dist2(y, sol.Y), linalg.Dot(sol.Y, sol.Y), sol.Gradient}, nil
}

// personalizedValues returns the averages of the agents' own exact values, except that the residual
// is the largest, since an average would hide one agent's bad solution. The agents solve,
// concurrently, in the calls of Maximum; the averages after that use the stored results.
func (e *evaluator) personalizedValues(ctx context.Context) (all values, err error) {
	own := make([]values, e.N())
	all.residual, err = e.Maximum(ctx, "largest residual", func(i int) (_ float64, err error) {
		own[i], err = e.exactValues(ctx, e.ownExact[i], e.agents[i].y(), e.agents[i].z())
		return own[i].residual, err
	})
	if err != nil {
		return all, err
	}
	sums := make([]float64, 3)
	err = e.MeanNumbers(ctx, "Φ, distances", sums, func(i int, part []float64) error {
		part[0], part[1], part[2] = own[i].phi, own[i].off, own[i].size
		return nil
	})
	if err != nil {
		return all, err
	}
	all.phi, all.off, all.size, all.gradient = sums[0], sums[1], sums[2], make([]float64, len(e.means.x))
	return all, e.Mean(ctx, "hypergradient", e.FineWire(), all.gradient, func(i int, part []float64) error {
		copy(part, own[i].gradient)
		return nil
	})
}
