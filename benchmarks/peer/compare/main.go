// Command compare runs dsbo and the PyTorch + mpi4py program of the folder above in turn on the same
// tasks and prints times, memory and traffic side by side. README.md there says what is measured.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"dsbo"
	"dsbo/internal/cli"
)

// options are the command line's.
type options struct {
	only           string
	rounds         int
	growth         bool
	procs, ranks   int
	python, mpirun string
	peerArgs       string
	worker         string
}

func main() { os.Exit(cli.Main("compare", command)) }

// command runs a command line.
func command(ctx context.Context, args []string, stdout, _ io.Writer) error {
	var o options
	f := flag.NewFlagSet("compare", flag.ContinueOnError)
	f.SetOutput(io.Discard) // an error is one line, and the caller's
	f.StringVar(&o.only, "only", "", "`parts` to run, with commas between: "+strings.Join(parts(), ", ")+" (default all)")
	f.IntVar(&o.rounds, "rounds", 3, "how often each task is run on either side")
	f.BoolVar(&o.growth, "growth", false, "instead, measure how time and memory grow with agents, sizes and iterations")
	f.IntVar(&o.procs, "procs", 2, "GOMAXPROCS of ours")
	f.IntVar(&o.ranks, "ranks", 2, "ranks of the peer")
	f.StringVar(&o.python, "python", "/usr/bin/python3", "Python that has torch and mpi4py")
	f.StringVar(&o.mpirun, "mpirun", "mpirun", "MPI's launcher")
	f.StringVar(&o.peerArgs, "peer-args", "", "more arguments for the peer's program")
	f.StringVar(&o.worker, "worker", "", "measure one `part` in this process and print the result as JSON; what compare runs as its child")
	switch err := f.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintln(stdout, "usage: compare [flags]\n\nRuns dsbo and the peer's program in turn and prints their times, memory and traffic.\n\nflags:")
		f.SetOutput(stdout)
		f.PrintDefaults()
		return err
	case err != nil:
		return dsbo.Errorf(dsbo.ErrConfig, "%w (-h explains the flags)", err)
	}
	err := start(ctx, o, f.Args(), stdout)
	if err != nil && ctx.Err() != nil { // a child that was ended says something else
		return ctx.Err()
	}
	return err
}

func start(ctx context.Context, o options, rest []string, out io.Writer) error {
	switch {
	case len(rest) > 0:
		return dsbo.Errorf(dsbo.ErrConfig, "argument %q: there are flags only", rest[0])
	case o.rounds < 1 || o.procs < 1 || o.ranks < 1:
		return dsbo.Errorf(dsbo.ErrConfig, "-rounds %d, -procs %d, -ranks %d: want at least 1", o.rounds, o.procs, o.ranks)
	case agents%o.ranks != 0:
		return dsbo.Errorf(dsbo.ErrConfig, "-ranks %d: want a number that divides %d agents", o.ranks, agents)
	case o.growth && o.only != "":
		return dsbo.Errorf(dsbo.ErrConfig, "-only %s: -growth has no parts", o.only)
	}
	runtime.GOMAXPROCS(o.procs)
	if o.worker != "" {
		return work(ctx, o.worker, out)
	}
	if o.growth {
		return grow(ctx, out)
	}
	return compare(ctx, o, out)
}

// work measures one part and writes the result as JSON.
func work(ctx context.Context, part string, out io.Writer) (err error) {
	var result any
	switch part {
	case limitPart:
		result, err = measureLimit()
	case productsPart:
		result, err = measureProducts()
	default:
		for _, t := range tasks() {
			if t.name == part {
				result, err = ours(ctx, t)
			}
		}
		if result == nil {
			return dsbo.Errorf(dsbo.ErrConfig, "-worker: no part %q, want one of %s", part, strings.Join(parts(), ", "))
		}
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(result)
}

// child measures one part in a new process of this program.
func child(ctx context.Context, part string, o options, result any) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, "-worker", part, "-procs", fmt.Sprint(o.procs))
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("ours, %s: %w", part, err)
	}
	return json.Unmarshal(text, result)
}
