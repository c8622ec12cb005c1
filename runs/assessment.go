package runs

import (
	"slices"

	"dsbo"
)

// AssessmentFile is the name of the file of an [Assessment].
const AssessmentFile = "assessment.json"

// An Assessment is assessment.json: how good a run's predictions are on the test examples of all
// agents together. It is made of counts that the agents have added up (package assess). Which
// fields there are depends on what is predicted.
type Assessment struct {
	// Made and Judged are how many rows of all agents made the model, and how many others judge it.
	Made   int `json:"made,omitzero"`
	Judged int `json:"judged,omitzero"` // see Made
	// Levels is true if each site predicts with a level of its own, which no new site has.
	Levels bool `json:"levels,omitzero"`
	// Events is how many of the rows that judge have an event, where targets are survival times.
	Events int `json:"events,omitzero"`
	// Kept is how many rows the model that is kept is of; 0: as many as Made.
	Kept int `json:"kept,omitzero"`
	// Measures are in the units of what is predicted, the most telling first.
	Measures []Measure `json:"measures,omitempty"`
	// Classes has a curve for each class.
	Classes []ClassCurves `json:"classes,omitempty"`
	// Confusion is of each class how many examples each class is the likeliest of.
	Confusion [][]float64 `json:"confusion,omitempty"`
	// Threshold is for the probability of a class of which a missed example has a stated cost;
	// nil: none is stated.
	Threshold *Threshold `json:"threshold,omitempty"`
	// Residuals are of a target that is a number.
	Residuals *ResidualCurves `json:"residuals,omitempty"`
	// LossUnit is the target's unit in which √(2·loss) is a typical error; 0: of other losses.
	LossUnit float64 `json:"loss_unit,omitzero"`
	// Counts are of a target that is a count.
	Counts *CountCurves `json:"counts,omitempty"`
	// Survival is of survival times.
	Survival survivalCurves `json:"survival,omitzero"`
	// Coefficients of a linear model that matter most: of the columns whose kept weights are
	// largest, the first the most.
	Coefficients []Coefficient `json:"coefficients,omitempty"`
	// Effects is what is known of the coefficients together; nil of other models.
	Effects *Effects `json:"effects,omitempty"`
	// Lasso is which features the model that is kept has, of a lasso or an elastic net; nil of
	// others.
	Lasso *KeptFeatures `json:"lasso,omitempty"`
	// Importances of the features of a network that matter most, the first the most.
	Importances []Importance `json:"importances,omitempty"`
}

// KeptFeatures are those that a lasso or an elastic net gives a weight.
type KeptFeatures struct {
	Names  []string `json:"names"`
	Of     int      `json:"of"`       // of how many
	Lambda float64  `json:"lambda"`   // glmnet's, in the target's unit
	Ratio  float64  `json:"l1_ratio"` // glmnet's alpha
}

// survivalCurves are the curve of the rows of all agents, and how predicted probabilities agree
// with what becomes of test examples.
type survivalCurves struct {
	Curve        SurvivalCurve     `json:"curve,omitzero"`
	Calibrations []TimeCalibration `json:"calibrations,omitempty"`
}

// A SurvivalCurve is the share of rows without an event up to each time, in its interval of 95 %.
type SurvivalCurve struct {
	Times []float64 `json:"times"`
	Share []float64 `json:"share"`
	Low   []float64 `json:"low"`
	High  []float64 `json:"high"`
}

// A TimeCalibration has, of test examples with like predictions, the mean probability of an event
// up to a time, and the share that has one.
type TimeCalibration struct {
	Time      float64   `json:"time"`
	Rows      []float64 `json:"rows"`
	Predicted []float64 `json:"predicted"`
	Observed  []float64 `json:"observed"`
}

// An Importance is the rise of a network's mean loss on test examples if a feature is at its mean
// in all of them, or a word in none.
type Importance struct {
	Feature string `json:"feature"`
	Rise    Number `json:"rise"`
}

// A Measure is a measure of predictions with its 95 % interval over the draw of the test examples.
type Measure struct {
	Name  string `json:"name"`           // such as "RMSE" or "recall of ill"
	Unit  string `json:"unit,omitempty"` // of what it is in; "": a bare number
	Share bool   `json:"share,omitzero"` // whether it is a share of examples
	Hint  string `json:"hint"`           // what it measures
	Value Number `json:"value"`
	Low   Number `json:"low"` // unknown where there are too few examples of a kind
	High  Number `json:"high"`
	Note  string `json:"note,omitempty"` // a source of error outside of the interval
}

// HeavyTails is the note of measures of squares where rare residuals are far larger than others.
const HeavyTails = "of rows like these; rare large errors may make it worse"

// A Threshold is the best least probability for predicting a class, chosen on validation examples
// by models that have not seen them, and its result on the test examples.
type Threshold struct {
	Class       string  `json:"class"`
	Cost        float64 `json:"cost"` // of a missed example of the class, in false alarms
	Probability float64 `json:"probability"`
	Chosen      float64 `json:"validation_examples"` // by how many it was chosen
	Own         float64 `json:"own"`                 // test examples of the class
	Others      float64 `json:"others"`              // test examples of other classes
	At          Taken   `json:"at_threshold"`
	Likeliest   Taken   `json:"at_likeliest"` // where the likeliest class is taken
}

// Taken is how many test examples are taken for a class: of its own, and of others.
type Taken struct {
	Found  float64 `json:"found"`
	Alarms float64 `json:"alarms"`
}

// Paid returns the cost for each test example.
func (t Threshold) Paid(of Taken) float64 {
	return (float64(t.Cost*(t.Own-of.Found)) + of.Alarms) / (t.Own + t.Others)
}

// ClassCurves are the curves of one class against the rest.
type ClassCurves struct {
	Name      string    `json:"name"`
	AUC       Number    `json:"auc"`       // area under the ROC curve; unknown without examples of both kinds
	Wrong     []float64 `json:"roc_wrong"` // ROC curve: shares of other examples that are taken for the class,
	Right     []float64 `json:"roc_right"` // and of its own
	Predicted []float64 `json:"predicted"` // calibration: means of probabilities in groups of examples,
	Observed  []float64 `json:"observed"`  // and the shares that are of the class
}

// ResidualCurves are of true minus predicted numbers, in the unit of the targets.
type ResidualCurves struct {
	Explained Number    `json:"r2"` // R²
	Residual  []float64 `json:"residual"`
	Share     []float64 `json:"share"`     // of the examples with such a residual
	Predicted []float64 `json:"predicted"` // for examples with such predictions:
	Mean      []float64 `json:"mean"`      // the mean of residuals,
	Size      []float64 `json:"size"`      // and the root of the mean of their squares
}

// CountCurves are of predicted and true counts.
type CountCurves struct {
	Predicted []float64 `json:"predicted"` // means of predictions in groups of examples,
	True      []float64 `json:"true"`      // and of the true counts
}

// consistent reports whether curves that belong together have the same length, and the confusion
// matrix is square. A file that was edited may violate this, and the page would fail.
func (a Assessment) consistent() bool {
	same := func(curves ...[]float64) bool {
		return !slices.ContainsFunc(curves, func(c []float64) bool { return len(c) != len(curves[0]) })
	}
	one := true
	for _, c := range a.Classes {
		one = one && same(c.Wrong, c.Right) && same(c.Predicted, c.Observed)
	}
	for _, row := range a.Confusion {
		one = one && len(row) == len(a.Confusion) && len(row) == len(a.Classes)
	}
	if c := a.Counts; c != nil {
		one = one && same(c.Predicted, c.True)
	}
	if r := a.Residuals; r != nil {
		one = one && same(r.Residual, r.Share) && same(r.Predicted, r.Mean, r.Size)
	}
	return one
}

// ReadAssessment reads assessment.json.
func (f Folder) ReadAssessment() (Assessment, error) {
	a, err := readFile[Assessment](f, AssessmentFile)
	if err == nil && !a.consistent() {
		err = dsbo.ConfigErrorf("%s: curves that belong together must have one length",
			f.Path(AssessmentFile))
	}
	return a, err
}

// WriteAssessment writes assessment.json.
func (f Folder) WriteAssessment(a Assessment) error { return writeJSON(f, AssessmentFile, a) }
