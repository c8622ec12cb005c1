// Command compare runs dsbo and the PyTorch + mpi4py program of the folder above in turn on the
// same tasks and prints times, memory and traffic side by side. README.md there says what
// is measured.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"dsbo"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
)

// options are the command line's.
type options struct {
	only           string
	rounds         int
	procs, ranks   int
	python, mpirun string
	peerArgs       string
	worker         string
}

func main() { os.Exit(cli.Main("compare", command)) }

// command runs a command line.
func command(ctx context.Context, args []string, stdout, _ io.Writer) error {
	var o options
	f := cli.NewFlags("compare",
		"compare runs dsbo and the peer's program in turn and prints their times, memory and traffic.", "")
	f.StringVar(&o.only, "only", "", "`parts` to run, with commas between: "+strings.Join(parts(), ", ")+
		" (default all)")
	f.IntVar(&o.rounds, "rounds", 3, "`number` of runs of each task on either side")
	f.StringVar(&o.worker, "worker", "",
		"one `part` to measure in this process, with the result as JSON; compare runs itself with this flag")
	f.Group("Measurement", "only", "rounds", "worker")
	f.IntVar(&o.procs, "procs", 2, "GOMAXPROCS of ours, a `number`")
	f.IntVar(&o.ranks, "ranks", 2, "`number` of ranks of the peer")
	f.StringVar(&o.python, "python", "/usr/bin/python3", "`program` that is a Python with torch and mpi4py")
	f.StringVar(&o.mpirun, "mpirun", "mpirun", "`program` that launches MPI jobs")
	f.StringVar(&o.peerArgs, "peer-args", "", "more `arguments` for the peer's program")
	f.Group("Programs", "procs", "ranks", "python", "mpirun", "peer-args")
	if err := f.Parse(args, stdout); err != nil {
		return err
	}
	if err := o.validate(); err != nil {
		return err
	}
	runtime.GOMAXPROCS(o.procs)
	err := testkit.Catch(func() {
		if o.worker != "" {
			testkit.OK(json.NewEncoder(stdout).Encode(measurePart(ctx, o.worker)))
		} else {
			compare(ctx, o, stdout)
		}
	})
	if err != nil && ctx.Err() != nil { // a child that was ended says something else
		return ctx.Err()
	}
	return err
}

func (o options) validate() error {
	switch {
	case o.rounds < 1 || o.procs < 1 || o.ranks < 1:
		return dsbo.ConfigErrorf("-rounds, -procs and -ranks must be at least 1; they are %d, %d and %d",
			o.rounds, o.procs, o.ranks)
	case agents%o.ranks != 0:
		return dsbo.ConfigErrorf("-ranks must divide %d agents; it is %d", agents, o.ranks)
	case o.worker != "" && !slices.Contains(workers(), o.worker):
		return dsbo.ConfigErrorf("-worker must be one of %s; it is %q",
			strings.Join(workers(), ", "), o.worker)
	}
	return nil
}

// workers lists what a process of its own measures: the parts, and the rows of those that
// have several.
func workers() []string {
	names := parts()
	for _, d := range deepRows() {
		names = append(names, d.label())
	}
	for _, o := range outsideRows() {
		names = append(names, o.label())
	}
	for _, n := range trainedNets() {
		names = append(names, n.label())
	}
	return names
}

// measurePart measures one part. Its result has a JSON form.
func measurePart(ctx context.Context, part string) any {
	switch part {
	case limitPart:
		return measureLimit(30)
	case productsPart:
		return measureProducts()
	}
	if i := slices.IndexFunc(trainedNets(), func(n trainedNet) bool { return n.label() == part }); i >= 0 {
		return trainedNets()[i].measure(5)
	}
	if i := slices.IndexFunc(outsideRows(), func(o outsideRow) bool { return o.label() == part }); i >= 0 {
		return outsideRows()[i].measure(.5)
	}
	if i := slices.IndexFunc(deepRows(), func(d deepRow) bool { return d.label() == part }); i >= 0 {
		return deepRows()[i].measure(1)
	}
	all := tasks()
	return ours(ctx, all[slices.IndexFunc(all, func(t task) bool { return t.name == part })])
}

// child measures one part in a new process of this program.
func child[T any](ctx context.Context, part string, o options) (result T) {
	cmd := exec.CommandContext(ctx, testkit.Get(os.Executable()), "-worker", part, "-procs", fmt.Sprint(o.procs))
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		testkit.OK(fmt.Errorf("ours, %s: %w", part, err))
	}
	testkit.OK(json.Unmarshal(text, &result))
	return result
}
