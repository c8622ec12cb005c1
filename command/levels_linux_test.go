package command

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsbo/experiment/tasks/tune"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/runs"
	"dsbo/runs/report"
)

// TestLevelsOfSites: over TLS sites find levels as in one process, to the bit, and each folder has
// the level of its own site alone; what leaves is as listed, and what all have tells no level.
func TestLevelsOfSites(t *testing.T) {
	skipShort(t, "as TestSite")
	const n = 3
	dir := writeTables(t, "ours%d.csv", n)
	flags := append(slices.Clone(tuneFlags), "-site-effects=intercept", "-split=0.25:0.25:0.5")
	file, certs, out := writeCertified(t, dir, n, map[string]any{"task": "tune", "flags": flags})
	runSites(t, n, file, certs, out, dir+"/ours%d.csv")
	disclosed(t, out, certs, n)
	together := aloneOf(t, tune.Task(), dir, append(flags, "-data="+filepath.Join(dir, "ours{agent}.csv"))...)
	same(t, out, together, n)
	var weights [][]byte
	for i := range n {
		folder, name := runs.Folder(filepath.Join(out, fmt.Sprintf("agent-%d", i))), fmt.Sprint(runs.OwnPrefix, i, ".")
		own := testkit.Get(folder.PathsWithPrefix(runs.OwnPrefix))
		if !slices.Equal(own, []string{folder.Path(name + runs.LevelFile), folder.Path(name + runs.ModelFile),
			folder.Path(name + runs.ONNXFile), folder.Path(name + runs.WeightsFile)}) {
			t.Errorf("site %d has %v of levels", i, own)
		}
		want := fmt.Sprintf("The level of site %d in ill (log-odds against no), beside", i)
		if r := testkit.Get(report.Load(string(folder))); len(r.Levels) != 1 || !strings.HasPrefix(r.Levels[0], want) {
			t.Errorf("the page of site %d has the levels %q", i, r.Levels)
		}
		of := testkit.Get(folder.ReadFile(name + runs.WeightsFile))
		if !bytes.Equal(of, testkit.Get(runs.Folder(together).ReadFile(name+runs.WeightsFile))) {
			t.Errorf("site %d has another level than in one process", i)
		}
		if slices.ContainsFunc(weights, func(other []byte) bool { return bytes.Equal(other, of) }) {
			t.Errorf("site %d has the level of another site", i)
		}
		weights = append(weights, of)
		a := runCommand(t, "predict", "-model="+string(folder), fmt.Sprintf("-data=%s/ours%d.csv", dir, i))
		all := []string{"predict", "-model=" + together, fmt.Sprintf("-data=%s/ours%d.csv", dir, i)}
		b, c := runCommand(t, append(all, fmt.Sprint("-site=", i))...), runCommand(t, append(all, "-site=new")...)
		if a != b || a == c {
			t.Errorf("site %d: predictions are those of its level: %t; of a new site: %t", i, a == b, a == c)
		}
		if given := testkit.Get(runs.PackResult(folder)); bytes.Contains(given, []byte(runs.OwnPrefix)) {
			t.Errorf("what site %d hands over has its level", i)
		}
	}
	for site, want := range map[string]string{"": "one of 0, 1, 2, or new", "7": "it is 7", "own": "it is own"} {
		_, err := command(t, "predict", "-model="+together, "-site="+site, "-data="+dir+"/ours0.csv")
		wantError(t, err, cli.Usage, want)
	}
}
