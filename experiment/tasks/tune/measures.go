package tune

import (
	"fmt"

	"dsbo/data"
	"dsbo/runs"
	"dsbo/tables/assess"
	"dsbo/tables/features"
	"dsbo/tables/modelfile"
)

// An assessor counts predictions of one kind.
type assessor interface {
	// addRow counts the prediction for a row of examples, in a pass over the rows.
	addRow(p modelfile.Predictions, e data.Examples, row int, in pass)
	// Numbers returns the counts of the first pass, to be replaced by their sums over all sites;
	// then Errors returns what the second pass adds up, likewise.
	Numbers() []float64
	Errors() []float64
	// fill writes the measures that follow from the counts.
	fill(a *runs.Assessment)
}

// A pass is one over rows whose predictions are counted.
type pass int

// The passes.
const (
	counting pass = iota // of test rows
	errorsOf             // of test rows again, with the sums of the first pass
	trained              // of training rows, which detect heavy tails
)

// newAssessor returns an assessor of a target without counts.
func newAssessor(t features.Target) assessor {
	switch t.Kind {
	case features.Class:
		return classAssessor{assess.NewClasses(len(t.Classes)), t.Classes}
	case features.Counts:
		return countAssessor{assess.NewCounts(t.Mean)}
	}
	return numberAssessor{assess.NewResiduals(t.Mean, t.Deviation), t}
}

// measure returns a measure as the run folder has it.
func measure(name, hint string, i assess.Interval) runs.Measure {
	return runs.Measure{Name: name, Hint: hint, Value: runs.Number(i.Value), Low: runs.Number(i.Low),
		High: runs.Number(i.High)}
}

// share returns a measure that is a share of rows.
func share(name, hint string, i assess.Interval) runs.Measure {
	m := measure(name, hint, i)
	m.Share = true
	return m
}

// A classAssessor counts probabilities of classes.
type classAssessor struct {
	*assess.Classes
	names []string
}

func (c classAssessor) addRow(p modelfile.Predictions, e data.Examples, row int, in pass) {
	switch class, _ := e.Target.Label(row); in { // probabilities have no tails: trained rows do not count
	case counting:
		c.Add(p.Numbers(0), class, e.Rows(row))
	case errorsOf:
		c.AddError(p.Numbers(0), class, e.Rows(row))
	}
}

// mostBlur is how far apart the ends of an area may be without a note.
const mostBlur = 0.03

// blurNote returns the note on an area whose ends are far apart, else "".
func blurNote(low, high float64) string {
	if !(high-low > mostBlur) {
		return ""
	}
	return fmt.Sprintf("from %.3g to %.3g by the order of rows whose probabilities are nearly alike, which is "+
		"not known", low, high)
}

// calibrationGroups is the number of points of a calibration curve.
const calibrationGroups = 10

func (c classAssessor) fill(a *runs.Assessment) {
	first := 0
	if len(c.names) == 2 {
		first = 1 // the area of the other one is the same
	}
	a.Measures = append(a.Measures, share("accuracy", "share of the rows whose likeliest class is right", c.Accuracy()))
	for k := first; k < len(c.names); k++ {
		area := measure("AUROC of "+c.names[k],
			"how often a row of the class gets a higher probability than another row; 0.5 is chance", c.AUC(k))
		area.Note = blurNote(c.AUCEnds(k))
		a.Measures = append(a.Measures, area)
	}
	for k := first; k < len(c.names); k++ {
		own, others := c.At(k, 0)
		area := measure("AUPRC of "+c.names[k], fmt.Sprintf(
			"mean precision as ever more of the class are found; chance is its share, %.3g", own/(own+others)),
			c.AveragePrecision(k))
		area.Note = blurNote(c.PrecisionEnds(k))
		a.Measures = append(a.Measures, area)
	}
	a.Measures = append(a.Measures, measure("Brier score",
		"mean squared distance of probabilities from the truth; 0 is perfect", c.Brier()))
	for k, name := range c.names {
		a.Measures = append(a.Measures,
			share("recall of "+name, "share of the rows of the class that are found", c.Recall(k)),
			share("precision of "+name, "share of those taken for the class that are of it", c.Precision(k)))
		one := runs.ClassCurves{Name: name, AUC: runs.Number(c.AUC(k).Value)}
		one.Wrong, one.Right = c.ROC(k)
		one.Predicted, one.Observed = c.Calibration(k, calibrationGroups)
		a.Classes = append(a.Classes, one)
	}
	a.Confusion = c.Confusion()
}

// A numberAssessor counts residuals.
type numberAssessor struct {
	*assess.Residuals
	target features.Target
}

func (n numberAssessor) addRow(p modelfile.Predictions, e data.Examples, row int, in pass) {
	addTo(n, p.Values[0], n.target.Decode(e.Target.At(row, 0)), e.Rows(row), in)
}

// addTo counts a predicted number or count in a pass.
func addTo(c interface {
	Add(predicted, truth, rows float64)
	AddError(predicted, truth, rows float64)
	AddTrained(predicted, truth, rows float64)
}, predicted, truth, rows float64, in pass) {
	switch in {
	case counting:
		c.Add(predicted, truth, rows)
	case errorsOf:
		c.AddError(predicted, truth, rows)
	case trained:
		c.AddTrained(predicted, truth, rows)
	}
}

func (n numberAssessor) fill(a *runs.Assessment) {
	a.Measures = []runs.Measure{
		measure("MAE", "mean size of the error", n.MAE()),
		measure("RMSE", "root of the mean squared error: large errors count most", n.RMSE()),
		measure("R²", "share of the variance that is predicted; 0: no better than the mean", n.Explained()),
	}
	a.Measures[0].Unit, a.Measures[1].Unit = n.target.Name, n.target.Name
	markHeavy(n.HeavyTailed(), a.Measures[1:])
	c := &runs.ResidualCurves{Explained: runs.Number(n.Explained().Value)}
	c.Residual, c.Share = n.Histogram()
	c.Predicted, c.Mean, c.Size = n.ByPrediction()
	a.Residuals = c
}

// markHeavy notes of measures whether residuals have heavy tails.
func markHeavy(heavy bool, measures []runs.Measure) {
	for k := range measures {
		if heavy && measures[k].Low.Known() {
			measures[k].Note = runs.HeavyTails
		}
	}
}

// A countAssessor sums deviances.
type countAssessor struct{ *assess.Counts }

func (c countAssessor) addRow(p modelfile.Predictions, e data.Examples, row int, in pass) {
	addTo(c, p.Values[0], e.Target.At(row, 0), e.Rows(row), in)
}

func (c countAssessor) fill(a *runs.Assessment) {
	a.Measures = []runs.Measure{
		measure("deviance", "mean of twice the log-likelihood lost to a perfect model", c.Deviance()),
		measure("deviance explained", "share of the mean count's deviance; 0: no better than the mean",
			c.Explained()),
		measure("MAE", "mean size of the error, in counts", c.MAE()),
		measure("RMSE", "root of the mean squared error, in counts", c.RMSE()),
	}
	markHeavy(c.HeavyTailed(), a.Measures[3:])
	a.Counts = new(runs.CountCurves)
	a.Counts.Predicted, a.Counts.True = c.ByPrediction()
}
