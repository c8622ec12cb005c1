// TLS is without keys by lattices: they take as long as the rest of a handshake, and their seeds
// tell nothing of them.
//
//go:debug tlsmlkem=0

// Command simulate runs the simulator (package simulate) on many seeds, and lists those that end
// otherwise than they must.
//
//	go run ./benchmarks/simulate -seeds 100000
//
// Each worker is a process of its own with one processor, so that a seed that hangs or panics costs
// no other one, and repeats what it did. The exit code is 1 if a seed fails; the command that runs
// it again, with its history, is printed.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"testing"
	"time"

	"dsbo"
	"dsbo/experiment/simulate"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
)

func main() {
	if os.Getenv(simulate.WorkerVariable) != "" {
		work()
	}
	os.Exit(cli.Main("simulate", command))
}

// work runs the seeds that are read, one a line, and ends the process.
func work() {
	testing.Main(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{
		Name: "work", F: func(t *testing.T) { testkit.OK(simulate.Work(t, os.Stdin, os.Stdout)) },
	}}, nil, nil)
}

func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := &campaign{stdout: stdout, progress: cli.NewProgress(stderr, false)}
	f := cli.NewFlags("simulate", "simulate runs whole agents on virtual time, with faults that are drawn from seeds.",
		"")
	f.Uint64Var(&c.from, "from", 0, "first `seed`")
	f.Uint64Var(&c.seeds, "seeds", 1000, "`number` of seeds")
	f.IntVar(&c.workers, "workers", runtime.NumCPU(), "`processes` that run seeds at a time")
	f.DurationVar(&c.limit, "limit", 10*time.Minute, "real `time` after which a seed counts as one that hangs")
	f.StringVar(&c.only, "only", "",
		"run those of the seeds alone of runs whose `members` stay, change, join, or are left out where they are "+
			"slow (slow)")
	f.BoolVar(&c.trace, "trace", false, "print the history of each seed")
	f.Group("Simulation", "from", "seeds", "only", "workers", "limit", "trace")
	if err := f.Parse(args, stdout); err != nil {
		return err
	}
	if c.seeds < 1 || c.workers < 1 || c.limit <= 0 {
		return dsbo.ConfigErrorf(
			"-seeds and -workers must be at least 1 and -limit above 0; they are %d, %d and %v", c.seeds,
			c.workers, c.limit)
	}
	if kinds[c.only] == nil {
		return dsbo.ConfigErrorf("-only must be stay, change, join or slow; it is %s", c.only)
	}
	var err error
	if c.binary, err = os.Executable(); err != nil {
		return err
	}
	if err := c.run(ctx); err != nil {
		return err
	}
	c.report()
	if n := len(c.failed); n > 0 {
		return fmt.Errorf("%d of %d seeds fail", n, c.done)
	}
	return nil
}
