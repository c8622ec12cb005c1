package command

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/runs"
)

// standIn is a module in MLflow's place, which takes what MLflow takes: at most 100 parameters,
// names of letters, digits and /_.- :, finite values, and whole numbers as steps.
const standIn = `
import contextlib, math, os, re

logged = {}

def named(name):
    assert re.fullmatch(r"[\w/.\- :]{1,250}", name), name

@contextlib.contextmanager
def start_run(run_name):
    named(run_name)
    yield
    print(*sorted(logged.items()), sep="\n")

def log_params(params):
    assert 0 < len(params) <= 100, len(params)
    [named(name) for name in params]
    print("seed", params["seed"])

def log_metric(key, value, step):
    named(key)
    assert math.isfinite(float(value)) and type(step) is int, (key, value, step)
    logged[key] = f"{float(value):.9g}", step

def log_artifacts(local_dir):
    assert os.path.isfile(local_dir + "/summary.json")
`

// TestMLflow runs the lines of docs/result.md that log a run by MLflow's API, with a stand-in for
// it: the last record's numbers are logged with its iteration as the step.
func TestMLflow(t *testing.T) {
	t.Parallel()
	pythons := []string{os.Getenv("PYTHON"), "python3", "/usr/bin/python3"}
	found := slices.IndexFunc(pythons, func(name string) bool {
		return exec.Command(name, "-c", "import importlib.util\nassert importlib.util.find_spec('numpy')").Run() == nil
	})
	if found < 0 {
		t.Skip("needs Python with NumPy")
	}
	dir := t.TempDir()
	testkit.OK(os.WriteFile(filepath.Join(dir, "mlflow.py"), []byte(standIn), 0o644))
	model := filepath.Join(dir, "model")
	runCommand(t, synthetic("-agents=2 -seed=7 -out="+model)...)
	lines := testkit.BlockTests("..")
	i := slices.IndexFunc(lines, func(l testkit.BlockTest) bool { return l.How == "test command.TestMLflow" })
	c := exec.Command(pythons[found], "-c", blockOf(t, lines[i]).Text)
	c.Dir = dir
	c.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1",
		"PYTHONPATH="+dir+":"+testkit.Get(filepath.Abs("../examples/python")))
	printed, err := c.CombinedOutput()
	records := testkit.Get(runs.Folder(model).Records())
	last := records[len(records)-1]
	for _, want := range []string{"seed 7\n",
		fmt.Sprintf("('test_loss', ('%.9g', %d))", float64(last.TestLoss), last.Iteration)} {
		if err != nil || !strings.Contains(string(printed), want) {
			t.Errorf("%v: no %q in\n%s", err, want, printed)
		}
	}
}
