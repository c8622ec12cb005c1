package command

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsbo/internal/testkit"
)

// reportedRun makes a small run folder.
func reportedRun(t *testing.T, task, metrics string) string {
	t.Helper()
	dir := t.TempDir()
	config := fmt.Sprintf(`{"task": %q, "algorithm": "madsbo", "seed": 1, "build": {"go": "go1.26"}}`, task)
	testkit.OK(os.WriteFile(filepath.Join(dir, "config.json"), []byte(config), 0o644))
	if metrics != "" {
		testkit.OK(os.WriteFile(filepath.Join(dir, "metrics.jsonl"), []byte(metrics), 0o644))
	}
	return dir
}

const twoRecords = `{"iteration": 0, "phi": 3, "seconds": 0}
{"iteration": 10, "phi": 2, "seconds": 1.5}
`

func TestReport(t *testing.T) {
	dir := reportedRun(t, "mnist", twoRecords)
	stdout := runCommand(t, "report", "-title", "A title", dir)
	if page := testkit.Get(os.ReadFile(strings.TrimSpace(stdout))); !bytes.Contains(page,
		[]byte("<title>A title</title>")) {
		t.Error("the page lacks its title")
	}
	if _, err := os.Stat(filepath.Join(dir, "figures", "phi_iterations.svg")); err != nil {
		t.Error(err)
	}
}

func TestFiguresAlone(t *testing.T) {
	dir, to := reportedRun(t, "mnist", twoRecords), t.TempDir()
	stdout := runCommand(t, "report", "-figures", to, "-only", "phi_iterations,phi_seconds", "-prefix", "a-",
		"-title", "Task", dir)
	files := testkit.Get(filepath.Glob(filepath.Join(to, "*")))
	if len(files) != 2 || filepath.Base(files[0]) != "a-phi_iterations.svg" || stdout != "" {
		t.Errorf("%v, and on the standard output %q; want two figures", files, stdout)
	}
	if svg := testkit.Get(os.ReadFile(filepath.Join(to, "a-phi_iterations.svg"))); !bytes.Contains(svg,
		[]byte(">Task: Upper objective Φ</text>")) {
		t.Error("no title")
	}
	if _, err := os.Stat(filepath.Join(dir, "report.html")); err == nil {
		t.Error("a page was written")
	}
}

func TestBadReport(t *testing.T) {
	good := reportedRun(t, "mnist", twoRecords)
	file := filepath.Join(good, "config.json")
	several := reportedRun(t, "synthetic", "")
	testkit.OK(os.Mkdir(filepath.Join(several, "r1"), 0o755))
	testkit.OK(os.WriteFile(filepath.Join(several, "r1", "metrics.jsonl"), nil, 0o644))
	for _, tt := range []struct {
		name string
		args []string
		code int
		word string
	}{
		{"no run", nil, 2, "a run folder is required"},
		{"unknown flag", []string{"-colour", good}, 2, "-colour"},
		{"missing folder", []string{filepath.Join(good, "nowhere")}, 2, "nowhere"},
		{"a file", []string{file}, 2, "not a directory"},
		{"no metrics", []string{reportedRun(t, "mnist", "")}, 2, "has no metrics"},
		{"a folder of several runs", []string{several}, 2,
			"their folders must be named, such as " + filepath.Join(several, "r1")},
		{"an unknown flag after a folder", []string{good, "-quiet"}, 2, "unknown flag -quiet"},
		{"a flag after a folder", []string{good, "-only=phi_iterations"}, 2, "-only and -prefix need -figures"},
		{"no such figure", []string{"-figures", t.TempDir(), "-only", "phi_iterations,phi_minutes", good}, 2,
			`no figure "phi_minutes": it must be one of phi_iterations`},
		{"no figure named", []string{"-figures", t.TempDir(), "-only", "phi_iterations,", good}, 2, `no figure ""`},
		{"no such folder of figures", []string{"-figures", filepath.Join(good, "nowhere"), good}, 2, "-figures"},
		{"figures in a file", []string{"-figures", file, good}, 2, "-figures"},
		{"only without figures", []string{"-only", "phi_iterations", good}, 2, "-only"},
		{"page and figures", []string{"-out", t.TempDir(), "-figures", t.TempDir(), good}, 2, "-out"},
		{"figures of two tasks", []string{"-figures", t.TempDir(), good, reportedRun(t, "synthetic", twoRecords)},
			2, "synthetic"},
		{"two tasks", []string{good, reportedRun(t, "synthetic", twoRecords)}, 2, "synthetic"},
		{"out is a file", []string{"-out", file, good}, 2, "config.json"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stdout, err := command(t, append([]string{"report"}, tt.args...)...)
			wantError(t, err, tt.code, tt.word)
			if stdout != "" {
				t.Errorf("on the standard output: %s", stdout)
			}
		})
	}
}
