package experiment

import (
	"context"

	"dsbo"
	"dsbo/data"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/train"
)

// rivals returns the models that the tuned one is compared with, in the order of the table, and the best of them, which the verdict is
// against: the baselines of the model's own, where it has some; else those of constants, of 0 and the best one.
func (r *runner) rivals(ctx context.Context, found *finder) (all []*model, best *model, err error) {
	m, ok := r.loaded.model.(models.Baselined)
	if !ok {
		if best, err = found.bestConstant(ctx, r.startConstant()); err != nil {
			return nil, nil, err
		}
		all = []*model{found.constants[0]}
		if best != all[0] {
			all = append(all, best)
		}
		return all, best, nil
	}
	list := m.Baselines()
	if len(list) == 0 {
		return nil, nil, dsbo.Errorf(dsbo.ErrConfig, "model %T must have at least one baseline", m)
	}
	found.planModels(1 + len(list))
	for _, b := range list {
		f := found
		if b.Of != nil {
			if f, err = r.finderOf(r.problem.data, b.Of); err != nil {
				return nil, nil, err
			}
		}
		one := newModel(b.Name, runs.Unknown(), b.X)
		if err := f.solve(ctx, one, nil, nil, f.fineTol); err != nil {
			return nil, nil, err
		}
		if all = append(all, one); best == nil || one.objective() < best.objective() {
			best = one
		}
	}
	return all, best, nil
}

// finderOf returns the finder of a model's lower problem on data of the agents.
func (r *runner) finderOf(t data.Task, m models.Model) (*finder, error) {
	p, err := train.NewPart(r.team, t, m, models.Config{Seed: r.Settings.Seed, Batch: r.Settings.Batch})
	if err != nil {
		return nil, err
	}
	p.Numbers, p.W, p.Average, p.Sent = r.problem.Numbers, r.problem.W, r.problem.Average, r.problem.Sent
	other := r.problem
	other.Problem = p
	x, _ := m.Dims()
	f := newFinder(other, x, train.NewExact(p), r.view, r.pace)
	f.training = r.trainingConfig(p)
	return f, nil
}
