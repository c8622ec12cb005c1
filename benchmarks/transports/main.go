// Command transports runs the same MNIST task in one process, in a process for each agent over gRPC with certificates, and as
// MPI jobs, compares what they find bit by bit, and says what each took. Then it runs many agents.
//
//	go run ./benchmarks/transports
//
// It builds the commands that it runs. Without a C compiler, MPI or mpirun the MPI part is left out.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"dsbo"
	"dsbo/internal/cli"
)

func main() { os.Exit(cli.Main("transports", command)) }

// A bench is where everything is built and run.
type bench struct {
	dir    string // of this measurement
	k      int    // iterations
	port   int    // of agent 0
	mpirun string
	stderr io.Writer
}

func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	b := &bench{stderr: stderr}
	f := cli.NewFlags("transports", "transports runs the same task over every transport, and then many agents.", "")
	f.IntVar(&b.k, "K", 20, "outer `iterations`")
	f.IntVar(&b.port, "port", 7700, "first of the `ports` on this machine that agents take")
	f.StringVar(&b.mpirun, "mpirun", "mpirun", "Open MPI's `launcher`")
	f.Group("Measurement", "K", "port", "mpirun")
	if err := f.Parse(args, stdout); err != nil {
		return err
	}
	if b.k < 1 || b.port < 1 || b.port > 65000 {
		return dsbo.Errorf(dsbo.ErrConfig, "-K must be at least 1 and -port from 1 to 65000; they are %d and %d", b.k, b.port)
	}
	dir, err := os.MkdirTemp("", "transports")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b.dir = dir
	for _, name := range []string{"mnist", "dsbo"} {
		if err := b.run(ctx, "go", "build", "-o", filepath.Join(dir, name), "dsbo/cmd/"+name); err != nil {
			return err
		}
	}
	if err := b.compareTransports(ctx, stdout); err != nil {
		return err
	}
	return b.manyAgents(ctx, stdout)
}

// run runs a program to its end; what it says goes where it can be seen if it fails.
func (b *bench) run(ctx context.Context, name string, args ...string) error {
	fmt.Fprintf(b.stderr, "%s %s\n", filepath.Base(name), strings.Join(args, " "))
	c := exec.CommandContext(ctx, name, args...)
	out, err := c.CombinedOutput()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(name), err, lastLine(out))
	}
	return nil
}

func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}

// task returns the flags of the task that all transports run.
func (b *bench) task() []string {
	return []string{fmt.Sprintf("-K=%d", b.k), "-eval-every=10", "-refit=200"}
}

// A transport is one way to connect the agents.
type transport struct {
	name      string
	processes int
	run       func(ctx context.Context, out string) error
	folders   func(out string) []string // of the run
}

func singleFolder(out string) []string { return []string{out} }

// compareTransports runs the task over each transport and compares what they find with the first.
func (b *bench) compareTransports(ctx context.Context, stdout io.Writer) error {
	rows := [][]string{{"8 agents, MNIST", "processes", "ms/iteration", "peak MiB, largest process", "x̄, model and records"}}
	var want string
	var wrong error
	for i, w := range b.transports(ctx) {
		out := filepath.Join(b.dir, fmt.Sprintf("same%d", i))
		if err := w.run(ctx, out); err != nil {
			return err
		}
		verdict := "the same bits"
		for _, folder := range w.folders(out) {
			found, err := digest(folder)
			if err != nil {
				return err
			}
			if want == "" {
				want = found
			}
			if found != want {
				verdict = "DIFFERENT"
				wrong = errors.Join(wrong, fmt.Errorf("%s: %s differs from the run in one process", w.name, folder))
			}
		}
		s, err := read(w.folders(out))
		if err != nil {
			return err
		}
		rows = append(rows, []string{w.name, fmt.Sprint(w.processes), fmt.Sprintf("%.0f", s.ms), fmt.Sprintf("%.0f", s.mib), verdict})
	}
	if err := cli.Table(stdout, rows); err != nil {
		return err
	}
	return wrong
}

func (b *bench) transports(ctx context.Context) []transport {
	all := []transport{
		{"in process", 1, func(ctx context.Context, out string) error {
			return b.run(ctx, b.command("mnist"), append(b.task(), "-quiet", "-report=false", "-out="+out)...)
		}, singleFolder},
		{"gRPC, mutual TLS", 8, func(ctx context.Context, out string) error { return b.cluster(ctx, out, 8, b.task()) }, agentFolders},
	}
	if err := b.buildMPI(ctx); err != nil {
		fmt.Fprintf(b.stderr, "MPI is left out: %v\n", err)
		return all
	}
	for _, ranks := range []int{8, 2} {
		all = append(all, transport{"MPI", ranks, func(ctx context.Context, out string) error {
			launch := []string{"--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", fmt.Sprint(ranks), b.command("mnist-mpi"), "-transport=mpi"}
			return b.run(ctx, b.mpirun, append(launch, append(b.task(), "-quiet", "-report=false", "-out="+out)...)...)
		}, singleFolder})
	}
	return all
}

func (b *bench) command(name string) string { return filepath.Join(b.dir, name) }

func (b *bench) buildMPI(ctx context.Context) error {
	if _, err := exec.LookPath(b.mpirun); err != nil {
		return err
	}
	return b.run(ctx, "go", "build", "-tags=mpi", "-o", b.command("mnist-mpi"), "dsbo/cmd/mnist")
}

// cluster runs a task on as many processes as agents, with the certificates that dsbo run makes.
func (b *bench) cluster(ctx context.Context, out string, agents int, flags []string) error {
	file := out + ".json"
	quoted := make([]string, len(flags))
	for i, f := range flags {
		quoted[i] = fmt.Sprintf("%q", f)
	}
	text := fmt.Sprintf(`{"run": "transports", "agents": %d, "address": "127.0.0.1:{%d+agent}", "graph": "ring", "w": 0.5, "seed": 1, "task": "mnist", "flags": [%s]}`,
		agents, b.port, strings.Join(quoted, ", "))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	return b.run(ctx, b.command("dsbo"), "run", "-cluster="+file, "-out="+out)
}

// manyAgents runs 64 agents in one process, and 16 in a process each.
func (b *bench) manyAgents(ctx context.Context, stdout io.Writer) error {
	small := []string{"-K=3", "-eval-every=3", "-train=200", "-val=200", "-batch=100", "-refit=20"}
	rows := [][]string{{"many agents, MNIST", "processes", "ms/iteration", "peak MiB, largest process", "MiB an agent"}}
	for _, m := range []struct {
		name      string
		processes int
		agents    int
		run       func(out string) error
		folders   func(out string) []string
	}{
		{"64 in one process", 1, 64, func(out string) error {
			return b.run(ctx, b.command("mnist"), append(small, "-agents=64", "-quiet", "-report=false", "-out="+out)...)
		}, singleFolder},
		{"16 over gRPC", 16, 16, func(out string) error { return b.cluster(ctx, out, 16, small) }, agentFolders},
	} {
		out := filepath.Join(b.dir, fmt.Sprintf("many%d", m.agents))
		if err := m.run(out); err != nil {
			return err
		}
		s, err := read(m.folders(out))
		if err != nil {
			return err
		}
		rows = append(rows, []string{m.name, fmt.Sprint(m.processes), fmt.Sprintf("%.0f", s.ms), fmt.Sprintf("%.0f", s.mib),
			fmt.Sprintf("%.1f", s.mib*float64(m.processes)/float64(m.agents))})
	}
	fmt.Fprintln(stdout)
	if err := cli.Table(stdout, rows); err != nil {
		return err
	}
	fmt.Fprintln(stdout, "\nPeak MiB: the most memory that the largest process had resident at any time, from loading the data to the last refit.")
	return nil
}
