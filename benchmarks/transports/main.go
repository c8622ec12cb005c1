// Command transports runs the same MNIST task in one process, in a process for each agent over gRPC with certificates, and as
// MPI jobs, compares what they find bit by bit, and says what each took: once with the default, whose agents exchange sums,
// which are masked over gRPC, and once with a method whose agents mix vectors. Then it runs many agents.
//
//	go run ./benchmarks/transports
//
// It builds the commands that it runs. Without a C compiler, MPI or mpirun the MPI part is left out.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"dsbo"
	"dsbo/benchmarks/internal/digest"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
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
	f.IntVar(&b.k, "K", 20, "outer `iterations` of each run that is compared")
	f.IntVar(&b.port, "port", 7700, "first of the `ports` on this machine that agents take")
	f.StringVar(&b.mpirun, "mpirun", "mpirun", "Open MPI's `launcher`")
	f.Group("Measurement", "K", "port", "mpirun")
	if err := f.Parse(args, stdout); err != nil {
		return err
	}
	if b.k < 1 || b.port < 1 || b.port > 65000 {
		return dsbo.Errorf(dsbo.ErrConfig, "-K must be at least 1 and -port from 1 to 65000; they are %d and %d", b.k, b.port)
	}
	return testkit.Try(func() {
		b.dir = testkit.Get(os.MkdirTemp("", "transports"))
		defer os.RemoveAll(b.dir)
		for _, name := range []string{"mnist", "dsbo"} {
			testkit.OK(b.run(ctx, "go", "build", "-o", b.program(name), "dsbo/cmd/"+name))
		}
		b.compareTransports(ctx, stdout)
		b.manyAgents(ctx, stdout)
	})
}

// run runs a program to its end. An error ends with the last line that the program said.
func (b *bench) run(ctx context.Context, name string, args ...string) error {
	fmt.Fprintf(b.stderr, "%s %s\n", filepath.Base(name), strings.Join(args, " "))
	return cli.RunProgram(ctx, exec.CommandContext(ctx, name, args...))
}

// A measurement is one run of a task in processes of its own.
type measurement struct {
	name              string
	agents, processes int
	flags             []string // of the task
	run               func(ctx context.Context, m measurement, out string) error
	folders           func(out string) []string // of the run
}

func (b *bench) inProcess(name string, agents int, flags []string) measurement {
	return measurement{name, agents, 1, flags, func(ctx context.Context, m measurement, out string) error {
		return b.run(ctx, b.program("mnist"), m.args(out)...)
	}, singleFolder}
}

func (b *bench) overGRPC(name string, agents int, flags []string) measurement {
	return measurement{name, agents, agents, flags, b.cluster, digest.AgentFolders}
}

func (b *bench) overMPI(ranks int, flags []string) measurement {
	return measurement{"MPI", 8, ranks, flags, func(ctx context.Context, m measurement, out string) error {
		launch := []string{"--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", fmt.Sprint(ranks), b.program("mnist-mpi"), "-transport=mpi"}
		return b.run(ctx, b.mpirun, append(launch, m.args(out)...)...)
	}, singleFolder}
}

// args are the arguments of the program mnist.
func (m measurement) args(out string) []string {
	return append(slices.Clone(m.flags), fmt.Sprintf("-agents=%d", m.agents), "-quiet", "-report=false", "-out="+out)
}

func singleFolder(out string) []string { return []string{out} }

func (b *bench) program(name string) string { return filepath.Join(b.dir, name) }

// cluster runs a task on as many processes as agents, with the certificates that dsbo run makes.
func (b *bench) cluster(ctx context.Context, m measurement, out string) error {
	file := out + ".json"
	text := fmt.Sprintf(`{"run": "transports", "agents": %d, "address": "127.0.0.1:{%d+agent}", "graph": "ring", "w": 0.5, "seed": 1, "task": "mnist", "flags": %s}`,
		m.agents, b.port, testkit.Get(json.Marshal(m.flags)))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	return b.run(ctx, b.program("dsbo"), "run", "-cluster="+file, "-out="+out)
}

// measure runs a measurement, and returns its folders and its row of a table up to the last cell.
func (b *bench) measure(ctx context.Context, out string, m measurement) (folders, row []string, f figures) {
	out = filepath.Join(b.dir, out)
	testkit.OK(m.run(ctx, m, out))
	folders = m.folders(out)
	f = read(folders)
	return folders, []string{m.name, fmt.Sprint(m.processes), fmt.Sprintf("%.0f", f.ms), fmt.Sprintf("%.0f", f.mib)}, f
}

// methods returns the flags of the runs that are compared over all transports: the default, and a method of mixed vectors.
func (b *bench) methods() [][]string {
	common := []string{fmt.Sprintf("-K=%d", b.k), "-eval-every=10", "-train=500", "-val=500"}
	return [][]string{
		append([]string{"-preset=tuned"}, common...),
		append([]string{"-preset=madsbo_tuned", "-T=5", "-N=5", "-batch=100"}, common...),
	}
}

// compareTransports runs the task over each transport, with each of the methods, and compares what they find with the first.
func (b *bench) compareTransports(ctx context.Context, stdout io.Writer) {
	withMPI := b.buildMPI(ctx)
	if withMPI != nil {
		fmt.Fprintf(b.stderr, "MPI is left out: %v\n", withMPI)
	}
	var wrong error
	for i, flags := range b.methods() {
		all := []measurement{b.inProcess("in process", 8, flags), b.overGRPC("gRPC, mutual TLS", 8, flags)}
		if withMPI == nil {
			all = append(all, b.overMPI(8, flags), b.overMPI(2, flags))
		}
		fmt.Fprintf(stdout, "mnist %s, 8 agents\n\n", strings.Join(flags, " "))
		wrong = errors.Join(wrong, b.compare(ctx, stdout, fmt.Sprintf("same%d-", i), all))
		fmt.Fprintln(stdout)
	}
	testkit.OK(wrong)
}

// compare makes measurements and prints their table. The error names those that found something else than the first.
func (b *bench) compare(ctx context.Context, stdout io.Writer, out string, all []measurement) (wrong error) {
	rows := [][]string{{"", "processes", "ms/iteration", "peak MiB, largest process", "x̄, model and records"}}
	var want string
	for i, m := range all {
		folders, row, _ := b.measure(ctx, fmt.Sprint(out, i), m)
		verdict := "the same bits"
		for _, folder := range folders {
			found := digest.Of(folder)
			want = cmp.Or(want, found)
			if found != want {
				verdict = "DIFFERENT"
				wrong = errors.Join(wrong, fmt.Errorf("%s: %s differs from the run in one process", m.name, folder))
			}
		}
		rows = append(rows, append(row, verdict))
	}
	testkit.OK(cli.Table(stdout, rows))
	return wrong
}

func (b *bench) buildMPI(ctx context.Context) error {
	if _, err := exec.LookPath(b.mpirun); err != nil {
		return err
	}
	return b.run(ctx, "go", "build", "-tags=mpi", "-o", b.program("mnist-mpi"), "dsbo/cmd/mnist")
}

// manyAgents runs 64 agents in one process, and 16 in a process each.
func (b *bench) manyAgents(ctx context.Context, stdout io.Writer) {
	small := []string{"-K=3", "-eval-every=3", "-train=200", "-val=200", "-holdout=0"}
	rows := [][]string{{"many agents, MNIST", "processes", "ms/iteration", "peak MiB, largest process", "MiB an agent"}}
	for _, m := range []measurement{b.inProcess("64 in one process", 64, small), b.overGRPC("16 over gRPC", 16, small)} {
		_, row, f := b.measure(ctx, fmt.Sprintf("many%d", m.agents), m)
		rows = append(rows, append(row, fmt.Sprintf("%.1f", f.mib*float64(m.processes)/float64(m.agents))))
	}
	testkit.OK(cli.Table(stdout, rows))
	fmt.Fprintln(stdout, "\nPeak MiB: the most memory that the largest process had resident at any time, from loading the data to the last model.")
}
