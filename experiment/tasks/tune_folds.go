package tasks

import (
	"slices"
	"strconv"

	"dsbo"
	"dsbo/data"
	"dsbo/experiment"
	"dsbo/models"
)

// Cross-validation, where -folds leaves it open: a linear model has autoFolds folds up to
// autoFoldRows rows of all sites.
const (
	autoFolds    = 5
	autoFoldRows = 20000
)

// foldCount returns the number of folds that -folds asks for, 0 for none, and the number of rows up
// to which it does; 0: any.
func (t *tune) foldCount(private bool) (count, rows int, err error) {
	if t.folds == auto {
		if t.model != linear || t.splitColumn != "" || private {
			return 0, 0, nil
		}
		return autoFolds, autoFoldRows, nil
	}
	count, err = strconv.Atoi(t.folds)
	switch {
	case err != nil || count < 0 || count == 1 || count > 100:
		return 0, 0, dsbo.Errorf(dsbo.ErrConfig, "-folds must be auto, 0 or 2 to 100; it is %s", t.folds)
	case count > 0 && t.model != linear:
		return 0, 0, dsbo.Errorf(dsbo.ErrConfig,
			"-folds must be 0 with -model %s: cross-validation is for linear models", t.model)
	case count > 0 && private:
		return 0, 0, dsbo.Errorf(dsbo.ErrConfig,
			"-folds must be 0 with differential privacy, which is for one model of each row")
	}
	return count, 0, nil
}

// inFolds returns the model that is tuned: m itself, or with cross-validation one of it for
// each fold.
func (t *tune) inFolds(m models.Model) models.Model {
	if one, ok := m.(models.Linear); ok && t.prepared.Folds > 0 {
		return models.Folds{Of: one, Count: t.prepared.Folds}
	}
	return m
}

// startInFolds returns the start of the tuned model where the start of the model of all rows is y.
func startInFolds(tuned models.Model, y []float64) []float64 {
	m, ok := tuned.(models.Folds)
	if y == nil || !ok {
		return y
	}
	_, q := m.Dims()
	all := make([]float64, q)
	for k := range m.Count {
		weights, intercepts := m.Fold(all, k)
		copy(intercepts, y[copy(weights, y):])
	}
	return all
}

// keptWeights returns y of the model m that the run keeps: what the run found, or with
// cross-validation the model of all rows but the test rows at the run's λ.
func (t *tune) keptWeights(f experiment.FinishedRun, m models.Model) ([]float64, error) {
	if t.prepared.Folds == 0 || f.Refit != nil {
		return f.Y, nil
	}
	solved, err := f.Solve(t.unfolded(), m, f.X)
	return solved.Y, err
}

// unfolded returns the data with the training rows of all folds once each.
func (t *tune) unfolded() data.Task {
	all := t.prepared.Data
	all.Shards = slices.Clone(all.Shards)
	for i, s := range all.Shards {
		if s.Train.Len() > 0 {
			s.Train.Weight, s.Val.Weight = t.prepared.Weights[i], t.prepared.Weights[i]
			all.Shards[i] = s
		}
	}
	return all
}

// crossFit is the task's: a run with folds chooses how penalties differ where the flags leave
// that open.
func (t *tune) crossFit() *experiment.CrossFit {
	if t.shared != auto {
		return nil
	}
	_, squares := t.outputLoss(t.prepared.Recipe.Target.Kind).(models.Squared)
	return &experiment.CrossFit{All: t.unfolded(), Variance: squares}
}
