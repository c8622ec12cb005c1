// InMemory, Racing and SmallRuns are for tests whose agents, many and with little work each, wait
// for one another all the time: it takes from them what else they would wait for, and what keeps
// the processor from their work.

package testkit

import (
	"os"
	"runtime"
	"runtime/debug"
)

// Racing reports whether the race detector is on, which draws the order of goroutines that are
// ready at one moment.
func Racing() bool { return racing }

// SmallRuns readies this process, and those that it starts, for small runs of several agents. They
// use one processor: on two, agents in lockstep spend up to twice the time, all of it on waking
// each other up; under the race detector, which looks for what goes wrong on several, this is left
// as it is. And they collect garbage when the heap is five times what is in use, not twice: heaps
// are small, and a tenth of the time would go to collecting them.
func SmallRuns() {
	if !racing {
		runtime.GOMAXPROCS(1)
		OK(os.Setenv("GOMAXPROCS", "1"))
	}
	debug.SetGCPercent(400)
	OK(os.Setenv("GOGC", "400"))
}

// InMemory has the temporary folders of this process, and of those that it starts, in memory where
// there is such a folder, unless TMPDIR names one: a small run waits for its files to be on the
// disk longer than it computes.
func InMemory() {
	if folder := memoryFolder(); folder != "" && os.Getenv("TMPDIR") == "" {
		OK(os.Setenv("TMPDIR", folder))
	}
}
