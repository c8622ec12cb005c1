// What follows builds and runs the modules in examples, which are outside of dsbo as a user's are.
package dsbo_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsbo/internal/testkit"
)

// outputOf runs a program in a folder and returns what it wrote to stdout. The go command takes
// modules from the proxy of the environment, as a user's does: its cache need not have them.
func outputOf(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c := exec.CommandContext(t.Context(), name, args...)
	c.Dir, c.Stdout, c.Stderr = dir, &stdout, &stderr
	c.Env = append(os.Environ(), "GOWORK=off")
	if err := c.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, stdout.String(), stderr.String())
	}
	return stdout.String()
}

// small are flags of a run that takes a moment; it has some evaluations and checkpoints.
func small() []string { return []string{"-preset=oneloop", "-K=300", "-eval-every=100"} }

// TestWine: a module with its own model, data and method has all that the engine's own tasks have.
// It finds the same bits in one process, in a run that was interrupted, and over gRPC with
// certificates and data that no other agent has.
func TestWine(t *testing.T) {
	testkit.Longest(t, "builds a program of another module")
	source := testkit.Get(filepath.Abs("examples/wine"))
	dir := t.TempDir()
	wine, certs := filepath.Join(dir, "wine"), filepath.Join(dir, "certs")
	// Linked once, for its tests and for runs, without what debuggers want, a third of the work.
	outputOf(t, source, "go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-o", wine, ".")
	outputOf(t, source, wine)
	t.Setenv("WINE", "command") // of which it is, see its TestMain
	local := append([]string{"-agents=3", "-seed=1", "-data=" + filepath.Join(source, "data")}, small()...)

	table := outputOf(t, dir, wine, append(local, "-out=one")...)
	for _, want := range []string{"λ = 0", "best constant", "λ tuned", "300 of oneloop", "report.html"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in the table:\n%s", want, table)
		}
	}

	// What it logs is more than a pipe holds, so that it cannot be over before it is interrupted.
	long := append(slices.Clone(local), "-K=1100", "-eval-every=1", "-evaluate=off", "-report=false")
	outputOf(t, dir, wine, append(long, "-out=whole", "-quiet")...)
	interrupt(t, dir, wine, append(long, "-out=parts")...)
	outputOf(t, dir, wine, "-resume", "-out=parts", "-quiet", "-report=false")
	same(t, filepath.Join(dir, "whole"), filepath.Join(dir, "parts"))

	cluster := filepath.Join(dir, "cluster.json")
	writeCluster(t, cluster)
	outputOf(t, dir, wine, "pki", "-cluster", cluster, "-out", certs)
	overMachines(t, dir, source, wine, cluster, certs)
	parts := []string{"collect", "-report=false", "-out", "three"}
	for i := range 3 {
		parts = append(parts, filepath.Join(machine(dir, i), "out", fmt.Sprintf("agent-%d", i)))
	}
	outputOf(t, dir, wine, parts...)
	same(t, filepath.Join(dir, "one"), filepath.Join(dir, "three"))
	text := outputOf(t, dir, wine, "report", "-out", "page", "one", "three")
	if !strings.Contains(text, "report.html") {
		t.Errorf("the verb report says %q", text)
	}
	ledger := filepath.Join(source, "data", "agent-2.ledger")
	predictions := outputOf(t, dir, wine, "predict", "-model", "one", "-data", ledger)
	other := filepath.Join(machine(dir, 1), "out", "agent-1")
	elsewhere := outputOf(t, dir, wine, "predict", "-model", other, "-data", ledger)
	if strings.Count(predictions, "\n") != 25 || elsewhere != predictions {
		t.Errorf("predictions %q, and by the model of another machine %q", predictions, elsewhere)
	}
}

// interrupt stops a run by a signal in its iterations.
func interrupt(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Dir = dir
	stderr := testkit.Get(c.StderrPipe())
	testkit.OK(c.Start())
	lines := bufio.NewReader(stderr)
	for line := ""; !strings.HasPrefix(line, "iteration 10 "); {
		line = testkit.Get(lines.ReadString('\n'))
	}
	testkit.OK(c.Process.Signal(os.Interrupt))
	testkit.Get(io.Copy(io.Discard, lines))
	exit := (*exec.ExitError)(nil)
	if err := c.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 130 {
		t.Fatalf("%v, want exit code 130", err)
	}
}

// writeCluster writes the cluster file of three agents on this machine.
func writeCluster(t *testing.T, path string) {
	t.Helper()
	var addresses []string
	for range 3 {
		l := testkit.Get(net.Listen("tcp", "127.0.0.1:0"))
		defer l.Close() // at the end, so that all ports differ
		addresses = append(addresses, l.Addr().String())
	}
	data := testkit.Get(json.Marshal(map[string]any{
		"run": "wine", "agents": addresses, "task": "wine", "seed": 1, "flags": small(),
	}))
	testkit.OK(os.WriteFile(path, data, 0o644))
}

// machine returns the folder in place of agent i's machine.
func machine(dir string, i int) string { return filepath.Join(dir, fmt.Sprintf("machine-%d", i)) }

// overMachines runs each agent in a folder that holds the data of its own cellar alone.
func overMachines(t *testing.T, dir, source, wine, cluster, certs string) {
	t.Helper()
	done := make(chan error, 3)
	for i, file := range []string{"agent-0.csv", "agent-1.csv", "agent-2.ledger"} {
		name := filepath.Join("data", file)
		data := testkit.Get(os.ReadFile(filepath.Join(source, name)))
		testkit.OK(os.MkdirAll(filepath.Join(machine(dir, i), "data"), 0o755))
		testkit.OK(os.WriteFile(filepath.Join(machine(dir, i), name), data, 0o644))
		go func() {
			c := exec.CommandContext(t.Context(), wine, "agent", "-cluster", cluster, "-agent", fmt.Sprint(i),
				"-out", "out", "-certs", certs, "-quiet")
			c.Dir = machine(dir, i)
			text, err := c.CombinedOutput()
			if err != nil {
				err = fmt.Errorf("agent %d: %w\n%s", i, err, text)
			}
			done <- err
		}()
	}
	for range 3 {
		testkit.OK(<-done)
	}
}

// same checks that two runs found the same hyperparameters and the same model, to the byte.
func same(t *testing.T, a, b string) {
	t.Helper()
	for _, name := range []string{"lambda.npy", "omega.npy"} {
		one := testkit.Get(os.ReadFile(filepath.Join(a, name)))
		two := testkit.Get(os.ReadFile(filepath.Join(b, name)))
		if !bytes.Equal(one, two) {
			t.Errorf("%s differs between %s and %s", name, a, b)
		}
	}
}

// TestWineIsSmall: a model, data and their files, predictions, a table format and a method take at
// most 60 lines each, and the program 20.
func TestWineIsSmall(t *testing.T) {
	for name, most := range map[string]int{
		"main.go": 20, "model.go": 60, "data.go": 60, "files.go": 60, "predict.go": 60, "ledger.go": 60,
		"method.go": 60,
	} {
		text := testkit.Get(os.ReadFile(filepath.Join("examples/wine", name)))
		if n := bytes.Count(text, []byte("\n")); n > most {
			t.Errorf("%s has %d lines, want at most %d", name, n, most)
		}
	}
}

// TestDigits: a program that trains a network without a bilevel problem goes on from what it has
// saved, and has at most 30 lines behind its imports.
func TestDigits(t *testing.T) {
	text := testkit.Get(os.ReadFile("examples/digits/main.go"))
	_, code, _ := bytes.Cut(text, []byte("\n)\n\n"))
	if n := bytes.Count(code, []byte("\n")); n > 30 {
		t.Errorf("its code has %d lines, want at most 30", n)
	}
	testkit.Longest(t, "builds a program of another module")
	dir := t.TempDir()
	testkit.OK(testkit.WriteMNIST(dir, 150, 40))
	t.Setenv("DSBO_DATA", dir)
	program := filepath.Join(dir, "digits")
	outputOf(t, "examples/digits", "go", "build", "-ldflags=-s -w", "-o", program, ".")
	first, second := outputOf(t, dir, program), outputOf(t, dir, program)
	var loss, later float64
	testkit.Get(fmt.Sscanf(first, "epoch 1: loss %f", &loss))
	testkit.Get(fmt.Sscanf(second, "epoch 1: loss %f", &later))
	if !(later < loss) || !strings.Contains(second, "epoch 5: ") {
		t.Errorf("the second run must go on from the first:\n%s%s", first, second)
	}
}

// TestSquares: a program with a model of its own has it behind -model, with what MNIST's task makes
// of a run.
func TestSquares(t *testing.T) {
	testkit.Longest(t, "builds a program of another module")
	dir := t.TempDir()
	testkit.OK(testkit.WriteMNIST(dir, 150, 40))
	t.Setenv("DSBO_DATA", dir)
	program := filepath.Join(dir, "squares")
	outputOf(t, "examples/squares", "go", "build", "-ldflags=-s -w", "-o", program, ".")
	table := outputOf(t, dir, program, "-model=squares", "-agents=2", "-train=30", "-val=30", "-K=3", "-rivals=false",
		"-report=false", "-out=run")
	for _, want := range []string{"squares with 7840 weights and 784 penalties", "3 of newtoncg"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in the table:\n%s", want, table)
		}
	}
}

// TestTidy: a module outside may come to import more and more packages of the engine, and go mod
// tidy finds all modules that they need: none is ambiguous.
func TestTidy(t *testing.T) {
	testkit.Longest(t, "runs the go command a dozen times")
	root := testkit.Get(filepath.Abs("."))
	for _, order := range [][]string{
		{
			"algo", "ad models data train network", "network/session network/mpi",
			"runs runs/report network/pki experiment/site experiment experiment/tasks command",
		},
		{"network/session", "models", "train"},
	} {
		dir := t.TempDir()
		write := func(name, text string) {
			testkit.OK(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
		}
		write("go.mod", "module outside\n\ngo 1.26.0\n\nrequire dsbo v0.0.0\n\nreplace dsbo => "+root+"\n")
		source := "package outside\n"
		for _, packages := range order {
			for p := range strings.FieldsSeq(packages) {
				source += fmt.Sprintf("\nimport _ %q\n", "dsbo/"+p)
			}
			write("outside.go", source)
			outputOf(t, dir, "go", "mod", "tidy")
		}
		outputOf(t, dir, "go", "list", "-deps", ".")
	}
}
