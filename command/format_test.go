package command

import (
	"os"
	"path/filepath"
	"testing"

	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// TestFormats: a folder of an early version, without a number, is shown, and not gone on with; one
// of a later version is neither.
func TestFormats(t *testing.T) {
	for name, c := range map[string]struct {
		change func(out string)
		verb   []string
		code   int
		says   string
	}{
		"report": {func(string) {}, []string{"report", "-only=phi_iterations", "-figures=" + t.TempDir()}, cli.OK, ""},
		"resume": {func(string) {}, []string{"synthetic", "-resume", "-out"}, cli.Usage,
			"was begun by an earlier version of the program (format 0, here 1): that version can resume it, -force " +
				"begins it anew"},
		"report of a later one": {func(out string) {
			edit(t, filepath.Join(out, runs.ConfigFile), `"task"`, `"format": 1000, "task"`)
		}, []string{"report"}, cli.Usage, "has format 1000, that of a newer version of the program"},
		"resume a later one": {func(out string) {
			edit(t, filepath.Join(out, runs.ConfigFile), `"task"`, `"format": 1000, "task"`)
		}, []string{"synthetic", "-resume", "-out"}, cli.Usage,
			"has format 1000, that of a newer version of the program"},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "run")
			testkit.OK(os.CopyFS(out, os.DirFS("testdata/unnumbered")))
			if c.verb[0] != "report" {
				testkit.OK(os.Remove(filepath.Join(out, runs.SummaryFile))) // as of a run that was killed
			}
			c.change(out)
			_, err := command(t, append(c.verb, out)...)
			if c.code == cli.OK {
				testkit.OK(err)
				return
			}
			wantError(t, err, c.code, c.says)
		})
	}
}
