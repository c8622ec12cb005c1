package tasks

import (
	"dsbo/data"
	"dsbo/experiment"
	"dsbo/runs"
	"dsbo/tables/assess"
	"dsbo/tables/features"
	"dsbo/tables/modelfile"
)

// assess finds how good the model's predictions are on the test rows of all sites together, by
// counts that they add up; nil if there are no test rows.
func (t *tune) assess(m *modelfile.Model, f experiment.FinishedRun) (*runs.Assessment, error) {
	target := t.prepared.Recipe.Target
	if t.assessedNumbers() == 0 {
		return nil, nil
	}
	if target.Kind == features.Class {
		all := assess.NewClasses(len(target.Classes))
		err := f.Collective.Sum(all.Numbers(), func(i int, part []float64) error {
			own := assess.NewClasses(len(target.Classes))
			t.eachTest(i, m, func(p modelfile.Predictions, e data.Examples, row int) {
				class, _ := e.Target.Label(row)
				own.Add(p.Numbers(0), class)
			})
			copy(part, own.Numbers())
			return nil
		})
		return &runs.Assessment{Classes: classCurves(all, target.Classes)}, err
	}
	all := assess.NewResiduals(target.Mean, target.Deviation)
	err := f.Collective.Sum(all.Numbers(), func(i int, part []float64) error {
		own := assess.NewResiduals(target.Mean, target.Deviation)
		t.eachTest(i, m, func(p modelfile.Predictions, e data.Examples, row int) {
			own.Add(p.Values[0], target.Decode(e.Target.At(row, 0)))
		})
		copy(part, own.Numbers())
		return nil
	})
	return &runs.Assessment{Residuals: residualCurves(all)}, err
}

// assessedNumbers returns how many numbers assess adds up, 0 if none.
func (t *tune) assessedNumbers() int {
	switch target := t.prepared.Recipe.Target; {
	case t.prepared.Rows[2] == 0 || target.Kind == features.Counts:
		return 0
	case target.Kind == features.Class:
		return len(assess.NewClasses(len(target.Classes)).Numbers())
	}
	return len(assess.NewResiduals(0, 1).Numbers())
}

// eachTest calls visit with the prediction for each test row of site i.
func (t *tune) eachTest(i int, m *modelfile.Model, visit func(p modelfile.Predictions, e data.Examples, row int)) {
	e := t.prepared.Data.Shards[i].Test
	var places []int32
	var values []float64
	for row := range e.Len() {
		places, values = e.X.Nonzero(places[:0], values[:0], row)
		visit(m.PredictFeatures(places, values), e, row)
	}
}

// calibrationGroups is the number of points of a calibration curve.
const calibrationGroups = 10

// classCurves returns the curves of all classes.
func classCurves(c *assess.Classes, names []string) (list []runs.ClassCurves) {
	for k, name := range names {
		one := runs.ClassCurves{Name: name, AUC: runs.Number(c.AUC(k))}
		one.Wrong, one.Right = c.ROC(k)
		one.Predicted, one.Observed = c.Calibration(k, calibrationGroups)
		list = append(list, one)
	}
	return list
}

// residualCurves returns the curves of residuals.
func residualCurves(r *assess.Residuals) *runs.ResidualCurves {
	c := &runs.ResidualCurves{Explained: runs.Number(r.Explained())}
	c.Residual, c.Share = r.Histogram()
	c.Predicted, c.Mean, c.Size = r.ByPrediction()
	return c
}
