// Command compare runs dsbo and the PyTorch + mpi4py program of the folder above in turn on the same
// tasks and prints times, memory and traffic side by side. README.md there says what is measured.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
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

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var o options
	flag.StringVar(&o.only, "only", "", "parts to run, with commas between: "+strings.Join(parts(), ", ")+" (default all)")
	flag.IntVar(&o.rounds, "rounds", 3, "how often each task is run on either side")
	flag.BoolVar(&o.growth, "growth", false, "instead, measure how time and memory grow with agents, sizes and iterations")
	flag.IntVar(&o.procs, "procs", 2, "GOMAXPROCS of ours")
	flag.IntVar(&o.ranks, "ranks", 2, "ranks of the peer")
	flag.StringVar(&o.python, "python", "/usr/bin/python3", "Python that has torch and mpi4py")
	flag.StringVar(&o.mpirun, "mpirun", "mpirun", "MPI's launcher")
	flag.StringVar(&o.peerArgs, "peer-args", "", "more arguments for the peer's program")
	flag.StringVar(&o.worker, "worker", "", "measure one part in this process and print the result as JSON; what compare runs as its child")
	flag.Parse()
	if err := start(ctx, o, flag.Args(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func start(ctx context.Context, o options, rest []string, out io.Writer) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("argument %q: there are flags only", rest[0])
	case o.rounds < 1 || o.procs < 1 || o.ranks < 1:
		return fmt.Errorf("-rounds %d, -procs %d, -ranks %d: want at least 1", o.rounds, o.procs, o.ranks)
	case agents%o.ranks != 0:
		return fmt.Errorf("-ranks %d: want a number that divides %d agents", o.ranks, agents)
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
			return fmt.Errorf("-worker: no part %q", part)
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
