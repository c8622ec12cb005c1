package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// TestSpecialFiles: a run folder that somebody sent, in which a file is a FIFO, a device or longer
// than any is, neither hangs a verb nor fills memory: it is refused by name with exit code 2.
func TestSpecialFiles(t *testing.T) {
	dir := t.TempDir()
	run := filepath.Join(dir, "run")
	var rows strings.Builder
	rows.WriteString("a,t\n")
	for i := range 60 {
		fmt.Fprintf(&rows, "%d,%s\n", i%7, []string{"no", "yes"}[i%3/2])
	}
	testkit.OK(os.WriteFile(filepath.Join(dir, "site.csv"), []byte(rows.String()), 0o666))
	tune := []string{"tune", "-data", filepath.Join(dir, "site.csv"), "-target", "t", "-agents", "2", "-K", "1",
		"-model", "linear", "-quiet", "-report=false"}
	testkit.Get(command(t, append(tune, "-out", run)...))
	predict := []string{"predict", "-data", dir + "/site.csv", "-model"}
	from := append(tune, "-out", dir+"/next", "-from")
	for name, verbs := range map[string][][]string{
		runs.ConfigFile:  {{"report"}, {"collect", "-out", dir + "/all"}, append(tune, "-resume", "-out")},
		runs.MetricsFile: {{"report"}, {"collect", "-out", dir + "/all"}},
		runs.LambdaFile:  {{"report"}},
		runs.ModelFile:   {{"report"}, from, predict},
		runs.WeightsFile: {predict},
		runs.SumsFile:    {{"report"}, from, predict},
	} {
		for what, c := range map[string]struct {
			put  func(path string) error
			says string
		}{
			"FIFO": {func(path string) error { return syscall.Mkfifo(path, 0o666) },
				"must be a regular file; its mode is p"},
			"device": {func(path string) error { return os.Symlink("/dev/zero", path) },
				"must be a regular file; its mode is D"},
			"long": {func(path string) error {
				testkit.OK(os.WriteFile(path, nil, 0o666))
				return os.Truncate(path, 5<<30) // which takes no space
			}, "bytes; it has 5368709120"},
		} {
			out := filepath.Join(t.TempDir(), "sent")
			testkit.OK(os.CopyFS(out, os.DirFS(run)))
			path := filepath.Join(out, name)
			testkit.OK(os.Remove(path))
			testkit.OK(c.put(path))
			for _, verb := range verbs {
				t.Run(verb[0]+" "+name+" "+what, func(t *testing.T) {
					_, err := command(t, append(verb[:len(verb):len(verb)], out)...)
					wantError(t, err, cli.Usage, c.says)
					wantError(t, err, cli.Usage, path)
				})
			}
		}
		if name == runs.SumsFile {
			out := filepath.Join(t.TempDir(), "emptied")
			testkit.OK(os.CopyFS(out, os.DirFS(run)))
			testkit.OK(os.WriteFile(filepath.Join(out, name), nil, 0o666))
			for _, verb := range verbs {
				_, err := command(t, append(verb[:len(verb):len(verb)], out)...)
				wantError(t, err, cli.Usage, "must list the files of the run")
			}
		}
	}
}
