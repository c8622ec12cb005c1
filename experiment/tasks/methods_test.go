package tasks_test

import (
	"io"
	"path/filepath"
	"testing"

	"dsbo/algo"
	"dsbo/experiment"
	"dsbo/experiment/tasks"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// TestDefaultsLowerPhi: on the synthetic task, whose summed losses are stiff, every method lowers Φ
// with nothing chosen, those for one agent with means, as sums grow with its examples. Methods of
// another problem are left out.
func TestDefaultsLowerPhi(t *testing.T) {
	solves := algo.NamesWhere(func(m algo.Traits) bool { return !m.Personalized && !m.Compositional })
	for _, name := range solves {
		t.Run(name, func(t *testing.T) {
			m := testkit.Get(algo.New(name))
			out := runs.Folder(filepath.Join(t.TempDir(), "run"))
			args := []string{"-algorithm=" + name, "-p=5", "-agents=4", "-train=50", "-val=50", "-test=10", "-K=60",
				"-holdout=0", "-eval-every=60", "-quiet", "-report=false", "-out=" + string(out)}
			if algo.TraitsOf(m).ExactAverage {
				args = append(args, "-graph=server")
			}
			if algo.TraitsOf(m).OneAgent {
				args = append(args, "-agents=1", "-reduce=mean")
			}
			testkit.OK(experiment.Run(t.Context(), tasks.Synthetic(), args, io.Discard, io.Discard))
			s := testkit.Get(out.ReadSummary())
			if !(s.PhiEnd < 0.8*s.PhiStart) {
				t.Errorf("Φ goes from %g to %g", s.PhiStart, s.PhiEnd)
			}
		})
	}
}
