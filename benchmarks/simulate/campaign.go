package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"dsbo/experiment/simulate"
	"dsbo/internal/cli"
)

// A campaign is many seeds, which some workers run.
type campaign struct {
	from, seeds uint64        // the first seed, and their number
	workers     int           // processes at the same time
	limit       time.Duration // real time of a run after which it counts as failed
	only        string        // the kind of runs; "": all
	binary      string        // of workers
	trace       bool          // whether what happens in a run is written
	stdout      io.Writer     // for results
	progress    *cli.Progress // on stderr

	mu      sync.Mutex    // guards what follows
	next    uint64        // seeds given to workers
	done    uint64        // seeds that have ended
	began   time.Time     // when the campaign did
	virtual time.Duration // the simulated time of all runs
	lives   int           // processes of agents in all runs
	late    int           // agents that came when the others had finished
	failed  []uint64      // seeds of failed runs
	heaps   []uint64      // of all workers, in the order of time
	taken   time.Duration // of processors, by workers that have ended
}

// run runs all seeds, or those before ctx ends.
func (c *campaign) run(ctx context.Context) error {
	c.began = time.Now()
	errs := make([]error, c.workers)
	var wg sync.WaitGroup
	for k := range c.workers {
		wg.Go(func() {
			for errs[k] == nil && ctx.Err() == nil && c.hasSeeds() {
				errs[k] = c.worker(ctx)
			}
		})
	}
	wg.Wait()
	c.progress.Stop()
	return cmp.Or(errs...)
}

// hasSeeds reports whether seeds remain.
func (c *campaign) hasSeeds() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.next < c.seeds
}

// kinds are the seeds to which a campaign may be limited.
var kinds = map[string]func(simulate.Case) bool{
	"":       func(simulate.Case) bool { return true },
	"stay":   func(c simulate.Case) bool { return c.Quorum == 0 },
	"change": func(c simulate.Case) bool { return c.Quorum > 0 },
	"join":   func(c simulate.Case) bool { return len(c.Newcomers) > 0 },
	"slow":   func(c simulate.Case) bool { return c.StragglerDeadline > 0 },
}

// nextSeed returns the next seed of the campaign's kind.
func (c *campaign) nextSeed() (seed uint64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.next < c.seeds {
		c.next++
		if seed := c.from + c.next - 1; kinds[c.only](simulate.Draw(seed)) {
			return seed, true
		}
	}
	return 0, false
}

// workerSeeds is how many seeds a process runs. Go's runtime never frees 32 bytes, outside of the
// heap, for each [sync.WaitGroup] that was waited for on virtual time: that is some 30 kB a seed.
const workerSeeds = 5000

// worker has one process run workerSeeds seeds, or fewer where none is left or one of them ends
// the process.
func (c *campaign) worker(ctx context.Context) error {
	p := exec.CommandContext(ctx, c.binary)
	p.Env = append(os.Environ(), simulate.WorkerVariable+"=1", "GOMAXPROCS=1", "GOGC=400")
	defer func() { c.noteProcess(p.ProcessState) }()
	var stderr strings.Builder
	p.Stderr = &stderr
	in, err := p.StdinPipe()
	if err != nil {
		return err
	}
	out, err := p.StdoutPipe()
	if err != nil {
		return err
	}
	if err := p.Start(); err != nil {
		return err
	}
	lines := bufio.NewReader(out)
	for ran := 0; ran < workerSeeds && ctx.Err() == nil; ran++ {
		seed, ok := c.nextSeed()
		if !ok {
			break
		}
		watch := time.AfterFunc(c.limit, func() { _ = p.Process.Kill() })
		o := runSeed(in, lines, seed)
		hung := !watch.Stop()
		if o.Error != "" && o.History == "" { // the process has ended
			_ = p.Wait()
			if hung {
				o.Error = fmt.Sprintf("it has not ended in %v", c.limit)
			} else if ctx.Err() == nil {
				first, _, _ := strings.Cut(stderr.String(), "\n")
				o.Error, o.History = "its process ends: "+first, stderr.String()
			}
			if ctx.Err() == nil {
				c.note(o)
			}
			return nil
		}
		c.note(o)
	}
	_ = in.Close()
	_ = p.Wait() // all that matters was said
	return nil
}

// runSeed has a worker run a seed.
func runSeed(in io.Writer, lines *bufio.Reader, seed uint64) simulate.Outcome {
	failed := simulate.Outcome{Seed: seed, Error: "no answer"}
	if _, err := fmt.Fprintln(in, seed); err != nil {
		return failed
	}
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return failed
		}
		// else it is what package testing prints
		if o := (simulate.Outcome{}); json.Unmarshal(line, &o) == nil && o.Seed == seed {
			return o
		}
	}
}

// noteProcess counts the time of a worker that has ended.
func (c *campaign) noteProcess(p *os.ProcessState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p != nil {
		c.taken += p.UserTime() + p.SystemTime()
	}
}

// note counts a seed and shows it if it fails.
func (c *campaign) note(o simulate.Outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	c.virtual += o.Took
	c.lives += o.Lives
	c.late += o.Late
	if o.Heap > 0 {
		c.heaps = append(c.heaps, o.Heap)
	}
	if c.trace {
		fmt.Fprint(c.stdout, o.History)
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
	c.progress.Show(float64(c.next)/float64(c.seeds), state)
}

// logEvery is how many seeds pass from one line of the log to the next.
const logEvery = 500

// report prints what all seeds were.
func (c *campaign) report() {
	took := time.Since(c.began)
	days := c.virtual.Hours() / 24
	fmt.Fprintf(c.stdout,
		"%d seeds from %d in %v: %.1f a second, %.1f a second of processors, %.2f simulated days a second; %d "+
			"processes of agents; %d agents too late; %d fail\n",
		c.done, c.from, took.Round(time.Second), float64(c.done)/took.Seconds(), float64(c.done)/c.taken.Seconds(),
		days/took.Seconds(), c.lives, c.late, len(c.failed))
	if n := len(c.heaps); n > 1 {
		fmt.Fprintf(c.stdout, "heap of a worker after %d seeds %.1f MiB, at the end %.1f MiB\n",
			simulate.HeapFirst,
			float64(c.heaps[0])/(1<<20), float64(c.heaps[n-1])/(1<<20))
	}
}
