package experiment

import (
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/runs"
)

// An edged model has no lower loss where an entry of x is above its edge: it is not a number there.
type edged struct {
	models.Logistic
	edge float64
}

func (m edged) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	edge := slices.Repeat([]float64{m.edge}, m.Features)
	room := ad.SumAll(ad.Log(ad.Sub(ad.NewConst(x, "edge", len(edge), 0, edge), x)))
	return ad.Add(m.Logistic.Lower(x, y, b), ad.Scale(1e-300, ad.ScaleBy(room, ad.Dot(y, y))))
}

// A refitting task is mean with an edge, that solves the lower problem of another edge at the end.
type refitting struct {
	mean
	edge, refit float64
	loaded      data.Task
}

// Task returns the task, which finishes.
func (t *refitting) Task() Task {
	task := newMean()
	task.Flags, task.Load, task.Finish = t.mean.Flags, t.Load, t.Finish
	return task
}

func (t *refitting) Load(a Agents) (data.Task, models.Model, error) {
	task, m, err := t.mean.Load(a)
	t.loaded = task
	return task, edged{m.(models.Logistic), t.edge}, err
}

func (t *refitting) Finish(f FinishedRun) error {
	_, err := f.Solve(t.loaded, edged{models.Logistic{Features: 3, Mean: true}, t.refit}, f.X)
	return err
}

// TestModelsThatAreNotFinite: where the model of a constant, or what a task makes of the kept one,
// is not finite, the run warns, keeps what it has found, and succeeds.
func TestModelsThatAreNotFinite(t *testing.T) {
	const far = 100
	for name, test := range map[string]struct {
		task    refitting
		warning string
	}{
		"constant": {refitting{edge: -1, refit: far}, "model of λ = 0: the gradient"},
		"refit":    {refitting{edge: far, refit: -50}, "the model of all rows: its solution is not finite"},
	} {
		folder := runs.Folder(filepath.Join(t.TempDir(), "run"))
		var log strings.Builder
		args := []string{"-agents=3", "-rows=50", "-K=2", "-x0=-3", "-set=init=x0", "-report=false", "-dtype=float64",
			"-out=" + string(folder)}
		if err := Run(t.Context(), test.task.Task(), args, io.Discard, &log); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.Contains(log.String(), "warning: ") || !strings.Contains(log.String(), test.warning) {
			t.Errorf("%s: the log must warn of %q: %s", name, test.warning, log.String())
		}
		s := testkit.Get(folder.ReadSummary())
		if s.State != runs.Finished || len(s.Models) == 0 {
			t.Errorf("%s: the summary is %+v", name, s)
		}
		for _, v := range testkit.Get(folder.ReadLambda()) {
			if math.IsNaN(v) {
				t.Errorf("%s: λ is not finite", name)
			}
		}
	}
}
