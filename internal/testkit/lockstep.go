// InMemory, Racing and SmallRuns are for tests of many agents that do little work each and wait for
// one another: they remove other waits, and work that is not the test's.

package testkit

import (
	"os"
	"runtime"
	"runtime/debug"
)

// Racing reports whether the race detector is on, which draws the order of goroutines that are
// ready at one moment.
func Racing() bool { return racing }

// SmallRuns prepares this process, and its children, for small runs of several agents. It sets one
// processor: on two, agents in lockstep take up to twice the time, spent on waking each other.
// Under the race detector, which needs several processors to find races, the number is unchanged.
// Garbage is collected when the heap is five times its live size, not twice: heaps are small, and a
// tenth of the time would go to the collector.
func SmallRuns() {
	if !racing {
		runtime.GOMAXPROCS(1)
		OK(os.Setenv("GOMAXPROCS", "1"))
	}
	debug.SetGCPercent(400)
	OK(os.Setenv("GOGC", "400"))
}

// InMemory puts the temporary folders of this process, and of its children, in memory if there is
// such a folder and TMPDIR is not set: a small run waits longer for its files to be synced than it
// computes.
func InMemory() {
	if folder := memoryFolder(); folder != "" && os.Getenv("TMPDIR") == "" {
		OK(os.Setenv("TMPDIR", folder))
	}
}
