package runs

import (
	"slices"

	"dsbo"
)

// AssessmentFile is the name of the file that holds an [Assessment].
const AssessmentFile = "assessment.json"

// An Assessment is assessment.json: how good a run's predictions are on the test examples of all
// agents together. It is made of counts that the agents have added up (package assess). Which
// fields there are depends on what is predicted.
type Assessment struct {
	Classes   []ClassCurves   `json:"classes,omitempty"`
	Residuals *ResidualCurves `json:"residuals,omitempty"`
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

// consistent reports whether curves that belong together have one length.
func (a Assessment) consistent() bool {
	same := func(curves ...[]float64) bool {
		return !slices.ContainsFunc(curves, func(c []float64) bool { return len(c) != len(curves[0]) })
	}
	for _, c := range a.Classes {
		if !same(c.Wrong, c.Right) || !same(c.Predicted, c.Observed) {
			return false
		}
	}
	r := a.Residuals
	return r == nil || same(r.Residual, r.Share) && same(r.Predicted, r.Mean, r.Size)
}

// ReadAssessment reads assessment.json.
func (f Folder) ReadAssessment() (Assessment, error) {
	a, err := readFile[Assessment](f, AssessmentFile)
	if err == nil && !a.consistent() {
		err = dsbo.Errorf(dsbo.ErrConfig, "%s: curves that belong together must have one length",
			f.Path(AssessmentFile))
	}
	return a, err
}

// WriteAssessment writes assessment.json.
func (f Folder) WriteAssessment(a Assessment) error { return writeJSON(f, AssessmentFile, a) }
