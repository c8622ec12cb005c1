package tasks_test

import (
	"io"
	"math"
	"path/filepath"
	"testing"

	"dsbo/experiment"
	"dsbo/experiment/tasks"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// TestCrossSites: in one process each site's own model is tried on the rows of all sites, and only
// -exchange-alone counts as sent what that would take between processes: λ, a model and two numbers
// of each model, from each site to each other one.
func TestCrossSites(t *testing.T) {
	folder := t.TempDir()
	data := "-data=" + writeSites(t, folder, 3)
	run := func(name string, flags ...string) runs.Summary {
		out := runs.Folder(filepath.Join(folder, name))
		testkit.OK(experiment.Run(t.Context(), tasks.Tune(),
			append(flags, "-target=ill", "-drop=cost,visits", data, "-K=2", "-folds=0", "-quiet", "-report=false",
				"-out="+string(out)), io.Discard, io.Discard))
		return testkit.Get(out.ReadSummary())
	}
	shown, sent := run("shown"), run("sent", "-exchange-alone")
	for i, s := range shown.Sites {
		if len(s.OthersAlone) != 3 || s.OthersAlone[i] != s.Alone {
			t.Errorf("site %d: models of single sites have %+v; number %d must be its own, %+v", i,
				s.OthersAlone, i, s.Alone)
		}
		for k, other := range s.OthersAlone {
			if other != sent.Sites[i].OthersAlone[k] {
				t.Errorf("site %d: model of site %d: %+v, sent %+v", i, k, other, sent.Sites[i].OthersAlone[k])
			}
		}
	}
	all := runs.SiteModels(shown.Sites)
	if last := all[4].Scores[3]; len(all) != 5 || math.Abs(float64(last.Loss-shown.TestLossTuned)) > 1e-9 {
		t.Errorf("the models at the sites are %+v; the last number of the last one must be the tuned test loss, %v",
			all, shown.TestLossTuned)
	}
	// λ, and of two classes of age, its indicator, noise and three colours, with intercepts
	const pairs, weights = 3 * 2, 6 + 2*(6+1)
	if extra := sent.Traffic.Models.Bytes - shown.Traffic.Models.Bytes; extra%(8*pairs) != 0 ||
		extra/(8*pairs) != weights+2*3 {
		t.Errorf("-exchange-alone sent %d bytes more, want %d", extra, 8*pairs*(weights+2*3))
	}
}
