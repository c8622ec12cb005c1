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
