package report

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

func TestAssessment(t *testing.T) {
	line := []float64{0, .5, 1}
	two := []runs.ClassCurves{
		{Name: "healthy", AUC: .8, Wrong: line, Right: line, Predicted: line, Observed: line},
		{Name: "ill", AUC: .9, Wrong: line, Right: line, Predicted: line, Observed: line},
	}
	for _, c := range []struct {
		name    string
		a       runs.Assessment
		figures []string // none: an error
		text    string
	}{
		{"two classes", runs.Assessment{Classes: two}, []string{"roc", "calibration"}, "ill, area 0.900"},
		{"residuals", runs.Assessment{
			Residuals: &runs.ResidualCurves{Explained: .5, Residual: line, Share: line, Predicted: line,
				Mean: line, Size: line}},
			[]string{"residuals", "residuals_predicted"}, "R² = 0.500"},
		{"a class without examples",
			runs.Assessment{Classes: []runs.ClassCurves{two[0], two[1], {Name: "unknown", AUC: runs.Unknown()}}},
			[]string{"roc", "calibration"}, "healthy, area 0.800"},
		{"lengths differ", runs.Assessment{Classes: []runs.ClassCurves{{Wrong: line, Right: line[:2]}}}, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := fixture{method: "newtoncg", seed: 1}.write(t, t.TempDir())
			testkit.OK(runs.Folder(folder).WriteAssessment(c.a))
			r, err := Load(folder)
			if c.figures == nil {
				if !errors.Is(err, dsbo.ErrConfig) {
					t.Fatalf("error %v, want dsbo.ErrConfig", err)
				}
				return
			}
			shown := []*Run{testkit.Get(r, err)}
			if page := string(testkit.Get(testkit.Get(newPage(shown, "")).html())); !strings.Contains(page,
				"How good the predictions are") || !strings.Contains(page, c.text) {
				t.Errorf("the page does not show the assessment with %q", c.text)
			}
			testkit.OK(SaveFigures(folder, "", shown, Options{}, c.figures...))
			for _, name := range c.figures {
				testkit.Get(os.Stat(filepath.Join(folder, name+".svg")))
			}
		})
	}
}
