package tasks_test

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"dsbo/experiment"
	"dsbo/experiment/tasks"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// TestPenaltyAuto: features have a penalty of their own where there are 4 training and validation
// rows for each; else all weights share one, unless the flag says otherwise. Settings have no line
// for each name.
func TestPenaltyAuto(t *testing.T) {
	if testing.Short() {
		t.Skip("runs with several penalties")
	}
	folder := t.TempDir()
	data := "-data=" + writeSites(t, folder, 3)
	for name, c := range map[string]struct {
		flags []string
		first string // penalty
	}{
		"enough, folds":    {[]string{"-split=0.1:0.1:0.8"}, "age"}, // of 180 rows 36 for 6 features
		"too few, folds":   {[]string{"-split=0.02:0.02:0.96"}, "all weights"},
		"too few":          {[]string{"-split=0.02:0.02:0.96", "-folds=0"}, "all weights"},
		"too few, but set": {[]string{"-split=0.02:0.02:0.96", "-folds=0", "-penalty=feature"}, "age"},
	} {
		t.Run(name, func(t *testing.T) {
			out := runs.Folder(filepath.Join(folder, name))
			args := append(c.flags, "-target=ill", "-drop=cost,visits", data, "-K=1", "-alone=false", "-quiet",
				"-report=false", "-out="+string(out))
			testkit.OK(experiment.Run(t.Context(), tasks.Tune(), args, io.Discard, io.Discard))
			if got := testkit.Get(out.ReadLambdaTable())[0].Name; got != c.first {
				t.Errorf("the first penalty is that of %s, want %s", got, c.first)
			}
			if text := string(testkit.Get(out.ReadConfig()).Problem); strings.Contains(text, "colour=") {
				t.Errorf("the settings name features: %s", text)
			}
		})
	}
}
