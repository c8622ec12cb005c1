package simulate

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
)

// WorkerVariable is the environment variable that makes a process a worker of a campaign.
const WorkerVariable = "DSBO_SIMULATE_WORKER"

// An Outcome is what became of a seed, as a worker writes it, a line of JSON.
type Outcome struct {
	Seed    uint64
	Took    time.Duration // virtual time
	Lives   int
	Late    int
	Error   string `json:",omitempty"` // "": the run ended as it must
	History string `json:",omitempty"`
	Heap    uint64 `json:",omitempty"` // bytes in use, of some seeds
}

const (
	HeapFirst = 50  // seeds before a worker's first look at the heap: all is there that is made once
	heapEvery = 250 // seeds from one look to the next
	// heapGrowth is by how many bytes a heap may be larger than at the first look. Go's runtime
	// keeps some 450 bytes for each of as many goroutines as there ever were at once, which are
	// thousands in a few seeds, and returns none: that alone has been 1.4 MB.
	heapGrowth = 4 << 20
)

// Work runs the cases of the seeds that it reads, one a line, and writes their outcomes. Virtual
// time needs a test.
func Work(t *testing.T, in io.Reader, out io.Writer) error {
	seeds, outcomes, first := bufio.NewScanner(in), json.NewEncoder(out), uint64(0)
	for done := 1; seeds.Scan(); done++ {
		var seed uint64
		if _, err := fmt.Sscan(seeds.Text(), &seed); err != nil {
			return err
		}
		o := outcomeOf(t, Draw(seed))
		if done == HeapFirst || done%heapEvery == 0 {
			o.Heap = heap()
			first = cmp.Or(first, o.Heap)
			if o.Heap > first+heapGrowth && o.Error == "" {
				o.Error = fmt.Sprintf("memory leaks: the heap has %d bytes after %d seeds, and had %d after %d", o.Heap,
					done, first, HeapFirst)
			}
		}
		if err := outcomes.Encode(o); err != nil {
			return err
		}
	}
	return seeds.Err()
}

// outcomeOf runs a case.
func outcomeOf(t *testing.T, c Case) Outcome {
	o := Outcome{Seed: c.Seed}
	synctest.Test(t, func(*testing.T) {
		r, err := c.Run()
		o.Took, o.Lives, o.Late, o.History = r.Took, r.Lives, r.Late, fmt.Sprintf("%+v\n%v", c, r)
		if err != nil {
			o.Error = err.Error()
		}
	})
	return o
}

// heap returns the bytes in use.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // pools have two lives
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
