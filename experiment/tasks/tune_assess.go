package tasks

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"dsbo"
	"dsbo/data"
	"dsbo/experiment"
	"dsbo/internal/num"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/tables/assess"
	"dsbo/tables/features"
	"dsbo/tables/modelfile"
)

// fewestAssessed is the number of test rows of all sites together below which their predictions are
// not counted: a bin would be one row, and curves of fewer tell nothing.
const fewestAssessed = 20

// An assessor counts predictions of one kind.
type assessor interface {
	// add counts the prediction for a row of examples.
	add(p modelfile.Predictions, e data.Examples, row int)
	// Numbers returns the counts, to be replaced by their sums over all sites.
	Numbers() []float64
	// fill writes what the counts tell.
	fill(a *runs.Assessment)
}

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

// A judge says how good the kept model is.
type judge struct {
	*tune
	made *modelfile.Model
	m    models.Model // of made
	y    []float64
	run  experiment.FinishedRun
}

// assess finds how good the model's predictions are on the test rows of all sites together, by
// counts that they add up, and the coefficients that matter most.
func (t judge) assess() (*runs.Assessment, error) {
	a := &runs.Assessment{Made: t.prepared.Rows[0], Judged: t.prepared.Rows[2]}
	if t.prepared.Folds == 0 {
		a.Made += t.prepared.Rows[1] // which chose its penalties
	}
	if t.assessedNumbers() > 0 {
		all, err := t.counted(func(i int, add func(modelfile.Predictions, data.Examples, int)) {
			eachRow(t.prepared.Data.Shards[i].Test, func(e data.Examples, row int, places []int32, values []float64) {
				add(t.made.PredictFeatures(places, values), e, row)
			})
		})
		if err != nil {
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
	return a, t.addFeatures(a)
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

// addImportances tells which features of a network matter most.
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
				part[places[k]] += t.lossOf(places, values, e, row) - with
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
	p, target := t.made.PredictFeatures(places, values).Numbers(0), t.prepared.Recipe.Target
	switch target.Kind {
	case features.Class:
		class, _ := e.Target.Label(row)
		return -num.Log(max(p[class], math.SmallestNonzeroFloat64))
	case features.Counts:
		return p[0] - float64(e.Target.At(row, 0)*num.Log(max(p[0], math.SmallestNonzeroFloat64)))
	}
	r := math.Abs(p[0]-target.Decode(e.Target.At(row, 0))) / target.Deviation
	slope := r
	if h, ok := t.outputLoss(target.Kind).(models.Huber); ok {
		slope = min(r, cmp.Or(h.Delta, 1))
	}
	return float64(slope * (r - float64(slope/2)))
}

// counted returns the counts of predictions of all sites together, which visit makes at site i.
func (t judge) counted(visit func(i int, add func(modelfile.Predictions, data.Examples, int))) (assessor, error) {
	all := newAssessor(t.prepared.Recipe.Target)
	err := t.run.Collective.Sum(all.Numbers(), func(i int, part []float64) error {
		own := newAssessor(t.prepared.Recipe.Target)
		visit(i, own.add)
		copy(part, own.Numbers())
		return nil
	})
	return all, err
}

// assessedNumbers returns how many numbers assess adds up, 0 if none.
func (t *tune) assessedNumbers() int {
	if t.prepared.Rows[2] < fewestAssessed {
		return 0
	}
	return len(newAssessor(t.prepared.Recipe.Target).Numbers())
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

// measure returns a measure as the run folder has it.
func measure(name, unit, hint string, isShare bool, i assess.Interval) runs.Measure {
	return runs.Measure{Name: name, Unit: unit, Share: isShare, Hint: hint, Value: runs.Number(i.Value),
		Low: runs.Number(i.Low), High: runs.Number(i.High)}
}

// A classAssessor counts probabilities of classes.
type classAssessor struct {
	*assess.Classes
	names []string
}

func (c classAssessor) add(p modelfile.Predictions, e data.Examples, row int) {
	class, _ := e.Target.Label(row)
	c.Add(p.Numbers(0), class)
}

// calibrationGroups is the number of points of a calibration curve.
const calibrationGroups = 10

func (c classAssessor) fill(a *runs.Assessment) {
	shown := c.names
	if len(shown) == 2 {
		shown = shown[1:] // the area of the other one is the same
	}
	a.Measures = append(a.Measures, measure("accuracy", "", "share of the rows whose likeliest class is right", true,
		c.Accuracy()))
	for k := len(c.names) - len(shown); k < len(c.names); k++ {
		a.Measures = append(a.Measures, measure("AUROC of "+c.names[k], "",
			"how often a row of the class gets a higher probability than another row; 0.5 is chance", false, c.AUC(k)))
	}
	for k := len(c.names) - len(shown); k < len(c.names); k++ {
		own, others := c.At(k, 0)
		a.Measures = append(a.Measures, measure("AUPRC of "+c.names[k], "", fmt.Sprintf(
			"mean precision as ever more of the class are found; chance is its share, %.3g", own/(own+others)), false,
			c.AveragePrecision(k)))
	}
	a.Measures = append(a.Measures, measure("Brier score", "",
		"mean squared distance of probabilities from the truth; 0 is perfect", false, c.Brier()))
	for k, name := range c.names {
		a.Measures = append(a.Measures, measure("recall of "+name, "", "share of the rows of the class that are found",
			true, c.Recall(k)), measure("precision of "+name, "", "share of those taken for the class that are of it",
			true, c.Precision(k)))
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

func (n numberAssessor) add(p modelfile.Predictions, e data.Examples, row int) {
	n.Add(p.Values[0], n.target.Decode(e.Target.At(row, 0)))
}

func (n numberAssessor) fill(a *runs.Assessment) {
	a.Measures = []runs.Measure{
		measure("RMSE", n.target.Name, "root of the mean squared error: large errors count most", false, n.RMSE()),
		measure("MAE", n.target.Name, "mean size of the error", false, n.MAE()),
		measure("R²", "", "share of the variance that is predicted; 0: no better than the mean", false, n.Explained()),
	}
	c := &runs.ResidualCurves{Explained: runs.Number(n.Explained().Value)}
	c.Residual, c.Share = n.Histogram()
	c.Predicted, c.Mean, c.Size = n.ByPrediction()
	a.Residuals = c
}

// A countAssessor sums deviances.
type countAssessor struct{ *assess.Counts }

func (c countAssessor) add(p modelfile.Predictions, e data.Examples, row int) {
	c.Add(p.Values[0], e.Target.At(row, 0))
}

func (c countAssessor) fill(a *runs.Assessment) {
	a.Measures = []runs.Measure{
		measure("deviance", "", "mean of twice the log-likelihood lost to a perfect model", false, c.Deviance()),
		measure("deviance explained", "", "share of the mean count's deviance; 0: no better than the mean", false,
			c.Explained()),
		measure("MAE", "", "mean size of the error, in counts", false, c.MAE()),
		measure("RMSE", "", "root of the mean squared error, in counts", false, c.RMSE()),
	}
	a.Counts = new(runs.CountCurves)
	a.Counts.Predicted, a.Counts.True = c.ByPrediction()
}

// A missCost is the flag -cost: what a missed example of a class costs, in false alarms.
type missCost struct {
	class string
	cost  float64
}

// addFlag adds the flag -cost.
func (c *missCost) addFlag(f *flag.FlagSet) {
	f.Var(c, "cost",
		"`class=n`, such as ill=5, where a missed row of the class costs as much as n false alarms: the validation "+
			"rows choose the threshold of its probability at which the least is paid")
}

// String implements flag.Value.
func (c *missCost) String() string {
	if c == nil || c.class == "" {
		return ""
	}
	return c.class + "=" + strconv.FormatFloat(c.cost, 'g', -1, 64)
}

// Set implements flag.Value.
func (c *missCost) Set(text string) error {
	i := strings.LastIndexByte(text, '=')
	if i < 1 {
		return fmt.Errorf("it must be a class and what missing it costs, such as ill=5; it is %q", text)
	}
	v, err := strconv.ParseFloat(text[i+1:], 64)
	if err != nil || !(v > 0) || math.IsInf(v, 1) {
		return fmt.Errorf("the cost must be a positive number of false alarms; it is %q", text[i+1:])
	}
	*c = missCost{text[:i], v}
	return nil
}

// check returns the number of the class in a target.
func (c missCost) check(t features.Target) (k int, err error) {
	if t.Kind != features.Class {
		return 0, dsbo.ConfigErrorf("-cost is for classes; the target %s is a %s", t.Name, t.Kind)
	}
	if k = slices.Index(t.Classes, c.class); k < 0 {
		return 0, dsbo.ConfigErrorf("-cost must name a class of %s, which are %s; it is %s", t.Name,
			strings.Join(t.Classes, ", "), c.class)
	}
	return k, nil
}

// addThreshold chooses the threshold of -cost by the validation rows, and says what comes of it on
// the test rows, whose counts are given.
func (t judge) addThreshold(a *runs.Assessment, test assessor) error {
	if t.cost.class == "" {
		return nil
	}
	target := t.prepared.Recipe.Target
	k, err := t.cost.check(target)
	if err != nil {
		return err
	}
	parts, err := t.validators()
	if err != nil {
		return err
	}
	all, err := t.counted(func(i int, add func(modelfile.Predictions, data.Examples, int)) {
		eachRow(t.prepared.Data.Shards[i].Val, func(e data.Examples, row int, places []int32, values []float64) {
			for fold, part := range parts {
				if len(parts) == 1 || e.Weight.At(row, fold) > 0 {
					add(part.PredictFeatures(places, values), e, row)
				}
			}
		})
	})
	if err != nil {
		return err
	}
	chosen, on := all.(classAssessor), test.(classAssessor)
	h := &runs.Threshold{Class: t.cost.class, Cost: t.cost.cost, Probability: chosen.Threshold(k, t.cost.cost),
		Chosen: chosen.Examples()}
	h.Own, h.Others = on.At(k, 0)
	h.At.Found, h.At.Alarms = on.At(k, h.Probability)
	for of, row := range on.Confusion() {
		if of == k {
			h.Likeliest.Found = row[k]
		} else {
			h.Likeliest.Alarms += row[k]
		}
	}
	a.Threshold = h
	return nil
}

// validators returns models that have not seen the validation rows: the one that is made, or with
// cross-validation the model of each fold, at the λ that is kept.
func (t judge) validators() ([]*modelfile.Model, error) {
	one, ok := t.m.(models.Linear)
	var parts []*modelfile.Model
	for _, y := range t.run.Parts {
		part, err := modelfile.New(t.prepared.Recipe, t.run.Network, y, t.made.Origin)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	if parts != nil {
		return parts, nil
	}
	if t.prepared.Folds == 0 || !ok {
		return []*modelfile.Model{t.made}, nil
	}
	if p, _ := one.Dims(); p != len(t.run.X) {
		one.Penalties = models.PerFeature{}
	}
	folds := models.Folds{Of: one, Count: t.prepared.Folds}
	solved, err := t.run.Solve(t.prepared.Data, folds, t.run.X)
	if err != nil {
		return nil, err
	}
	for k := range folds.Count {
		weights, intercepts := folds.Fold(solved.Y, k)
		y := slices.Concat(weights, intercepts)
		part, err := modelfile.New(t.prepared.Recipe, one, y, t.made.Origin)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}
