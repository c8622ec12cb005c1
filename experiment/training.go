package experiment

import (
	"context"
	"errors"
	"math"

	"dsbo/algo"
	"dsbo/runs"
	"dsbo/train"
)

// training returns the configuration of runs that find models where x is held still, for methods that can; nil: the run's cannot.
func (r *runner) training() *train.Config {
	m, ok := r.method.(interface{ Held() algo.Method })
	if !ok {
		return nil
	}
	c := r.trainConfig()
	c.Method, c.EvalEvery, c.CheckpointEvery, c.Patience, c.Evaluate = m.Held(), c.K, c.K, 0, train.EvaluateOff
	c.Dir, c.Resume, c.From = "", false, nil
	return &c
}

// train finds y of the lower problem at x by a run from the start, with the draws of every other model. It has converged as far as such a run does.
func (f *finder) train(ctx context.Context, x []float64) (train.Solution, error) {
	c := *f.training
	c.Problem, c.StartX = f.problem.Problem, x
	c.Problem.Score, c.Problem.Each = nil, nil // the model is scored afterwards
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
	return train.Solution{Phi: math.NaN(), Y: result.Y, Converged: true}, nil
}
