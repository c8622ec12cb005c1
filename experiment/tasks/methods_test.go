package tasks_test

import (
	"fmt"
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
// with nothing chosen. Methods for one agent that draw batches of their own need means. Methods for
// another problem are left out.
func TestDefaultsLowerPhi(t *testing.T) {
	solves := algo.NamesWhere(func(m algo.Traits) bool { return !m.Personalized && !m.Compositional })
	for _, name := range solves {
		t.Run(name, func(t *testing.T) {
			args := []string{"-algorithm=" + name, "-p=5", "-agents=4", "-train=50", "-val=50", "-test=10", "-K=60",
				"-holdout=0", "-eval-every=60", "-quiet", "-report=false"}
			m := algo.TraitsOf(testkit.Get(algo.New(name)))
			if m.ExactAverage {
				args = append(args, "-graph=server")
			}
			if m.OneAgent {
				args = append(args, "-agents=1")
			}
			if m.OneAgent && m.FullBatch != "" {
				args = append(args, "-reduce=mean")
			}
			for seed := range 3 {
				out := runs.Folder(filepath.Join(t.TempDir(), "run"))
				args := append(args, "-out="+string(out), fmt.Sprint("-seed=", seed+1))
				if err := experiment.Run(t.Context(), tasks.Synthetic(), args, io.Discard, io.Discard); err != nil {
					t.Errorf("seed %d: %v", seed+1, err)
				} else if s := testkit.Get(out.ReadSummary()); !(s.PhiEnd < 0.9*s.PhiStart) {
					t.Errorf("seed %d: Φ goes from %g to %g", seed+1, s.PhiStart, s.PhiEnd)
				}
			}
		})
	}
}
