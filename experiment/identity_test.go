package experiment

import (
	"errors"
	"flag"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"dsbo"
	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/runs"
)

// newIdle returns a task with flags that its problem's settings do not tell.
func newIdle() Task {
	t := newTiny()
	flags := t.Flags
	t.Flags = func(f *flag.FlagSet) {
		flags(f)
		f.Bool("refit", false, "do more at the end")
		f.String("notes", "", "`folder` of no interest")
	}
	t.Describe = func(data.Task, models.Model) (map[string]any, string) { return map[string]any{}, "" }
	return t
}

// TestIdentity: a run does not go on with another value of any flag of its task, but with files
// that are elsewhere.
func TestIdentity(t *testing.T) {
	out := filepath.Join(t.TempDir(), "run")
	testkit.OK(Run(t.Context(), newIdle(), strings.Fields(crashing+out+" -notes=here"), io.Discard, io.Discard))
	resume := func(flags ...string) error {
		testkit.OK(runs.Folder(out).WriteSummary(runs.Summary{State: runs.Interrupted}))
		return Run(t.Context(), newIdle(),
			append([]string{"-resume", "-report=false", "-quiet", "-out=" + out}, flags...), io.Discard, io.Discard)
	}
	if err := resume("-refit"); !errors.Is(err, dsbo.ErrConfig) ||
		!strings.Contains(err.Error(), "refit is false there, true here") {
		t.Errorf("%v, want that -refit is refused", err)
	}
	testkit.OK(resume("-notes=there"))
}

// TestOlderDefaults: a run goes on with the values of flags that it began with, also where a later
// program has other defaults: of a flag of its task, and of K.
func TestOlderDefaults(t *testing.T) {
	out := filepath.Join(t.TempDir(), "run")
	older := newIdle()
	older.Presets[0].K = 4
	args := strings.Fields(strings.Replace(crashing, "-K=4 ", "", 1) + out)
	testkit.OK(Run(t.Context(), older, args, io.Discard, io.Discard))
	newer := newIdle()
	newer.Presets[0].K = 8
	flags := newer.Flags
	newer.Flags = func(f *flag.FlagSet) {
		flags(f)
		f.Lookup("refit").DefValue = "true"
		testkit.OK(f.Lookup("refit").Value.Set("true"))
	}
	resume := func(flags ...string) error {
		testkit.OK(runs.Folder(out).WriteSummary(runs.Summary{State: runs.Interrupted}))
		return Run(t.Context(), newer, append(flags, "-resume", "-report=false", "-quiet", "-out="+out), io.Discard,
			io.Discard)
	}
	testkit.OK(resume())
	if got := testkit.Get(runs.Folder(out).ReadSummary()).Iterations; got != 4 {
		t.Errorf("%d iterations, want 4 as at the beginning", got)
	}
	if err := resume("-K=8"); err == nil || !strings.Contains(err.Error(), "-K is 4 there, 8 here") {
		t.Errorf("%v, want that another -K is refused", err)
	}
}
