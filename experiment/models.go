package experiment

import (
	"context"
	"fmt"
	"math"

	"dsbo"
	"dsbo/algo"
	"dsbo/data"
	"dsbo/experiment/candidates"
	"dsbo/internal/num"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/train"
	"dsbo/train/exact"
)

// rivals returns the models that the tuned one is compared with, in the order of the table, and the
// best of them, against which the verdict is. They are the model's own baselines if it has some,
// which may be other models; else the models at λ = 0 and at the best constant, which may be 0 too.
func (e *ending) rivals(ctx context.Context,
	found *candidates.Finder) (all []*candidates.Model, best *candidates.Model, err error) {
	m, ok := e.problem.model.(models.Baselined)
	if !ok {
		zero, best, err := found.Constants(ctx, startConstant(e.config.StartX, e.result.Method))
		if all = []*candidates.Model{zero}; best != zero {
			all = append(all, best)
		}
		return all, best, err
	}
	list := m.Baselines()
	if len(list) == 0 {
		return nil, nil, dsbo.ConfigErrorf("model %T must have at least one baseline", m)
	}
	e.watch.Expect(1 + len(list))
	for _, b := range list {
		f := found
		if b.Of != nil {
			if f, err = e.finderOf("", e.problem.data, b.Of); err != nil {
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

// newFinder returns the finder of a problem with p hyperparameters, whose models the solver finds,
// or training by the run's method where it can.
func (e *ending) newFinder(prob train.Problem, p int, solver *exact.Solver) *candidates.Finder {
	return candidates.New(prob, e.problem.meaning.Symbol, p, solver, heldConfig(e.config, prob), e.watch)
}

// finderOf returns the finder of a model's lower problem on data of the agents. of ends the names
// of what it sends.
func (e *ending) finderOf(of string, t data.Task, m models.Model) (*candidates.Finder, error) {
	prob, err := e.problem.problemOf(t, m)
	if err != nil {
		return nil, err
	}
	prob.Of = of
	p, _ := m.Dims()
	return e.newFinder(prob, p, prob.Solver()), nil
}

// heldConfig returns the configuration of runs that find models with x fixed, as c's run has found
// its own, without records, checkpoints and changes of members. It is nil if c's method cannot, or
// if the lower problem has one solution, which is found exactly.
func heldConfig(c train.Config, p train.Problem) *train.Config {
	held := algo.Held(c.Method)
	if held == nil || !p.Nonconvex {
		return nil
	}
	c.Method, c.EvalEvery, c.CheckpointEvery, c.Patience, c.Evaluate = held, c.K, c.K, 0, train.EvaluateOff
	c.Dir, c.Resume, c.From, c.Membership, c.W = "", false, nil, nil, p.W
	return &c
}

// modelsPlanned is about the number of exact solutions at the end of a run: λ = 0, the tuned λ, and
// a few constants.
const modelsPlanned = 6

// A modelWatcher shows the progress of the models at the end of a run, and counts them for the
// predicted time left.
type modelWatcher struct {
	Viewer
	pace *pace
}

// Begin implements [candidates.Watcher], as do all that follow, and Log of the Viewer.
func (w modelWatcher) Begin(name string) { w.Show(w.pace.progress("model of "+name, 0, 0)) }

func (w modelWatcher) Solved() { w.pace.step(modelling, 1) }

func (w modelWatcher) Expect(n int) { w.pace.plan(modelling, float64(max(modelsPlanned, n))) }

func (w modelWatcher) Found(m *candidates.Model) {
	w.Note(Note{
		Text: fmt.Sprintf("model of %s: %s, Φ %s, test loss %s", m.Name, m.Effort(),
			formatNumber("%.5f", m.PhiSolved()), formatNumber("%.4f", m.TestLoss)),
		Name: "model", Facts: []any{"model", m.Name, "products", m.Steps, "phi", m.Phi, "val_loss", m.ValLoss,
			"holdout_loss", m.HoldoutLoss,
			"test_loss", m.TestLoss, "test_accuracy", m.TestAccuracy},
	})
}

// startConstant returns the first constant to try: the whole number nearest to the one that the
// method's search for a start has found, else to the median of the start of λ.
func startConstant(startX []float64, of dsbo.Algorithm) int {
	start := num.Median(startX)
	if constant := algo.TraitsOf(of).StartConstant; constant != nil {
		if found, ok := constant(); ok {
			start = found
		}
	}
	return int(math.Round(start))
}

// A finalist is the model that a choice by folds has come to.
type finalist struct {
	*candidates.Model
	network *models.MLP       // which it is; nil: it is linear
	lasso   *runs.Lasso       // which it is; nil: it is none
	parts   [][]float64       // of a network or a lasso: the models without one of the folds each
	levels  candidates.Levels // of sites in the model
	// refit returns the model of other examples, times as many
	refit func(ctx context.Context, t data.Task, times float64) (train.Fit, error)
}
