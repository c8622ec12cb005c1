package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"dsbo/experiment/simulate"
)

// workerVariable is the environment variable that makes a process a worker.
const workerVariable = "DSBO_SIMULATE_WORKER"

// An outcome is what a worker says of a seed, a line of JSON.
type outcome struct {
	Seed    uint64
	Took    time.Duration // virtual time
	Lives   int
	Refused bool
	Error   string `json:",omitempty"` // "": the run ended as it must
	History string `json:",omitempty"`
	Heap    uint64 `json:",omitempty"` // bytes in use, of some seeds
}

const (
	heapFirst = 50  // seeds before the first look at the heap: all is there that is made once
	heapEvery = 250 // seeds from one look to the next
	// heapGrowth is by how many bytes a heap may be larger than at the first look. Go's runtime
	// keeps some 450 bytes for each of as many goroutines as there ever were at once, which are
	// thousands in a few seeds, and returns none: that alone has been 1.4 MB.
	heapGrowth = 4 << 20
)

// work runs the seeds that are read, one a line, and ends the process. Virtual time needs a test:
// all of this is one.
func work(in io.Reader, out io.Writer) {
	testing.Main(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{
		Name: "work", F: func(t *testing.T) {
			if err := workIn(t, bufio.NewScanner(in), json.NewEncoder(out)); err != nil {
				t.Error(err)
			}
		},
	}}, nil, nil)
}

func workIn(t *testing.T, seeds *bufio.Scanner, outcomes *json.Encoder) error {
	first := uint64(0)
	for done := 1; seeds.Scan(); done++ {
		var seed uint64
		if _, err := fmt.Sscan(seeds.Text(), &seed); err != nil {
			return err
		}
		o := run(t, simulate.Draw(seed))
		if done == heapFirst || done%heapEvery == 0 {
			var m runtime.MemStats
			runtime.GC()
			runtime.GC() // pools have two lives
			runtime.ReadMemStats(&m)
			o.Heap, first = m.HeapAlloc, cmp.Or(first, m.HeapAlloc)
			if o.Heap > first+heapGrowth && o.Error == "" {
				o.Error = fmt.Sprintf("memory leaks: the heap has %d bytes after %d seeds, and had %d after %d", o.Heap,
					done, first, heapFirst)
			}
		}
		if err := outcomes.Encode(o); err != nil {
			return err
		}
	}
	return seeds.Err()
}

// run runs a case.
func run(t *testing.T, c simulate.Case) outcome {
	o := outcome{Seed: c.Seed}
	synctest.Test(t, func(*testing.T) {
		r, err := c.Run()
		o.Took, o.Lives, o.Refused, o.History = r.Took, r.Lives, r.Refused, fmt.Sprintf("%+v\n%v", c, r)
		if err != nil {
			o.Error = err.Error()
		}
	})
	return o
}
