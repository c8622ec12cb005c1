package experiment

import (
	"context"
	"slices"

	"dsbo"
	"dsbo/experiment/candidates"
	"dsbo/network"
	"dsbo/runs"
	"dsbo/train"
)

// startsAtBest reports whether x starts at the best constant.
func (r *poser) startsAtBest() bool {
	return r.X0Best && !r.givenFlags["x0"] && r.problem.penalties && r.problem.startX == nil
}

// findStart finds the constant at which Φ is least, where -best-start asks for it, and x is
// penalties without a start of its own: other x start at 0. It is among what was found together,
// where a run that goes on has it, after what all agents spent on it.
func (r *poser) findStart(ctx context.Context) error {
	l := &r.loaded
	asked := r.X0Best
	r.X0Best = r.startsAtBest()
	switch {
	case asked && r.problem.guard != nil:
		return dsbo.ConfigErrorf("-best-start and -dp-epsilon are mutually exclusive: exact solutions have no bound")
	case !r.X0Best || l.searched.Value > 0: // or it is known
		return nil
	case r.team == nil:
		if err := r.resumeSetup(); err != nil {
			return err
		}
	}
	found, err := l.setup.foundBy(runs.UsageLen+1, func() (runs.Found, error) {
		var spent runs.Usage
		prob, calls := r.startProblem().Counted()
		// the same λ whatever the method's wire and its matrix
		prob.Sent, prob.Average, prob.Matrix = &spent.Traffic, network.AverageOptions{}, dsbo.Hessian
		p, _ := l.model.Dims()
		best, err := candidates.New(prob, r.problem.meaning.Symbol, p, prob.Solver(), nil, nil).ConstantNear(ctx, 0)
		if err != nil {
			return runs.Found{}, err
		}
		l.setup.Sent.Add(spent.Traffic)
		spent.Add(runs.Total(slices.Repeat([]runs.Usage{{Calls: *calls}}, len(prob.Oracles)))) // all are asked alike
		return runs.Found{Sum: append(spent.Pack(), float64(best.Lambda))}, nil
	})
	if err != nil {
		return err
	}
	r.X0, l.searched = found.Sum[runs.UsageLen], runs.UnpackUsage(found.Sum)
	r.view.Log("%s starts at %g, the constant of the least Φ", r.problem.meaning.Symbol, r.X0)
	return nil
}

// validate reports what cannot work, such as a method whose box leaves out where all methods start.
func (r *poser) validate(c train.Config) error {
	if box := c.Box(); r.X0Best && box != nil && (r.X0 < box[0] || r.X0 > box[1]) {
		return dsbo.ConfigErrorf("clip must contain %g, the best constant, where x starts; it is %v", r.X0, box)
	}
	return c.Validate()
}
