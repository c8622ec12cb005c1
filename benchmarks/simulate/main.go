// Command simulate runs the simulator (package simulate) on many seeds, and lists those that end
// otherwise than they must, with their histories.
//
//	go run ./benchmarks/simulate -seeds 100000
//
// It builds the test of that package, and has processes run some seeds each ([perProcess]): one
// that hangs or panics costs no seeds but those after it. The exit code is 1 if a seed fails.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"dsbo"
	"dsbo/internal/cli"
)

// perProcess is how many seeds a process runs: starting one takes as long as a few seeds.
const perProcess = 50

func main() { os.Exit(cli.Main("simulate", command)) }

func command(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	var from, seeds, workers uint64
	var limit time.Duration
	f := cli.NewFlags("simulate", "simulate runs whole agents on virtual time, with faults that are drawn from seeds.",
		"")
	f.Uint64Var(&from, "from", 0, "first `seed`")
	f.Uint64Var(&seeds, "seeds", 1000, "`number` of seeds")
	f.Uint64Var(&workers, "workers", uint64(runtime.NumCPU()), "`processes` at a time")
	f.DurationVar(&limit, "limit", 10*time.Minute, "real `time` after which a process counts as one that hangs")
	f.Group("Simulation", "from", "seeds", "workers", "limit")
	if err := f.Parse(args, stdout); err != nil {
		return err
	}
	if seeds < 1 || workers < 1 || limit <= 0 {
		return dsbo.ConfigErrorf("-seeds and -workers must be at least 1 and -limit above 0; they are %d, %d and %v",
			seeds, workers, limit)
	}
	folder, err := os.MkdirTemp("", "simulate")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	test := filepath.Join(folder, "simulate.test")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-o", test, "dsbo/experiment/simulate")
	build.Stdout, build.Stderr = stderr, stderr
	if err := build.Run(); err != nil {
		return err
	}
	began := time.Now()
	var next, failed atomic.Uint64 // the next process; those that have failed
	var work sync.WaitGroup
	for range workers {
		work.Go(func() {
			for ctx.Err() == nil {
				first := (next.Add(1) - 1) * perProcess
				if first >= seeds {
					return
				}
				p := exec.CommandContext(ctx, test, "-test.run=^TestSeeds$", fmt.Sprint("-test.timeout=", limit),
					fmt.Sprint("-from=", from+first), fmt.Sprint("-seeds=", min(perProcess, seeds-first)))
				if out, err := p.CombinedOutput(); err != nil && ctx.Err() == nil {
					failed.Add(1)
					fmt.Fprintf(stdout, "from seed %d: %v\n%s", from+first, err, out)
				}
			}
		})
	}
	work.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	took := time.Since(began)
	fmt.Fprintf(stdout, "%d seeds from %d in %v: %.1f a second; %d processes fail\n", seeds, from,
		took.Round(time.Second), float64(seeds)/took.Seconds(), failed.Load())
	if failed.Load() > 0 {
		return errors.New("seeds fail")
	}
	return nil
}
