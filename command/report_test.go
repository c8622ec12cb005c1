package command

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/runs"
	"dsbo/runs/report"
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

// TestReportRefuses: a page is of folders that differ, and figures go to a folder instead.
func TestReportRefuses(t *testing.T) {
	dir := reportedRun(t, "mnist", twoRecords)
	for want, args := range map[string][]string{
		"run folders must differ; " + dir + "/. is there twice": {dir, dir + "/."},
		"-out and -figures are mutually exclusive":              {"-out=a.html", "-figures=" + dir, dir},
		"-figures must be an existing folder; it is none":       {"-figures=none", dir},
	} {
		_, err := command(t, append([]string{"report"}, args...)...)
		wantError(t, err, cli.Usage, want)
	}
}

// TestReportOfOtherFolders: of a folder that holds run folders, as the verbs compare and run leave
// it, the error names one of them, and the page of a comparison.
func TestReportOfOtherFolders(t *testing.T) {
	dir := t.TempDir()
	compared, agents := filepath.Join(dir, "a [comparison]"), filepath.Join(dir, "agents")
	one, agent := filepath.Join(compared, "runs", "one"), filepath.Join(agents, "agent-0")
	for _, folder := range []string{one, agent} {
		testkit.OK(os.MkdirAll(folder, 0o755))
		testkit.OK(os.WriteFile(filepath.Join(folder, runs.MetricsFile), nil, 0o644))
	}
	page := filepath.Join(compared, report.ComparisonPage)
	testkit.OK(os.WriteFile(page, nil, 0o644))
	for folder, want := range map[string]string{
		compared: "holds 1 run: their folders must be named, such as " + one + "; the page of the comparison is " +
			page,
		agents:    "such as " + agent,
		dir:       "such as " + agent,
		one + "x": "no such file",
	} {
		_, err := command(t, "report", folder)
		wantError(t, err, cli.Usage, want)
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
