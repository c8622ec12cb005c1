package command

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"dsbo/experiment/experimenttest"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// Runs of tasks in one process, from the command line to the run folder.

// smallMNIST are flags of a run of the task mnist that takes a moment on the small data set.
const smallMNIST = "-agents=2 -train=10 -val=10 -K=2 -report=false"

// synthetic returns the command line of a small run of the task synthetic. Flags may be several in
// a text.
func synthetic(flags ...string) []string {
	return slices.Concat([]string{"synthetic", "-agents=3", "-report=false"}, small,
		strings.Fields(strings.Join(flags, " ")))
}

// TestScriptsOfTasks: STEPPED are flags of a small run with steps and draws.
func TestScriptsOfTasks(t *testing.T) {
	for task, c := range map[string]struct{ small, stepped string }{
		"mnist":     {smallMNIST, "-preset=madsbo_tuned -batch=5 -T=2 -N=2 -evaluate=off"},
		"synthetic": {strings.Join(synthetic()[1:], " "), "-preset=madsbo_tuned -T=2 -N=2"},
	} {
		t.Run(task, func(t *testing.T) {
			runScripts(t, "testdata/"+task, func(e *testscript.Env) error {
				dir := filepath.Join(e.WorkDir, "data")
				t.Setenv("DSBO_DATA", dir)
				e.Setenv("SMALL", c.small)
				e.Setenv("STEPPED", c.small+" "+c.stepped)
				if task != "mnist" {
					return nil
				}
				e.Setenv("DSBO_DATA", dir)
				return testkit.WriteMNIST(dir, 200, 30)
			})
		})
	}
}

// interrupted runs a command line up to the first line of stderr with a text.
func interrupted(t *testing.T, text string, args ...string) {
	t.Helper()
	wantError(t, stoppedAt(t, text, args...), cli.Interrupted, "-resume -out")
}

// TestResumeTheNewest: the newest unfinished run is the one that -resume means.
func TestResumeTheNewest(t *testing.T) {
	t.Chdir(t.TempDir())
	args := synthetic("-evaluate=off -eval-every=2")
	runCommand(t, args...)
	interrupted(t, "iteration 2 ", args...)
	if out, want := runCommand(t, "synthetic", "-resume", "-quiet", "-report=false"),
		filepath.Join("results", "synthetic-tuned-seed1-2"); !strings.Contains(out, want) {
		t.Errorf("stdout %s: want %s", out, want)
	}
	experimenttest.SameRun(t, "results/synthetic-tuned-seed1", "results/synthetic-tuned-seed1-2")
}

// TestStoppedModels: what a run has found stands before the models are found, with a page where one
// is wanted, and the run that goes on ends as one that was not stopped.
func TestStoppedModels(t *testing.T) {
	skipShort(t, "writes a page")
	dir := t.TempDir()
	whole, stopped := filepath.Join(dir, "whole"), filepath.Join(dir, "stopped")
	args := synthetic("-r=1 -p=4 -train=30 -val=30")
	runCommand(t, append(args, "-out="+whole)...)
	interrupted(t, "model of λ = 0", append(args, "-out="+stopped, "-report")...)
	lambda := func(folder string) string {
		return string(testkit.Get(os.ReadFile(filepath.Join(folder, runs.LambdaFile))))
	}
	if lambda(stopped) != lambda(whole) {
		t.Error("lambda.npy differs")
	}
	if s, err := runs.Folder(stopped).ReadSummary(); err != nil || s.State != runs.Interrupted || !s.PhiEnd.Known() {
		t.Errorf("state %q, Φ %v, %v", s.State, s.PhiEnd, err)
	}
	testkit.Get(os.Stat(filepath.Join(stopped, "report.html")))
	runCommand(t, "synthetic", "-resume", "-report=false", "-out="+stopped)
	experimenttest.SameRun(t, stopped, whole)
}

// TestResumeAcrossAChange: a run whose members change resumes before, at and after the change with
// the same bits, by the log that its folder keeps.
func TestResumeAcrossAChange(t *testing.T) {
	skipShort(t, "package train resumes across changes")
	dir := t.TempDir()
	log := filepath.Join(dir, "log.jsonl")
	testkit.OK(os.WriteFile(log,
		[]byte(`{"epoch":1,"iteration":3,"members":[0,2,3],"proposer":0,"why":["agent 1 left"]}`+"\n"), 0o644))
	args := synthetic("-r=1 -agents=4 -K=5 -eval-every=1 -membership=" + log)
	whole := filepath.Join(dir, "whole")
	runCommand(t, append(args, "-out="+whole)...)
	for _, text := range []string{"iteration 2", "epoch 1", "iteration 4"} {
		parts := filepath.Join(dir, strings.ReplaceAll(text, " ", "-"))
		interrupted(t, text, append(args, "-out="+parts)...)
		runCommand(t, "synthetic", "-resume", "-report=false", "-out="+parts)
		experimenttest.SameRun(t, parts, whole)
	}
}

// TestResumedElsewhere: a run resumes with moved data, and with no others, and ends with the bits
// of one that was not interrupted.
func TestResumedElsewhere(t *testing.T) {
	home := t.TempDir()
	here, there, whole, stopped := filepath.Join(home, "here"), filepath.Join(home, "there"),
		filepath.Join(home, "whole"), filepath.Join(home, "stopped")
	testkit.OK(testkit.WriteMNIST(here, 60, 30))
	args := append([]string{"mnist"}, strings.Fields(smallMNIST+
		" -model=hyperrep -hidden=1 -K=4 -evaluate=off -rivals=false -checkpoint-every=1 -eval-every=1 -data="+here)...)
	runCommand(t, append(args, "-out="+whole)...)
	interrupted(t, "iteration 2 ", append(args, "-out="+stopped)...)
	testkit.OK(os.Rename(here, there))
	resume := []string{"mnist", "-resume", "-report=false", "-out", stopped}
	_, err := command(t, resume...)
	wantError(t, err, cli.Usage, here)
	testkit.OK(testkit.WriteMNIST(here, 50, 30))
	if _, err := command(t, resume...); err == nil {
		t.Error("the run went on with other data")
	}
	runCommand(t, append(resume, "-data="+there)...)
	experimenttest.SameRun(t, stopped, whole)
}

// TestAccounting compares what the agents of a run send with the formula in the method's Cost: by
// trees, by a server, and by exchanges alone. Conformance tests of algo do so for every method. A
// resumed run knows how many products the iterations before it took.
func TestAccounting(t *testing.T) {
	asCounted := func(t *testing.T, dir string) {
		s := testkit.Get(runs.Folder(dir).ReadSummary())
		if s.FloatsSent <= 0 || s.FloatsSent != s.FloatsFormula {
			t.Errorf("sent %v numbers, %v by the formula", s.FloatsSent, s.FloatsFormula)
		}
	}
	for _, flags := range []string{"-algorithm=newtoncg -set=damping=0.1 -graph=path",
		"-algorithm=newtoncg -preset=tuned", "-algorithm=fednest -graph=server -set=nprime=[1,0,1]",
		"-algorithm=madsbo_tuned -set=track_y=true -set=reuse_b=true -batch=3", "-algorithm=pdsbo_al",
		"-algorithm=c2dfb", "-algorithm=fedbioacc -graph=server -set=I=1"} {
		t.Run(flags, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			runCommand(t, synthetic("-r=1 -agents=4 -T=2 -N=3 -alpha=0.01 -preset=paper -evaluate=off -rivals=false",
				"-quiet", flags, "-out="+dir)...)
			asCounted(t, dir)
		})
	}
	t.Run("resumed", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "run")
		interrupted(t, "iteration 3", synthetic("-r=1 -checkpoint-every=2 -out="+dir)...)
		runCommand(t, "synthetic", "-resume", "-report=false", "-quiet", "-out="+dir)
		asCounted(t, dir)
	})
}

// TestDiskIsFull: a run whose table cannot be written reports it.
func TestDiskIsFull(t *testing.T) {
	err := run(t.Context(), synthetic("-r=1 -evaluate=off -quiet -out="+filepath.Join(t.TempDir(), "run")),
		fullDisk{}, io.Discard)
	wantError(t, err, cli.Failure, io.ErrShortWrite.Error())
}

// fullDisk is a stdout that takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, io.ErrShortWrite }
