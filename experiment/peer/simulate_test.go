// TLS is without keys by lattices: they take as long as the rest of a handshake, and their seeds
// tell nothing of them.
//
//go:debug tlsmlkem=0

package peer

import (
	"flag"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"dsbo/internal/testkit"
)

// The simulator runs whole agents in one process on virtual time, with faults that are drawn
// from a seed, and checks that they end as they must: each with the bits of a run in one process,
// or of the replay of its membership log; within a bounded time after the last fault; and with
// nothing left behind. An agent that comes when all others have finished may end without a result.
//
// Whole means: the job that the verb agent of dsbo runs (package experiment, with its checkpoints
// and its run folder), its sessions (package network/session) with TLS, certificates and masks,
// and a supervisor that starts it again. What is not the real thing is the wires
// (testkit.Network), the disk (testkit.Memory), the clock (testing/synctest), and the system's
// processes: an agent that is killed is cut off from its machine at once, and its goroutines end
// alone.
//
// A seed is a [Case]: the run's settings, how long everything takes, and its faults. Each number
// is drawn by name (seed, quantity, agent, moment), so that what one part of a run draws depends
// on no other. Goroutines that are ready at one moment run in an order that the Go scheduler
// chooses, and keys are random: these are not repeated. What becomes on its way of what is sent
// does not depend on them, and so a failing seed mostly fails again. Where members stay, two runs
// of a seed with one processor (GOMAXPROCS=1) have the same history to the millisecond,
// apart from what sessions log; where members change, moves follow from the keys.
//
// Its flags choose the seeds.
var (
	from  = flag.Uint64("from", 0, "first `seed` of TestSeeds")
	seeds = flag.Int("seeds", 0, "`number` of seeds of TestSeeds; 0 means a few")
)

// TestMain has less garbage collected: next to nothing of what a run allocates lasts. A process has
// one processor: those that run many seeds at a time begin several, with other first seeds.
func TestMain(m *testing.M) {
	testkit.SmallRuns()
	os.Exit(m.Run())
}

// TestSeeds: whatever happens to agents and links, each agent ends with the bits of one process.
func TestSeeds(t *testing.T) {
	count := *seeds
	if count == 0 {
		count = testkit.Sized(2, 5, 12)
	}
	for seed := *from; seed < *from+uint64(count); seed++ {
		endsAsItMust(t, Draw(seed))
	}
}

// TestSmallSeeds is TestSeeds for the seeds whose runs take least: of two agents that stay. What
// the program keeps in memory stays the same meanwhile.
func TestSmallSeeds(t *testing.T) {
	count := testkit.Sized(11, 20, 60)
	var first uint64
	for seed, done := uint64(0), 0; done < count; seed++ {
		c := Draw(seed)
		if c.Agents > 2 || c.Quorum > 0 {
			continue
		}
		endsAsItMust(t, c)
		if done++; done == 10 { // all is there that is made once
			first = heap()
		}
	}
	// A connection alone has buffers of 64 KiB at each end: if one in 20 runs left one, that would
	// be more than this: two or three connections in 50 runs.
	if last := heap(); last > first+256<<10 {
		t.Errorf("%d bytes are in use after %d runs, %d after 10", last, count, first)
	}
}

// endsAsItMust runs a case.
func endsAsItMust(t *testing.T, c Case) {
	synctest.Test(t, func(t *testing.T) {
		if history, err := c.Run(); err != nil {
			t.Errorf("seed %d: %v\n%v", c.Seed, err, strings.Join(history, "\n"))
		}
	})
}

// TestReplay: a seed of agents that stay has the same history twice.
func TestReplay(t *testing.T) {
	if testkit.Racing() {
		t.Skip("the race detector draws the order of goroutines")
	}
	const seed = 2
	var histories [2][]string
	for k := range histories {
		synctest.Test(t, func(t *testing.T) { histories[k] = testkit.Get(Draw(seed).Run()) })
		logged := func(l string) bool { return !strings.Contains(l, "level=DEBUG") }
		histories[k] = slices.DeleteFunc(histories[k], logged)
	}
	if len(histories[0]) < 20 {
		t.Errorf("a history has %d lines alone", len(histories[0]))
	}
	if diff := cmp.Diff(histories[0], histories[1]); diff != "" {
		t.Errorf("seed %d: the histories of two runs differ:\n%s", seed, diff)
	}
}

// heap returns the bytes in use.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // pools have two lives
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
