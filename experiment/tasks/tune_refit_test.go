package tasks_test

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsbo/experiment"
	"dsbo/experiment/tasks"
	"dsbo/internal/testkit"
	"dsbo/runs"
	"dsbo/tables/modelfile"
)

// TestRefit: the test rows judge the same model with -refit all as with none; the model that is
// kept is then another one, of all rows, and the run says so. With nearly no test rows both are
// nearly the same.
func TestRefit(t *testing.T) {
	if testing.Short() {
		t.Skip("two runs for each kind of model")
	}
	folder := t.TempDir()
	data := "-data=" + writeSites(t, folder, 3)
	for name, c := range map[string]struct {
		flags []string
		near  float64 // the farthest of a weight from the model's without test rows; 0: any
	}{
		"structures":           {[]string{"-target=ill"}, 0},
		"groups":               {[]string{"-target=cost", "-group=body=age,colour=colour"}, 0},
		"one penalty, folds":   {[]string{"-target=visits", "-task=count", "-penalty=one"}, 0},
		"no folds, balanced":   {[]string{"-target=ill", "-folds=0", "-balance"}, 0},
		"few test rows":        {[]string{"-target=cost", "-split=0.5:0.48:0.02"}, 0.1},
		"few, features' folds": {[]string{"-target=cost", "-split=0.5:0.48:0.02", "-penalty=feature"}, 0.1},
	} {
		t.Run(name, func(t *testing.T) {
			var weights [2][]float64
			var tests [2]runs.Number
			for k, refit := range []string{"all", "none"} {
				out := runs.Folder(filepath.Join(folder, name+refit))
				args := append([]string{data, "-K=2", "-alone=false", "-quiet", "-report=false", "-refit=" + refit,
					"-out=" + string(out)}, c.flags...)
				testkit.OK(experiment.Run(t.Context(), tasks.Tune(), args, io.Discard, io.Discard))
				for _, l := range testkit.Get(modelfile.Read(out.Path(runs.ModelFile))).Layers {
					weights[k] = append(append(weights[k], l.Weights...), l.Bias...)
				}
				s := testkit.Get(out.ReadSummary())
				tests[k] = s.Models[len(s.Models)-1].TestLoss
				notes := strings.Join(s.Verdict.Notes, " ")
				said := strings.Contains(notes, "the model that is kept, in model.json")
				said = said && strings.Contains(notes, "over one penalty the model that is kept") ==
					(name == "structures" || name == "groups" || name == "few test rows")
				if said != (refit == "all") {
					t.Errorf("-refit %s: notes %q", refit, s.Verdict.Notes)
				}
			}
			far := 0.0
			for j, w := range weights[0] {
				far = max(far, math.Abs(w-weights[1][j]))
			}
			if far == 0 || c.near > 0 && far > c.near || tests[0] != tests[1] {
				t.Errorf("weights are %g apart, test losses %v", far, tests)
			}
		})
	}
}

// TestGroupsFound: the block of the column that tells nothing has a far larger penalty.
func TestGroupsFound(t *testing.T) {
	folder := t.TempDir()
	out := runs.Folder(filepath.Join(folder, "run"))
	testkit.OK(experiment.Run(t.Context(), tasks.Tune(), []string{"-data=" + writeSites(t, folder, 3), "-target=cost",
		"-group=signal=age,signal=colour,noise=noise", "-drop=ill,visits", "-model=linear", "-K=1", "-alone=false",
		"-quiet", "-report=false", "-out=" + string(out)}, io.Discard, io.Discard))
	all := testkit.Get(out.ReadSummary()).Structures
	var signal, noise float64
	name := all[len(all)-1].Name
	if n, err := fmt.Sscanf(name, "blocks: signal %g, noise %g", &signal, &noise); n != 2 || noise < signal+2 {
		t.Errorf("%s: %v", name, err)
	}
}

// TestGroupsRefused: groups have penalties in -penalty auto alone, and -groups is a file.
func TestGroupsRefused(t *testing.T) {
	folder := t.TempDir()
	data, file := "-data="+writeSites(t, folder, 3), filepath.Join(folder, "groups")
	testkit.OK(os.WriteFile(file, []byte("# two\nbody=age\n\ncolour=colour\n"), 0o600))
	for fault, flags := range map[string][]string{
		"-group must be left out":                      {"-group=a=age", "-penalty=one"},
		"there are 0 folds":                            {"-groups=" + file, "-folds=0"},
		"-group none: the pattern must match":          {"-group=none=x*"},
		"-groups: open":                                {"-groups=" + file + ".none"},
		"-refit must be auto or all or none; it is ok": {"-refit=ok"},
	} {
		err := experiment.Run(t.Context(), tasks.Tune(), append(flags, data, "-target=ill", "-quiet", "-report=false",
			"-out="+filepath.Join(folder, "run")), io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("%v: error %v, want %q", flags, err, fault)
		}
	}
}
