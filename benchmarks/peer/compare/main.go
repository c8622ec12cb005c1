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
	all := workers(ctx)
	at := slices.IndexFunc(all, func(w worker) bool { return w.label == o.worker })
	if at < 0 && o.worker != "" {
		return dsbo.ConfigErrorf("-worker must be a part or a row of one; it is %q", o.worker)
	}
	runtime.GOMAXPROCS(o.procs)
	err := testkit.Catch(func() {
		if at >= 0 {
			testkit.OK(json.NewEncoder(stdout).Encode(all[at].measure()))
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
	}
	return nil
}

// A worker is what is measured in a process of its own; its result has a JSON form.
type worker struct {
	label   string
	measure func() any
}

// workers returns all of them, each measured for a time that suits it.
func workers(ctx context.Context) []worker {
	list := []worker{{limitPart, func() any { return measureLimit(30) }}}
	for _, t := range tasks() {
		list = append(list, worker{t.name, func() any { return ours(ctx, t) }})
	}
	for _, d := range deepRows() {
		list = append(list, worker{d.label(), func() any { return d.measure(1) }})
	}
	for _, o := range outsideRows() {
		list = append(list, worker{o.label(), func() any { return o.measure(.5) }})
	}
	for _, n := range trainedNets() {
		list = append(list, worker{n.label(), func() any { return n.measure(5) }})
	}
	return list
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
