package tasks_test

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"dsbo"
	"dsbo/experiment"
	"dsbo/experiment/tasks"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// TestTunePlan: the plan of a run over tables has what they find together as they load, to the
// byte, and all that the run sent lies between its least and most; the explanation lists what is
// made at the end.
func TestTunePlan(t *testing.T) {
	if testing.Short() {
		t.Skip("a run for each plan")
	}
	folder := t.TempDir()
	data := "-data=" + writeSites(t, folder, 3)
	atEnd := []string{"counts of predictions ", "scores on the site's test rows ",
		"products with the Hessian, all rows "}
	for name, c := range map[string]struct {
		flags []string
		lists []string // of atEnd
	}{
		"folds":      {[]string{"-target=ill", "-drop=cost,visits"}, atEnd},
		"no folds":   {[]string{"-target=ill", "-folds=0"}, atEnd},
		"no refit":   {[]string{"-target=ill", "-folds=0", "-refit=none"}, atEnd[:2]},
		"regression": {[]string{"-target=cost", "-alone=false", "-folds=2"}, []string{atEnd[0], atEnd[2]}},
		"counts":     {[]string{"-target=visits", "-task=count", "-folds=2"}, atEnd},
		"cost":       {[]string{"-target=ill", "-folds=0", "-cost=yes=5"}, atEnd},
		"cost folds": {[]string{"-target=ill", "-folds=2", "-penalty=one", "-cost=yes=5"}, atEnd},
		"networks":   {[]string{"-target=cost", "-model=auto", "-folds=2"}, atEnd},
		"cost nets":  {[]string{"-target=ill", "-model=auto", "-hidden=4", "-cost=yes=5"}, atEnd},
		"cost auto":  {[]string{"-target=ill", "-folds=2", "-cost=yes=5"}, atEnd},
		"feature":    {[]string{"-target=ill", "-folds=2", "-penalty=feature"}, atEnd},
	} {
		t.Run(name, func(t *testing.T) {
			out := runs.Folder(filepath.Join(folder, name))
			args := append(c.flags, data, "-K=3", "-quiet", "-report=false", "-out="+string(out))
			p := testkit.Get(testkit.Get(experiment.Parse(tasks.Tune(), args, io.Discard)).Plan(t.Context(), 0, nil))
			testkit.OK(experiment.Run(t.Context(), tasks.Tune(), args, io.Discard, io.Discard))
			sent := testkit.Get(out.ReadSummary()).Traffic
			loading := p.All.Phases["loading"].Bytes
			if certain := name != "feature"; certain != (loading.Least == loading.Most) { // which has structures there
				t.Errorf("loading: the plan has %+v; that it is certain must be %t", loading, certain)
			}
			for phase, s := range map[string]dsbo.Traffic{"loading": sent.Setup, "iterations": sent.Method,
				"evaluation": sent.Evaluation, "models": sent.Models} {
				if r, got := p.All.Phases[phase].Bytes, float64(s.Bytes); got < r.Least || got > r.Most {
					t.Errorf("%s: %g bytes were sent; the plan has %+v", phase, got, r)
				}
			}
			var text strings.Builder
			testkit.OK(p.Explain(&text))
			for _, q := range atEnd {
				listed, want := strings.Contains(text.String(), q), strings.Contains(strings.Join(c.lists, "|"), q)
				if listed != want {
					t.Errorf("whether %q is listed is %v, want %v, in\n%s", q, listed, want, &text)
				}
			}
		})
	}
}
