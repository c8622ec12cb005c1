package tune

import (
	"cmp"
	"iter"
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
// with fewer, curves and intervals would mean nothing.
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
		if err := t.addMeasures(a); err != nil {
			return nil, err
		}
	}
	if target := t.prepared.Recipe.Target; target.Kind == features.Value && t.loss == squared {
		a.LossUnit = target.Deviation // the losses of other kinds have no unit
	}
	return a, nil
}

// addMeasures adds the measures of predictions of all kinds but survival times. Errors need a pass
// of their own, as they are of the first pass's sums over all sites.
func (t judge) addMeasures(a *runs.Assessment) error {
	all := newAssessor(t.prepared.Recipe.Target)
	addRows := func(i int, of data.Examples, to assessor, in pass) {
		made := cmp.Or(t.own[i], t.made)
		for row, x := range eachRow(of) {
			to.addRow(made.PredictFeatures(x.places, x.values), of, row, in)
		}
	}
	err := t.sumCounts("counts of predictions", all, assessor.Numbers, func(i int, own assessor) {
		addRows(i, t.prepared.Data.Shards[i].Test, own, counting)
	})
	if err == nil {
		err = t.sumCounts("changes of measures without a row", all, assessor.Errors, func(i int, own assessor) {
			addRows(i, t.prepared.Data.Shards[i].Test, own, errorsOf)
			addRows(i, t.prepared.Data.Shards[i].Train, own, trained)
		})
	}
	if err != nil {
		return err
	}
	all.fill(a)
	return t.addThreshold(a, all)
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
	err := t.run.Collective.Sum("losses without a feature", rises, func(i int, part []float64) error {
		test := t.prepared.Data.Shards[i].Test
		for row, x := range eachRow(test) {
			with := t.lossOf(x, test, row)
			for k, v := range x.values {
				x.values[k] = 0 // the mean of a feature: the row does without it
				part[x.places[k]] += float64(test.Rows(row) * (t.lossOf(x, test, row) - with))
				x.values[k] = v
			}
		}
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

// lossOf returns the loss of a test row with features x.
func (t judge) lossOf(x nonzero, e data.Examples, row int) float64 {
	return predictionLoss(t.made.PredictFeatures(x.places, x.values).Numbers(0), targetOf(e, row),
		t.prepared.Recipe.Target, t.outputLoss())
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
	slope := r // of the squared loss r²/2; Huber's goes on straight from Delta, which is 1 if it is not given
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
func (t judge) sumCounts(name string, all assessor, numbers func(assessor) []float64,
	visit func(i int, own assessor)) error {
	before := slices.Clone(all.Numbers())
	return t.run.Collective.Sum(name, numbers(all), func(i int, part []float64) error {
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
	if t.prepared.Rows[2] < fewestAssessed || t.targetKind() == features.Survival {
		return 0, 0
	}
	a := newAssessor(t.prepared.Recipe.Target)
	return len(a.Numbers()), len(a.Errors())
}

// The nonzero features of a row are those that are not 0.
type nonzero struct {
	places []int32
	values []float64
}

// eachRow yields the rows of examples with their nonzero features, which the next row overwrites.
func eachRow(e data.Examples) iter.Seq2[int, nonzero] {
	return func(yield func(int, nonzero) bool) {
		var x nonzero
		for row := range e.Len() {
			if x.places, x.values = e.X.Nonzero(x.places[:0], x.values[:0], row); !yield(row, x) {
				return
			}
		}
	}
}
