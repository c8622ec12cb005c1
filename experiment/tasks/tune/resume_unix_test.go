//go:build unix

package tune_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"dsbo"
	"dsbo/experiment"
	"dsbo/experiment/experimenttest"
	"dsbo/experiment/tasks/tune"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

func init() {
	experimenttest.Struck("tune", func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
		return experiment.Run(ctx, tune.Task(), args, stdout, stderr)
	})
}

// TestStructuresAreResumed: a run of one process that is killed after its structures of penalties
// goes on with those that its folder has, with the bits of a run that was not. One of other data or
// with other settings, or whose file is not what it was, is refused by name.
func TestStructuresAreResumed(t *testing.T) {
	folder := t.TempDir()
	data, whole, killed := "-data="+writeSites(t, folder, 3), filepath.Join(folder, "whole"),
		filepath.Join(folder, "killed")
	flags := []string{data, "-target=ill", "-drop=cost,visits", "-folds=2", "-penalty=feature", "-K=2",
		"-checkpoint-every=1", "-report=false", "-alone=false", "-rivals=false"}
	const search = "structures of penalties, at whose"
	tune := func(out string, more ...string) (string, error) {
		var log strings.Builder
		err := experiment.Run(t.Context(), tune.Task(), append(more, "-out="+out), io.Discard, &log)
		return log.String(), err
	}
	if log, err := tune(whole, flags...); err != nil || !strings.Contains(log, search) {
		t.Fatalf("error %v; the run must say %q:\n%s", err, search, log)
	}
	c := exec.CommandContext(t.Context(), testkit.Get(os.Executable()),
		append(slices.Clone(flags), "-out="+killed)...)
	c.Env = append(os.Environ(), experimenttest.Strike(syscall.SIGKILL, "iteration 1 "))
	out, _ := c.CombinedOutput()
	f := runs.Folder(killed)
	if state, err := f.State(); err != nil || state != runs.Unfinished {
		t.Fatalf("the run is %q, %v:\n%s", state, err, out)
	}

	setup := testkit.Get(f.ReadSetup())
	other := setup
	other.Found = slices.Clone(setup.Found)
	other.Found[0] = runs.Found{Texts: []string{"another"}}
	for name, spoil := range map[string]func() []string{
		"other data": func() []string {
			other := setup
			other.Of = "another"
			testkit.OK(f.WriteSetup(other))
			return nil
		},
		"other sums": func() []string { testkit.OK(f.WriteSetup(other)); return nil },
		"no structures": func() []string {
			other := setup
			other.Found = setup.Found[:len(setup.Found)-1]
			testkit.OK(f.WriteSetup(other))
			return nil
		},
		"other settings": func() []string { return []string{"-seed=2"} },
	} {
		_, err := tune(killed, append(spoil(), "-resume")...)
		testkit.OK(f.WriteSetup(setup))
		if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), runs.SetupFile) {
			t.Errorf("%s: error %v; it must name %s", name, err, runs.SetupFile)
		}
	}

	log, err := tune(killed, "-resume")
	if err != nil || strings.Contains(log, search) || !strings.Contains(log, "λ starts at ") {
		t.Fatalf("error %v; the resumed run must go on from the structures:\n%s", err, log)
	}
	experimenttest.SameRun(t, killed, whole)
	starts := func(note string) bool { return strings.HasPrefix(note, "λ starts at ") }
	if notes := testkit.Get(f.ReadSummary()).Verdict.Notes; !slices.ContainsFunc(notes, starts) {
		t.Errorf("the notes of the resumed run must have where λ starts: %q", notes)
	}
	got, want := testkit.Get(f.ReadSummary()).Traffic, testkit.Get(runs.Folder(whole).ReadSummary()).Traffic
	if got.Setup != want.Setup || got.Setup.Bytes == 0 {
		t.Errorf("%+v was sent to find structures, without a kill %+v", got.Setup, want.Setup)
	}
}
