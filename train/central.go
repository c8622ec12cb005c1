package train

import (
	"context"
	"math/rand/v2"
	"slices"

	"dsbo"
	"dsbo/algo"
	"dsbo/internal/linalg"
	"dsbo/internal/num"
)

// farOut is the distance from the start of y at which the curvature of λg − f is probed, in each
// entry times a normal number.
const farOut = 1e9

// checkCentral checks, for methods that take central differences of a penalty, that the averaged λg
// − f has a minimum in y, by its curvature far from the start of y. For quadratics it has one if λ
// exceeds the largest eigenvalue of (∇²_yy g)⁻¹ ∇²_yy f, for which λ > L_f/μ_g suffices. If the
// gradient of f is bounded, there is a minimum for any λ. The check takes at most 60 products with
// ∇²_yy g and as many differences of ∇_y f, each over all agents. Problems without evaluation, or
// not known to be convex, are not checked.
func (r *runner) checkCentral(ctx context.Context) error {
	lambda := algo.TraitsOf(r.agents[r.Local()[0]].alg).Central
	if lambda == 0 || r.Problem.Nonconvex || r.Problem.Evaluate == nil {
		return nil
	}
	least, err := r.leastFarOut(ctx, lambda, 1)
	if err != nil || !(least < 0) {
		return err
	}
	ofG, err := r.leastFarOut(ctx, 1, 0)
	if err != nil {
		return err
	}
	// Raising λ by d raises the least eigenvalue by at least d·ofG: d = −least/ofG makes it 0.
	name := "lam"
	if !slices.Contains(algo.Parameters(r.Config.Method), name) {
		name = "lam0"
	}
	return dsbo.ConfigErrorf("%s: %s must be above L_f/μ_g with order 2, so that λg − f has a minimum in y (%.3g is "+
		"enough here); it is %g", algo.NameOf(r.Config.Method), name, lambda-float64(least/ofG*1.01), lambda)
}

// leastFarOut returns about the least eigenvalue of the averaged Hessian of ofG·g − ofF·f in y, far
// from the start of y, at the same point on all agents. Oracles have products with ∇²_yy g alone:
// those with ∇²_yy f are central differences of ∇_y f.
func (r *runner) leastFarOut(ctx context.Context, ofG, ofF float64) (float64, error) {
	const h = farOut * 1e-3 // half-width of differences: exact for quadratics; else only the sign matters
	p := r.Problem
	p.Sent = &r.eval.sent
	x, y := r.start()
	far, draws := slices.Clone(y), rand.New(rand.NewPCG(1, 0))
	for i := range far {
		far[i] += float64(farOut * num.Normal(draws))
	}
	return leastOfMean(r.collectiveContext(ctx), p.agents(), len(y), func(i int, dst, v []float64) error {
		up, down, at := make([]float64, len(y)), make([]float64, len(y)), make([]float64, len(y))
		linalg.Comb(at, 1, far, h, v)
		o := p.oracle(i)
		err := o.UpperGrad(nil, up, x, at, allExamples)
		if err == nil {
			linalg.Comb(at, 1, far, -h, v)
			err = o.UpperGrad(nil, down, x, at, allExamples)
		}
		if err == nil {
			err = o.HVP(dst, x, far, v, allExamples)
		}
		linalg.Sub(up, up, down)
		linalg.Comb(dst, ofG, dst, -ofF/(2*h), up)
		return err
	})
}
