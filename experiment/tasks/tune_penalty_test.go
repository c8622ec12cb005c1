package tasks_test

import (
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"dsbo/experiment"
	"dsbo/experiment/tasks"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// TestPenaltyAuto: with folds, features have a penalty each, by structures whose shares the run
// tells. Without, they have where there are 4 training and validation rows for each; else all
// weights share one, unless the flag says otherwise. Settings have no line for each name.
func TestPenaltyAuto(t *testing.T) {
	if testing.Short() {
		t.Skip("runs with several penalties")
	}
	folder := t.TempDir()
	data := "-data=" + writeSites(t, folder, 3)
	for name, c := range map[string]struct {
		flags      []string
		first      string // penalty
		structures bool
	}{
		"folds":            {[]string{"-split=0.1:0.1:0.8"}, "age", true}, // of 180 rows 36 for 6 features
		"folds, but set":   {[]string{"-split=0.1:0.1:0.8", "-penalty=one"}, "all weights", false},
		"enough":           {[]string{"-split=0.1:0.1:0.8", "-folds=0"}, "age", false},
		"too few":          {[]string{"-split=0.02:0.02:0.96", "-folds=0"}, "all weights", false},
		"too few, but set": {[]string{"-split=0.02:0.02:0.96", "-folds=0", "-penalty=feature"}, "age", false},
	} {
		t.Run(name, func(t *testing.T) {
			out := runs.Folder(filepath.Join(folder, name))
			args := append(c.flags, "-target=ill", "-drop=cost,visits", data, "-K=1", "-alone=false", "-quiet",
				"-report=false", "-out="+string(out))
			testkit.OK(experiment.Run(t.Context(), tasks.Tune(), args, io.Discard, io.Discard))
			if got := testkit.Get(out.ReadLambdaTable())[0].Name; got != c.first {
				t.Errorf("the first penalty is that of %s, want %s", got, c.first)
			}
			var shares float64
			found := testkit.Get(out.ReadSummary()).Structures
			for _, s := range found {
				shares += float64(s.Share)
			}
			if c.structures && (len(found) < 7 || math.Abs(shares-1) > 1e-12) || !c.structures && found != nil {
				t.Errorf("%d structures, whose shares sum to %v", len(found), shares)
			}
			if text := string(testkit.Get(out.ReadConfig()).Problem); strings.Contains(text, "colour=") {
				t.Errorf("the settings name features: %s", text)
			}
		})
	}
}

// TestIterationsBeforeStructures: where structures look for the best strength themselves, the
// iterations end near one, unless -K or a preset says how many there are.
func TestIterationsBeforeStructures(t *testing.T) {
	if testing.Short() {
		t.Skip("runs with several penalties")
	}
	folder := t.TempDir()
	data := "-data=" + writeSites(t, folder, 2)
	for k, c := range []struct {
		flags []string
		want  int
	}{{nil, 6}, {[]string{"-K=2"}, 2}, {[]string{"-penalty=one"}, 20}} {
		out := runs.Folder(filepath.Join(folder, strconv.Itoa(k)))
		args := append(c.flags, "-target=ill", data, "-alone=false", "-quiet", "-report=false", "-out="+string(out))
		testkit.OK(experiment.Run(t.Context(), tasks.Tune(), args, io.Discard, io.Discard))
		if got := testkit.Get(out.ReadSummary()).Iterations; got != c.want {
			t.Errorf("with %v there are %d iterations, want %d", c.flags, got, c.want)
		}
	}
}
