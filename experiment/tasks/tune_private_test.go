package tasks_test

import (
	"errors"
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

// TestTunePrivately: with differential privacy the recipe is an earlier run's, and without one it
// is refused.
func TestTunePrivately(t *testing.T) {
	folder := t.TempDir()
	first, second := filepath.Join(folder, "first"), filepath.Join(folder, "second")
	args := []string{"-data=" + writeSites(t, folder, 3), "-target=ill", "-drop=cost,visits", "-quiet",
		"-report=false", "-K=3"}
	run := func(out string, more ...string) error {
		return experiment.Run(t.Context(), tasks.Tune(), append(append(more, "-out="+out), args...),
			io.Discard, io.Discard)
	}
	if err := run(second, "-dp-epsilon=5"); !errors.Is(err, dsbo.ErrConfig) ||
		!strings.Contains(err.Error(), "-from must name a run of tune") {
		t.Errorf("without -from: %v", err)
	}
	testkit.OK(run(first))
	testkit.OK(run(second, "-dp-epsilon=5", "-from="+first))
	s := testkit.Get(runs.Folder(second).ReadSummary())
	if s.Privacy == nil || s.Privacy.Epsilon != 5 || s.Traffic.Setup.Bytes > 0 || s.ValLoss.Known() ||
		!s.TestLoss.Known() {
		t.Errorf("privacy %+v, %d bytes as it loaded, validation loss %v, test loss %v", s.Privacy,
			s.Traffic.Setup.Bytes, s.ValLoss, s.TestLoss)
	}
	if there := testkit.Get(runs.Folder(second).Has(runs.ModelFile)); !there {
		t.Error("there is no model to predict with")
	}
	if err := run(second, "-dp-epsilon=5", "-from="+first, "-model=mlp", "-force"); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("a network: %v", err)
	}
}
