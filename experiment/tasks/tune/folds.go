package tune

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"dsbo"
	"dsbo/data"
	"dsbo/experiment"
	"dsbo/internal/num"
	"dsbo/internal/wording"
	"dsbo/models"
	"dsbo/tables/features"
	"dsbo/train"
)

// Cross-validation, where -folds leaves it open: a linear model has autoFolds folds up to
// autoFoldRows rows of all sites.
const (
	autoFolds    = 5
	autoFoldRows = 20000
)

// foldCount returns the number of folds that -folds asks for, 0 for none. rows is the number of
// rows of all sites beyond which there are none after all; 0: there is no such limit. It refuses
// what folds or differential privacy cannot be with.
func (t *tune) foldCount(private bool) (count, rows int, err error) {
	if private && kinds[t.kind] == features.Survival {
		return 0, 0, dsbo.ConfigErrorf("-dp-epsilon must not be given with -task survival: a row changes the losses " +
			"of others, so that noise for one row would not hide it")
	}
	if private && t.siteEffects == intercept {
		return 0, 0, dsbo.ConfigErrorf("-dp-epsilon must not be given with -site-effects intercept: a level of few " +
			"rows is not hidden by noise for one")
	}
	if private && wantsLasso(t) {
		return 0, 0, dsbo.ConfigErrorf("-penalty must be another one with -dp-epsilon than %s, whose path of exact "+
			"solutions has no noise", t.penalty)
	}
	if t.model == auto && (t.folds == "0" || private) {
		return 0, 0, dsbo.ConfigErrorf("-model must be linear or mlp without -folds, and with differential " +
			"privacy: auto is a choice by folds")
	}
	if t.folds == auto {
		switch {
		case t.model == auto || wantsLasso(t): // folds choose these
			return autoFolds, 0, nil
		case t.model == network || private:
			return 0, 0, nil
		}
		return autoFolds, autoFoldRows, nil
	}
	count, err = strconv.Atoi(t.folds)
	switch {
	case err != nil || count < 0 || count == 1 || count > 100:
		return 0, 0, dsbo.ConfigErrorf("-folds must be auto, 0 or 2 to 100; it is %s", t.folds)
	case count > 0 && t.model == network:
		return 0, 0, dsbo.ConfigErrorf(
			"-folds must be 0 with -model %s: cross-validation is for linear models", t.model)
	case count > 0 && private:
		return 0, 0, dsbo.ConfigErrorf(
			"-folds must be 0 with differential privacy, which is for one model of each row")
	}
	return count, 0, nil
}

// Where -model leaves it open, networks are tried if there are rowsPerFeature training rows for
// each feature, of words those in as many rows, as with fewer they seldom win, and these have at
// most networkNumbers numbers, so that the run takes seconds and not minutes. What the flags ask of
// a linear model alone has none tried.
const (
	rowsPerFeature = 10
	networkNumbers = 1_000_000
)

// rowsPerPenalty is the least number of training and validation rows per feature for which each
// feature has its own penalty by default. With fewer, such as 60000 rows of 100000 sparse features,
// hardly a row informs most penalties, which would fit chance.
const rowsPerPenalty = 4

// choose decides on the model and the groups of penalties where flags leave them open, and logs
// unusual groups.
func (t *tune) choose(log func(format string, args ...any)) {
	training, width := t.prepared.Rows[0], len(t.prepared.Recipe.Features())
	common := width // features, of words those in enough rows
	for _, rows := range t.prepared.Words {
		if rows < rowsPerFeature {
			common--
		}
	}
	folded := t.penalty == auto && t.prepared.Folds > 0 // penalties are chosen among structures
	t.taken, t.shared = cmp.Or(t.model, linear), t.penalty
	isOpen := t.model == "" && kinds[t.kind] != features.Survival && folded && t.folds == auto &&
		t.earlier == nil && t.group == nil && t.groupsFile == ""
	if isOpen && training >= rowsPerFeature*common && training*width <= networkNumbers {
		t.taken = auto
	}
	if t.penalty != auto || folded {
		return
	}
	t.shared = perFeature
	rows := training + t.prepared.Rows[1] // with differential privacy nobody knows how many there are
	if rows == 0 || rows >= rowsPerPenalty*width {
		return
	}
	t.shared = onePenalty
	log("all weights share one penalty: for %s there are %s, fewer than %d for each (-penalty feature gives each its "+
		"own)", wording.Count(width, "feature"), wording.Count(rows, "training and validation row"), rowsPerPenalty)
}

// Deviations of log-penalties by -prior auto: around a common value, and around the λ of the best
// structure. Around the λ of a mean of structures, 0.25, 0.5, 1 and 2 gave 1.0014, 1.0008, 1.0040
// and 1.0118 times its losses on 8 made-up tables, drawn twice, by geometric means.
const (
	commonDeviation = 1
	foundDeviation  = 0.5
)

// deviation returns the deviation of log-penalties that -prior asks for; 0: there is no prior.
func (t *tune) deviation() (float64, error) {
	switch {
	case t.prior == auto && t.center != nil && t.earlier == nil:
		return foundDeviation, nil
	case t.prior == auto:
		return commonDeviation, nil
	}
	d, err := strconv.ParseFloat(t.prior, 64)
	if err != nil || !(d >= 0) || math.IsInf(d, 1) {
		return 0, dsbo.ConfigErrorf("-prior must be auto, positive, or 0 for none; it is %s", t.prior)
	}
	return d, nil
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
		if s.Train.Len() > 0 && t.prepared.Folds > 0 {
			s.Train.Weight, s.Val.Weight = t.prepared.Weights[i], t.prepared.Weights[i]
			s.Val.Columns = s.Train.Columns // without weights of folds
			all.Shards[i] = s
		}
	}
	return all
}

// refits returns whether the model that is kept is solved for once more with the test rows.
func (t *tune) refits() bool {
	asked := t.refit == allRows || t.refit == auto && t.splitColumn == ""
	return asked && (t.taken != network || t.prepared.Folds > 0) && t.prepared.Rows[2] > 0
}

// rowsOfRefit returns the data with all rows, test rows included, for training, and the ratio of
// their number to the former one. It notes in the run's log that the kept model is of them.
func rowsOfRefit(t *tune, f experiment.FinishedRun) (data.Task, float64, error) {
	all, rows, err := t.prepared.Data, t.prepared.Rows, error(nil)
	all.Shards = slices.Clone(all.Shards)
	for i, s := range all.Shards {
		parts := []data.Examples{s.Train, s.Val, s.Test}
		if t.prepared.Folds > 0 {
			parts[1] = data.Examples{} // they are training rows
		}
		var joined data.Examples
		var atRisk []data.Examples
		for _, e := range parts {
			if e.Column(models.RiskWeights) != nil {
				atRisk = append(atRisk, e)
			}
			// What the parts weigh is of each alone: the weights of all together are set below.
			if e.Weight, e.Count, e.Columns = nil, nil, nil; joined.Len() == 0 {
				joined = e
			} else if e.Len() > 0 && err == nil {
				joined, err = data.Join(joined, e, 0)
			}
		}
		joined.Weight = t.prepared.Together[i]
		if atRisk != nil && err == nil {
			joined.Columns, err = joinRisk(atRisk)
		}
		all.Shards[i].Train, all.Shards[i].Val = joined, joined
	}
	if err != nil {
		return all, 0, err
	}
	total := rows[0] + rows[2]
	if t.prepared.Folds == 0 {
		total += rows[1]
	}
	f.Note("The test rows judge the model of %s; the model that is kept, in model.json, is then solved for with all "+
		"%d, the test rows too (-refit none leaves them out).", wording.Count(rows[0], "row"), total)
	return all, float64(total) / float64(rows[0]), nil
}

// refitted returns the kept model, solved for once more on all rows, times as many as before. Where
// the run keeps a structure of penalties, Refit finds these from the rows. Else the model is m, and
// X of the result is λ as before; Y is solved at λ/times, since the loss is a mean over the rows:
// the penalty then weighs as much against the sum of their losses.
func (t *tune) refitted(f experiment.FinishedRun, m models.Model, all data.Task, times float64) (train.Fit, error) {
	if f.Refit != nil {
		other := "one penalty"
		if f.Network != nil {
			other = "the linear model"
		}
		if gain := f.KeptGain(times); gain >= leastToldGain {
			f.Note("The loss of the model that is kept is to be expected some %.1f %% below that of %s on new rows: "+
				"with more rows %[2]s does better too.", 100*float64(gain), other)
		}
		return f.Refit(all, times)
	}
	x := slices.Clone(f.X)
	for j := range x {
		x[j] -= num.Log(times)
	}
	solved, err := f.Solve(all, m, x)
	return train.Fit{X: f.X, Y: solved.Y}, err
}

// leastToldGain is the gain from which a note has it, which rounds to 0.1 %.
const leastToldGain = 0.0005

// crossFit returns the cross-fitting of the task, nil if it needs none: folds choose how penalties
// differ if flags leave that open, and find the path of a lasso. With a penalty for each feature
// they choose beforehand, and the run starts there, unless -from gives the start.
func (t *tune) crossFit() *experiment.CrossFit {
	beforehand := t.shared == perFeature && t.prepared.Folds > 0 && t.center == nil
	if t.shared != auto && !beforehand && !wantsLasso(t) {
		return nil
	}
	_, squares := t.outputLoss().(models.Squared)
	c := &experiment.CrossFit{All: t.unfolded(), Blocks: t.blocks, Variance: squares, Networks: t.networks(),
		Levels: t.levels, Lasso: wantedLasso(t)}
	if beforehand {
		c.Begin = func(lambda []float64) (models.Model, error) { // the prior is around the start
			t.center = lambda
			m, err := t.newModel(t.seed)
			return t.inFolds(m), err
		}
	}
	return c
}

// networks returns the networks that -model auto compares with a linear model; none else.
func (t *tune) networks() (all []models.MLP) {
	if t.taken != auto {
		return nil
	}
	one := *t
	one.taken, one.shared, one.prior = network, onePenalty, "0"
	for _, one.hidden.Text = range t.hidden.Sizes() {
		if m, err := one.newModel(t.seed); err == nil { // whose units Check has read
			all = append(all, m.(models.MLP))
		}
	}
	return all
}
