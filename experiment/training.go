package experiment

import (
	"context"
	"errors"

	"dsbo"
	"dsbo/algo"
	"dsbo/runs"
	"dsbo/train"
)

// trainingConfig returns the configuration of runs that find models of a problem where x is held still, for methods that can; nil:
// the run's cannot, or the lower problem has one solution, which is found exactly.
func (r *runner) trainingConfig(p train.Problem) *train.Config {
	m, ok := r.method.(interface{ Held() algo.Method })
	if !ok || !p.Nonconvex {
		return nil
	}
	c := r.trainConfig()
	c.Method, c.EvalEvery, c.CheckpointEvery, c.Patience, c.Evaluate = m.Held(), c.K, c.K, 0, train.EvaluateOff
	c.Dir, c.Resume, c.From, c.Membership, c.W = "", false, nil, nil, p.W
	return &c
}

// solveByTraining finds y of the lower problem at x by a run from the start, with the draws of every other model. It has converged as
// far as such a run does. Phi of the result is f(x, y).
func (f *finder) solveByTraining(ctx context.Context, x []float64) (train.Solution, error) {
	c := *f.training
	c.Problem, c.StartX = f.problem.Problem, x
	c.Problem.Score, c.Problem.Each, c.Problem.Matrix = nil, nil, dsbo.Hessian // the model is scored afterwards, and there are no products
	result, err := train.Run(ctx, c)
	if result != nil {
		f.problem.Sent.Add(runs.Total(result.Usage).Sent)
		f.problem.Sent.Add(result.Evaluation)
	}
	if errors.Is(err, train.ErrInterrupted) {
		return train.Solution{}, ctx.Err() // it is the run that is interrupted
	}
	if err != nil {
		return train.Solution{}, err
	}
	phi, err := f.problem.UpperLoss(ctx, train.Fit{X: x, Y: result.Y})
	return train.Solution{Phi: phi, Y: result.Y, Converged: true}, err
}
