package tune

import (
	"cmp"
	"math"
	"slices"

	"dsbo/data"
	"dsbo/experiment"
	"dsbo/internal/num"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/tables/features"
	"dsbo/tables/modelfile"
)

// fewestAssessed is the least number of test rows of all sites together for counts of predictions:
// with fewer, a bin would be one row, and curves would mean nothing.
const fewestAssessed = 20

// A judge measures the kept model.
type judge struct {
	*tune
	made *modelfile.Model
	m    models.Model // of made
	y    []float64
	run  experiment.FinishedRun
	own  map[int]*modelfile.Model // with which the sites that are here predict; nil: made
}

// ofSite returns the model with which site i predicts.
func (t judge) ofSite(i int) *modelfile.Model { return cmp.Or(t.own[i], t.made) }

// assess finds how good the model's predictions are on the test rows of all sites together, by
// counts that they add up.
func (t judge) assess() (*runs.Assessment, error) {
	a := &runs.Assessment{Made: t.prepared.Rows[0], Judged: t.prepared.Rows[2],
		Levels: t.run.Levels.Strength > 0}
	if t.prepared.Folds == 0 {
		a.Made += t.prepared.Rows[1] // which chose its penalties
	}
	if t.refits() {
		a.Kept = a.Made + a.Judged
	}
	if judgesSurvival(t.prepared) {
		if err := t.assessSurvival(a); err != nil {
			return nil, err
		}
	}
	if n, _ := t.assessedNumbers(); n > 0 {
		all := newAssessor(t.prepared.Recipe.Target)
		rows := func(i int, of data.Examples, to assessor, in pass) {
			made := t.ofSite(i)
			eachRow(of, func(e data.Examples, row int, places []int32, values []float64) {
				to.addRow(made.PredictFeatures(places, values), e, row, in)
			})
		}
		if err := t.sumCounts(all, assessor.Numbers, func(i int, own assessor) {
			rows(i, t.prepared.Data.Shards[i].Test, own, counting)
		}); err != nil {
			return nil, err
		}
		if err := t.sumCounts(all, assessor.Errors, func(i int, own assessor) {
			rows(i, t.prepared.Data.Shards[i].Test, own, errorsOf)
			rows(i, t.prepared.Data.Shards[i].Train, own, trained)
		}); err != nil {
			return nil, err
		}
		all.fill(a)
		if err := t.addThreshold(a, all); err != nil {
			return nil, err
		}
	}
	if target := t.prepared.Recipe.Target; target.Kind == features.Value && t.loss == squared {
		a.LossUnit = target.Deviation
	}
	return a, nil
}

// mostPredicted is the number of products up to which importances are found.
const mostPredicted = 4e9

// toldImportances returns of how many features the importances for a network of q weights are
// found, if of any.
func toldImportances(p *features.Prepared, q int) int {
	n, rows := len(p.Recipe.Features()), p.Rows[2]
	if rows < fewestAssessed || float64(rows)*float64(n*q) > mostPredicted {
		return 0
	}
	return n
}

// addImportances adds the importance of a network's features, the largest first.
func (t judge) addImportances(a *runs.Assessment) error {
	_, q := t.m.Dims()
	n := toldImportances(t.prepared, q)
	if n == 0 {
		return nil
	}
	rises := make([]float64, n)
	err := t.run.Collective.Sum(rises, func(i int, part []float64) error {
		eachRow(t.prepared.Data.Shards[i].Test, func(e data.Examples, row int, places []int32, values []float64) {
			with := t.lossOf(places, values, e, row)
			for k, v := range values {
				values[k] = 0
				part[places[k]] += float64(e.Rows(row) * (t.lossOf(places, values, e, row) - with))
				values[k] = v
			}
		})
		return nil
	})
	if err != nil {
		return err
	}
	for j, f := range t.prepared.Recipe.Features() {
		a.Importances = append(a.Importances,
			runs.Importance{Feature: f.Name, Rise: runs.Number(rises[j] / float64(t.prepared.Rows[2]))})
	}
	slices.SortStableFunc(a.Importances, func(a, b runs.Importance) int { return cmp.Compare(b.Rise, a.Rise) })
	a.Importances = a.Importances[:min(n, toldCoefficients)]
	return nil
}

// lossOf returns the loss of a test row whose features that are not 0 are given.
func (t judge) lossOf(places []int32, values []float64, e data.Examples, row int) float64 {
	target := t.prepared.Recipe.Target
	return predictionLoss(t.made.PredictFeatures(places, values).Numbers(0), targetOf(e, row), target,
		t.outputLoss(target.Kind))
}

// predictionLoss returns the loss of a prediction p of a target's true class, count or number, but
// for what no prediction changes; numbers are in deviations.
func predictionLoss(p []float64, truth float64, target features.Target, of models.OutputLoss) float64 {
	switch target.Kind {
	case features.Class:
		return -num.Log(max(p[int(truth)], math.SmallestNonzeroFloat64))
	case features.Counts:
		return p[0] - float64(truth*num.Log(max(p[0], math.SmallestNonzeroFloat64)))
	}
	r := math.Abs(p[0]-target.Decode(truth)) / target.Deviation
	slope := r
	if h, ok := of.(models.Huber); ok {
		slope = min(r, cmp.Or(h.Delta, 1))
	}
	return float64(slope * (r - float64(slope/2)))
}

// targetOf returns the target of a row: a number, the number of a class, or a count.
func targetOf(e data.Examples, row int) float64 {
	if class, ok := e.Target.Label(row); ok {
		return float64(class)
	}
	return e.Target.At(row, 0)
}

// sumCounts sets numbers of an assessor, the counts of one pass over the rows, to the sums over the
// sites of what visit counts. Each site counts in an assessor of its own, which has the sums of the
// pass before, as errors need them.
func (t judge) sumCounts(all assessor, numbers func(assessor) []float64, visit func(i int, own assessor)) error {
	before := slices.Clone(all.Numbers())
	return t.run.Collective.Sum(numbers(all), func(i int, part []float64) error {
		own := newAssessor(t.prepared.Recipe.Target)
		copy(own.Numbers(), before)
		visit(i, own)
		copy(part, numbers(own))
		return nil
	})
}

// assessedNumbers returns how many numbers assess adds up in its first pass, and in its second; 0
// if none.
func (t *tune) assessedNumbers() (counted, errors int) {
	if t.prepared.Rows[2] < fewestAssessed || t.prepared.Recipe.Target.Kind == features.Survival {
		return 0, 0
	}
	a := newAssessor(t.prepared.Recipe.Target)
	return len(a.Numbers()), len(a.Errors())
}

// eachRow calls visit for each example with its features that are not 0, their places and values,
// which the next call overwrites.
func eachRow(e data.Examples, visit func(e data.Examples, row int, places []int32, values []float64)) {
	var places []int32
	var values []float64
	for row := range e.Len() {
		places, values = e.X.Nonzero(places[:0], values[:0], row)
		visit(e, row, places, values)
	}
}
