package experiment

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"dsbo"
	"dsbo/internal/files"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// crashing is the command line of a run of moments that writes all kinds of files.
const crashing = "-preset=fast -agents=2 -p=1 -K=4 -eval-every=1 -checkpoint-every=1 "

// TestCrashStates: from each state that a crash may leave on the disk, at each moment of a run, of
// one that is resumed and of one that replaces another, -resume ends with the bits of a run that
// was not disturbed, or says that there is nothing to go on with, or what is wrong; then the run
// begins anew with the same bits.
func TestCrashStates(t *testing.T) {
	most := 50 // of the states of each way to begin, spread over the run
	if testing.Short() {
		most = 8
	}
	whole := filepath.Join(t.TempDir(), "run")
	testkit.OK(runIn(t, newTiny(), whole, crashing))
	want := leftBy(t, whole)
	for _, name := range []string{"fresh", "resumed", "replaced"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			out := filepath.Join(dir, "run")
			states := crashStates(t, dir, out, name)
			stride := max(1, len(states)/most)
			refused := 0
			for at := 0; at < len(states); at += stride {
				unmount := files.Mount(dir, states[at].disk)
				if !comesBack(t, out, states[at].after, want) {
					refused++
				}
				unmount()
			}
			t.Logf("%d states, of which every %d. was resumed from; %d were refused by name", len(states),
				stride, refused)
			if len(states) < 100 {
				t.Errorf("%d states alone", len(states))
			}
		})
	}
}

// A crash is what is left on the disk when the machine stops after an operation.
type crash struct {
	after string
	disk  *testkit.Memory
}

// crashStates runs the command on a disk in memory, in one of the ways to begin, and returns all
// that crashes may leave, in the order of operations.
func crashStates(t *testing.T, dir, out, name string) (all []crash) {
	t.Helper()
	m := testkit.NewMemory()
	testkit.OK(m.MkdirAll(dir))
	for above := dir; above != filepath.Dir(above); above = filepath.Dir(above) {
		testkit.OK(m.SyncDir(filepath.Dir(above)))
	}
	defer files.Mount(dir, m)()
	args := crashing
	switch name {
	case "resumed":
		testkit.OK(runIn(t, newTiny(), out, crashing+"-keep-checkpoints"))
		testkit.OK(files.Remove(filepath.Join(out, runs.SummaryFile)))
		testkit.OK(runs.Folder(out).RemoveCheckpointsAfter(nil, 2))
		testkit.OK(files.SyncDir(out))
		args = "-resume"
	case "replaced":
		testkit.OK(runIn(t, newTiny(), out, crashing+"-seed=2 -K=2"))
		args += "-force"
	}
	seen := map[string]bool{}
	m.Changed = func(operation string) {
		for s := range m.States() {
			if d := s.Digest(); !seen[d] {
				seen[d] = true
				all = append(all, crash{operation, s})
			}
		}
	}
	testkit.OK(runIn(t, newTiny(), out, args))
	return all
}

// comesBack resumes the run in a folder, and where that is refused begins it anew. It reports
// whether it was resumed, or had finished.
func comesBack(t *testing.T, out, after string, want left) bool {
	t.Helper()
	folder := runs.Folder(out)
	if state, err := folder.State(); err == nil && state == runs.Finished {
		if c := testkit.Get(folder.ReadConfig()); c.Seed == 1 { // else the earlier run is unchanged
			testkit.OK(folder.Verify())
			want.check(t, out, after+", finished")
		}
		return true
	}
	there, _ := folder.ReadConfig()
	err := runIn(t, newTiny(), out, "-resume")
	if err == nil && there.Seed == 1 {
		want.check(t, out, after+", resumed")
	}
	if err == nil {
		return true
	}
	if named := errors.Is(err, dsbo.ErrConfig) || strings.Contains(err.Error(), out); !named ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("after %s: %v, want one line that names what is wrong", after, err)
	}
	testkit.OK(runIn(t, newTiny(), out, crashing+"-force"))
	want.check(t, out, after+", begun anew")
	return false
}

// left is what a run leaves but times.
type left struct {
	lambda, omega []byte
	records       []runs.Record
}

func leftBy(t *testing.T, out string) left {
	t.Helper()
	f := runs.Folder(out)
	l := left{testkit.Get(f.ReadFile(runs.LambdaFile)), testkit.Get(f.ReadFile(runs.OmegaFile)),
		testkit.Get(f.Records())}
	for i, r := range l.records {
		l.records[i] = r.Timeless()
	}
	return l
}

// check compares what the run in a folder has left.
func (l left) check(t *testing.T, out, after string) {
	t.Helper()
	got := leftBy(t, out)
	if !bytes.Equal(got.lambda, l.lambda) || !bytes.Equal(got.omega, l.omega) {
		t.Errorf("after %s: other bits", after)
	}
	if d := testkit.Get(runs.Diff(map[string]any{"r": l.records}, map[string]any{"r": got.records})); len(d) > 0 {
		t.Errorf("after %s: records differ: %v", after, d)
	}
}
