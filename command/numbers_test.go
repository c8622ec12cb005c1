package command

import (
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsbo/algo"
	"dsbo/experiment"
	"dsbo/experiment/tasks"
	"dsbo/experiment/tasks/tune"
	"dsbo/internal/kernel"
	"dsbo/internal/testkit"
	"dsbo/internal/wording"
	"dsbo/runs"
)

// numbersFile has the version of numbers and, for each run of numberedRuns, its digest.
const numbersFile = "testdata/numbers.txt"

// A numberedRun is a run whose numbers must stay as long as [wording.NumbersVersion] does.
type numberedRun struct {
	task experiment.Task
	args string
}

// numberedRuns has a run of each method for tasks, and of each kind of target of tables, with the
// pictures and the tables of a folder.
func numberedRuns(dir string) map[string]numberedRun {
	mnist := "-agents=2 -train=20 -val=20 -K=1 -data=" + dir
	all := map[string]numberedRun{
		"mnist":       {tasks.MNIST(), mnist},
		"mnist-lenet": {tasks.MNIST(), mnist + " -model=lenet -evaluate=off -rivals=false"},
	}
	for _, name := range algo.Names() {
		t := algo.TraitsOf(testkit.Get(algo.New(name)))
		if t.Compositional { // no task has such a problem
			continue
		}
		args := "-p=2 -train=12 -val=12 -test=20 -K=4 -evaluate=off -rivals=false -agents=5 -labels=sign " +
			"-algorithm=" + name
		if t.ExactAverage {
			args += " -graph=server"
		}
		if t.OneAgent {
			args += " -agents=1"
		}
		if t.OneAgent && t.FullBatch != "" {
			args += " -reduce=mean"
		}
		all[name] = numberedRun{tasks.Synthetic(), args}
	}
	for name, flags := range map[string]string{
		"tune-classes": "-target=ill", "tune-numbers": "-target=age", "tune-counts": "-target=visits -task=count",
		"tune-survival": "-task=survival -target=time -event=ill=yes",
	} {
		all[name] = numberedRun{tune.Task(), flags + " -K=2 -folds=2 -data=" +
			filepath.Join(dir, "site{agent}.csv")}
	}
	return all
}

// writeTimes writes the table of site i with three more columns: counts, times, and words, each of
// six rows.
func writeTimes(path string, i int) {
	writeTable(path, i)
	var text strings.Builder
	for k, line := range slices.Collect(strings.Lines(string(testkit.Get(os.ReadFile(path))))) {
		more := fmt.Sprintf(",%d,%d,w%d-%d\n", k*7%5, 1+k*k%97, i, k/6)
		if k == 0 {
			more = ",visits,time,place\n"
		}
		text.WriteString(strings.TrimSuffix(line, "\n") + more)
	}
	testkit.OK(os.WriteFile(path, []byte(text.String()), 0o644))
}

// TestNumbersVersion: runs have the bits, and send as much, as programs of the same version of
// numbers, which can be in one run with this one. Where a change moves them, raise
// wording.NumbersVersion, and write the lines that the test prints to the file.
func TestNumbersVersion(t *testing.T) {
	testkit.Long(t, "a run of each method")
	defer kernel.Use(kernel.Generic)() // which all machines have
	dir := t.TempDir()
	testkit.OK(testkit.WriteMNIST(dir, 320, 30))
	for i := range 3 {
		writeTimes(filepath.Join(dir, fmt.Sprintf("site%d.csv", i)), i)
	}
	all := numberedRuns(dir)
	got := fmt.Sprintf("version %d\n", wording.NumbersVersion)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out := runs.Folder(filepath.Join(dir, name))
		args := append(strings.Fields(all[name].args), "-quiet", "-report=false", "-out="+string(out))
		if err := experiment.Run(t.Context(), all[name].task, args, io.Discard, io.Discard); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		h := sha256.New()
		for _, file := range []string{runs.LambdaFile, runs.OmegaFile} {
			h.Write(testkit.Get(out.ReadFile(file)))
		}
		fmt.Fprintf(h, "%+v", testkit.Get(out.ReadSummary()).Traffic)
		got += fmt.Sprintf("%s %x\n", name, h.Sum(nil)[:8])
	}
	if want := string(testkit.Get(os.ReadFile(numbersFile))); got != want {
		t.Errorf("%s has\n%sthese runs have\n%s", numbersFile, want, got)
	}
}
