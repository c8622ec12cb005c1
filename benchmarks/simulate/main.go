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
	"time"

	"dsbo"
	"dsbo/internal/cli"
)

func main() {
	if seeds := os.Getenv(workerVariable); seeds != "" {
		work(seeds)
	}
	os.Exit(cli.Main("simulate", command))
}

func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := &campaign{stdout: stdout, progress: cli.NewProgress(stderr, false), began: time.Now()}
	f := cli.NewFlags("simulate", "simulate runs whole agents on virtual time, with faults that are drawn from seeds.",
		"")
	f.Uint64Var(&c.from, "from", 0, "first `seed`")
	f.Uint64Var(&c.seeds, "seeds", 1000, "`number` of seeds")
	f.Uint64Var(&c.workers, "workers", uint64(runtime.NumCPU()), "`processes` that run seeds at a time")
	f.DurationVar(&c.limit, "limit", 10*time.Minute, "real `time` after which a seed counts as one that hangs")
	f.BoolVar(&c.trace, "trace", false, "print the history of each seed")
	f.Group("Simulation", "from", "seeds", "workers", "limit", "trace")
	if err := f.Parse(args, stdout); err != nil {
		return err
	}
	if c.seeds < 1 || c.workers < 1 || c.limit <= 0 {
		return dsbo.ConfigErrorf(
			"-seeds and -workers must be at least 1 and -limit above 0; they are %d, %d and %v", c.seeds,
			c.workers, c.limit)
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
