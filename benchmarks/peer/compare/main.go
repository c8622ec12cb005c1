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
	"strings"

	"dsbo"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
)

// options are the command line's.
type options struct {
	only           string // parts, with commas between
	rounds         int    // runs of each row on either side
	procs, ranks   int    // processors of ours, ranks of the peer's jobs
	python, mpirun string // programs
	peerArgs       string // for the peer's jobs
	cxx            string // the compiler and its flags
	worker         string // the row that this process measures
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
		"one `row` to measure in this process, by its title, with the result as JSON; compare runs itself with "+
			"this flag")
	f.Group("Measurement", "only", "rounds", "worker")
	f.IntVar(&o.procs, "procs", 2, "GOMAXPROCS of ours, a `number`")
	f.IntVar(&o.ranks, "ranks", 2, "`number` of ranks of the peer")
	f.StringVar(&o.python, "python", "/usr/bin/python3", "`program` that is a Python with torch and mpi4py")
	f.StringVar(&o.mpirun, "mpirun", "mpirun", "`program` that launches MPI jobs")
	f.StringVar(&o.cxx, "cxx", "c++ -O2 -std=c++17 -I/usr/include/torch/csrc/api/include",
		"`command` that compiles C++ with libtorch's headers and finds its libraries")
	f.StringVar(&o.peerArgs, "peer-args", "", "more `arguments` for the peer's program")
	f.Group("Programs", "procs", "ranks", "python", "mpirun", "peer-args", "cxx")
	if err := f.Parse(args, stdout); err != nil {
		return err
	}
	if err := o.validate(); err != nil {
		return err
	}
	measure := workerOf(o.worker)
	if measure == nil && o.worker != "" {
		return dsbo.ConfigErrorf("-worker must be a row of a table; it is %q", o.worker)
	}
	runtime.GOMAXPROCS(o.procs)
	err := testkit.Catch(func() {
		if measure != nil {
			testkit.OK(json.NewEncoder(stdout).Encode(measure(ctx)))
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

// workerOf returns what is measured in a process of its own, nil where no row has the title.
func workerOf(title string) func(ctx context.Context) result {
	for _, t := range tables() {
		for _, w := range t.rows {
			if w.title == title {
				return w.ours
			}
		}
	}
	return nil
}

// child measures a row in a new process of this program.
func child(ctx context.Context, title string, o options) (measured result) {
	cmd := exec.CommandContext(ctx, testkit.Get(os.Executable()), "-worker", title, "-procs", fmt.Sprint(o.procs))
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		testkit.OK(fmt.Errorf("ours, %s: %w", title, err))
	}
	testkit.OK(json.Unmarshal(text, &measured))
	return measured
}
