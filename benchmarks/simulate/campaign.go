package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dsbo/experiment/simulate"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
)

// A campaign is many seeds, which some workers run.
type campaign struct {
	from, seeds, workers uint64        // the first seed, their number, and processes at a time
	limit                time.Duration // real time of a run after which it counts as failed
	trace                bool          // whether what happens in a run is written
	stdout               io.Writer     // for results
	progress             *cli.Progress // on stderr
	began                time.Time     // when it did

	mu      sync.Mutex    // guards what follows
	done    uint64        // seeds that have ended
	virtual time.Duration // the simulated time of all runs
	lives   int           // processes of agents in all runs
	late    int           // agents that came when the others had finished
	failed  []uint64      // seeds of failed runs
	taken   time.Duration // of processors, by workers that have ended
}

// workerVariable is the environment variable that makes a process a worker: it has the first seed,
// the end of seeds, and the step from one to the next.
const workerVariable = "DSBO_SIMULATE_WORKER"

// An outcome is what became of a seed, as a worker writes it, a line of JSON.
type outcome struct {
	Seed   uint64
	Result simulate.Result
	Error  string `json:",omitempty"` // "": the run ended as it must
}

// work runs seeds, writes their outcomes, and ends the process. Virtual time needs a test.
func work(seeds string) {
	var from, end, step uint64
	testkit.Get(fmt.Sscan(seeds, &from, &end, &step))
	run := func(t *testing.T) {
		for seed := from; seed < end; seed += step {
			o := outcome{Seed: seed}
			synctest.Test(t, func(*testing.T) {
				var err error
				if o.Result, err = simulate.Draw(seed).Run(); err != nil {
					o.Error = err.Error()
				}
			})
			testkit.OK(json.NewEncoder(os.Stdout).Encode(o))
		}
	}
	testing.Main(func(string, string) (bool, error) { return true, nil },
		[]testing.InternalTest{{Name: "work", F: run}}, nil, nil)
}

// run runs all seeds, or those before ctx ends.
func (c *campaign) run(ctx context.Context) error {
	errs := make([]error, c.workers)
	var wg sync.WaitGroup
	for k := range c.workers {
		wg.Go(func() {
			for seed := c.from + k; seed < c.from+c.seeds && errs[k] == nil && ctx.Err() == nil; {
				seed, errs[k] = c.worker(ctx, seed)
			}
		})
	}
	wg.Wait()
	c.progress.Stop()
	return cmp.Or(errs...)
}

// workerSeeds is how many seeds a process runs. Go's runtime never frees 32 bytes, outside of the
// heap, for each [sync.WaitGroup] that was waited for on virtual time: that is some 30 kB a seed.
const workerSeeds = 5000

// worker has one process run seeds from one on, and returns the next one: that after workerSeeds of
// them, or after one that has ended the process.
func (c *campaign) worker(ctx context.Context, seed uint64) (next uint64, err error) {
	end := min(c.from+c.seeds, seed+workerSeeds*c.workers)
	p := exec.CommandContext(ctx, testkit.Get(os.Executable()))
	p.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %d", workerVariable, seed, end, c.workers), "GOMAXPROCS=1",
		"GOGC=400")
	var stderr bytes.Buffer
	p.Stderr = &stderr
	out, err := p.StdoutPipe()
	if err == nil {
		err = p.Start()
	}
	if err != nil {
		return 0, err
	}
	hung := time.AfterFunc(c.limit, func() { _ = p.Process.Kill() })
	for lines := json.NewDecoder(out); seed < end; seed += c.workers {
		var o outcome
		if lines.Decode(&o) != nil || o.Seed != seed {
			break
		}
		hung.Reset(c.limit)
		c.note(o)
	}
	isHung := !hung.Stop()
	_, _ = io.Copy(io.Discard, out)
	_ = p.Wait() // what matters was said
	if seed < end && ctx.Err() == nil {
		first, _, _ := strings.Cut(stderr.String(), "\n")
		o := outcome{Seed: seed, Error: "its process ends: " + first}
		if isHung {
			o.Error = fmt.Sprintf("it has not ended in %v", c.limit)
		}
		c.note(o)
		seed += c.workers
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.taken += p.ProcessState.UserTime() + p.ProcessState.SystemTime()
	return seed, nil
}

// logEvery is how many seeds pass from one line of the log to the next.
const logEvery = 500

// note counts a seed and shows it if it fails.
func (c *campaign) note(o outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	c.virtual += o.Result.Took
	c.lives += o.Result.Lives
	c.late += o.Result.Late
	if c.trace {
		fmt.Fprintln(c.stdout, strings.Join(o.Result.History, "\n"))
	}
	if o.Error != "" {
		c.failed = append(c.failed, o.Seed)
		fmt.Fprintf(c.stdout, "seed %d: %s\n\tgo run ./benchmarks/simulate -from %d -seeds 1 -trace\n", o.Seed, o.Error,
			o.Seed)
	}
	state := fmt.Sprintf("%d seeds, %d fail", c.done, len(c.failed))
	if c.done%logEvery == 0 {
		c.progress.Log("%s after %v, the last one %d", state, time.Since(c.began).Round(time.Second), o.Seed)
	}
	c.progress.Show(float64(c.done)/float64(c.seeds), state)
}

// report prints what all seeds were.
func (c *campaign) report() {
	took := time.Since(c.began)
	fmt.Fprintf(c.stdout,
		"%d seeds from %d in %v: %.1f a second, %.1f a second of processors, %.0f simulated days; %d processes of "+
			"agents; %d agents too late; %d fail\n",
		c.done, c.from, took.Round(time.Second), float64(c.done)/took.Seconds(), float64(c.done)/c.taken.Seconds(),
		c.virtual.Hours()/24, c.lives, c.late, len(c.failed))
}
