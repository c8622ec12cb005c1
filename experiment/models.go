package experiment

import (
	"context"
	"fmt"
	"math"

	"dsbo"
	"dsbo/algo"
	"dsbo/data"
	"dsbo/experiment/candidates"
	"dsbo/experiment/console"
	"dsbo/internal/num"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/train"
	"dsbo/train/exact"
)

// rivals returns the models that the tuned one is compared with, in the order of the table, and the
// best of them, which the verdict is against: the baselines of the model's own, where it has some;
// else the constants 0 and the best one.
func (r *finisher) rivals(ctx context.Context,
	found *candidates.Finder) (all []*candidates.Model, best *candidates.Model, err error) {
	m, ok := r.loaded.model.(models.Baselined)
	if !ok {
		zero, best, err := found.Constants(ctx, r.startConstant())
		if all = []*candidates.Model{zero}; best != zero {
			all = append(all, best)
		}
		return all, best, err
	}
	list := m.Baselines()
	if len(list) == 0 {
		return nil, nil, dsbo.ConfigErrorf("model %T must have at least one baseline", m)
	}
	modelWatcher{&r.base}.Expect(1 + len(list))
	for _, b := range list {
		f := found
		if b.Of != nil {
			if f, err = r.finderOf(r.problem.data, b.Of); err != nil {
				return nil, nil, err
			}
		}
		one := candidates.NewModel(b.Name, runs.Unknown(), b.X)
		if err := f.Solve(ctx, one, nil, nil); err != nil {
			return nil, nil, err
		}
		if all = append(all, one); best == nil || one.Below(best) {
			best = one
		}
	}
	return all, best, nil
}

// newFinder returns the finder of a problem with p hyperparameters, whose exact solutions a
// solver finds.
func (r *finisher) newFinder(prob train.Problem, p int, solver *exact.Solver) *candidates.Finder {
	return candidates.New(prob, r.problem.meaning.Symbol, p, solver, r.trainingConfig(prob),
		modelWatcher{&r.base})
}

// finderOf returns the finder of a model's lower problem on data of the agents.
func (r *finisher) finderOf(t data.Task, m models.Model) (*candidates.Finder, error) {
	prob, err := r.problemOf(t, m)
	if err != nil {
		return nil, err
	}
	p, _ := m.Dims()
	return r.newFinder(prob, p, prob.Solver()), nil
}

// trainingConfig returns the configuration of runs that find models of a problem where x is held
// still, for methods that can; nil: the run's cannot, or the lower problem has one solution, which
// is found exactly.
func (r *finisher) trainingConfig(p train.Problem) *train.Config {
	held := algo.Held(r.method)
	if held == nil || !p.Nonconvex {
		return nil
	}
	c := r.trainConfig()
	c.Method, c.EvalEvery, c.CheckpointEvery, c.Patience, c.Evaluate = held, c.K, c.K, 0, train.EvaluateOff
	c.Dir, c.Resume, c.From, c.Membership, c.W = "", false, nil, nil, p.W
	return &c
}

// modelsPlanned is about how many exact solutions the models at the end of a run take: λ = 0, the
// tuned λ, and a few constants.
const modelsPlanned = 6

// A modelWatcher shows how far the models at the end of a run are, and counts them for the time
// that is left.
type modelWatcher struct{ r *base }

// Begin implements [candidates.Watcher], as do all that follow.
func (w modelWatcher) Begin(name string) { w.r.view.Show(w.r.pace.progress("model of "+name, 0, 0)) }

func (w modelWatcher) Solved() { w.r.pace.step(modelling, 1) }

func (w modelWatcher) Expect(n int) { w.r.pace.plan(modelling, float64(max(modelsPlanned, n))) }

func (w modelWatcher) Log(format string, args ...any) { w.r.view.Log(format, args...) }

func (w modelWatcher) Found(m *candidates.Model) {
	w.r.view.Note(Note{
		Text: fmt.Sprintf("model of %s: %s, Φ %s, test loss %s", m.Name, m.Effort(),
			console.Number("%.5f", m.Phi), console.Number("%.4f", m.TestLoss)),
		Name: "model", Facts: []any{"model", m.Name, "products", m.Steps, "phi", m.Phi, "val_loss", m.ValLoss,
			"holdout_loss", m.HoldoutLoss,
			"test_loss", m.TestLoss, "test_accuracy", m.TestAccuracy},
	})
}

// startConstant returns the whole number nearest to the start of λ, or to its median, from which
// constants are tried: the one that the method's search found, if it did.
func (r *finisher) startConstant() int {
	start := num.Median(r.startX)
	if constant := algo.TraitsOf(r.result.Method).StartConstant; constant != nil {
		if found, ok := constant(); ok {
			start = found
		}
	}
	return int(math.Round(start))
}

// trainConfig returns the configuration of the run for package train.
func (r *stepChooser) trainConfig() train.Config {
	s, evaluation := r.Settings, r.Evaluate
	// all examples, of which iterations take few, cost too much
	if r.problem.Nonconvex && s.Batch > 0 && !r.givenFlags["evaluate"] {
		evaluation = train.EvaluateOff
	}
	return train.Config{
		Problem: r.problem.Problem, W: r.graph.W, Membership: r.changes, Changing: r.layout.ownsFiles(),
		Method: r.method, StartX: r.startX, K: s.Iterations, Following: r.following, CurvatureX: r.startX,
		EvalEvery: s.EvalEvery, ExactEach: r.givenFlags["eval-every"], Patience: s.Patience,
		Newest:          !s.Rivals && s.Holdout == 0,
		CheckpointEvery: s.CheckpointEvery, Dir: string(r.folder),
		Resume: s.Resume || r.point != nil || r.layout.ownsFiles(), From: r.point,
		Settings: r.checkpointSettings(),
		Evaluate: evaluation, Start: train.Start{Curvature: r.lmax, Sent: r.stepsSent, Spent: r.loaded.searched},
		DenseLimit: int64(s.Memory * (1 << 30)),
	}
}

// A finalist is the model that a choice by folds has come to.
type finalist struct {
	*candidates.Model
	network *candidates.Network // of the model; nil: it is linear
	// refit returns the model of other examples, of which there are times as many.
	refit func(ctx context.Context, t data.Task, times float64) ([]float64, error)
}

// problemOf returns the problem of a model on data of the agents, with Oracles in float64.
func (r *poser) problemOf(t data.Task, m models.Model) (train.Problem, error) {
	return r.newProblem(t, m, models.Config{Seed: r.Seed, Batch: r.Batch})
}

// roughProblem is problemOf with Oracles in float32, for products.
func (r *poser) roughProblem(t data.Task, m models.Model) (train.Problem, error) {
	return r.newProblem(t, m, models.Config{Seed: r.Seed, Float32: true})
}

// newProblem returns the problem of a model on data of the agents.
func (r *poser) newProblem(t data.Task, m models.Model, c models.Config) (train.Problem, error) {
	prob, err := train.NewPart(r.team, t, m, c)
	if err != nil {
		return prob, fmt.Errorf("model %T: %w", m, err)
	}
	prob.Numbers, prob.W, prob.Average, prob.Sent = r.problem.Numbers, r.problem.W, r.problem.Average,
		r.problem.Sent
	return prob, nil
}
