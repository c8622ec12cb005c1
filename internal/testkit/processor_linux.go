package testkit

import (
	"time"

	"golang.org/x/sys/unix"
)

// ProcessorTime returns the time that the process has had of processors, which others on the
// machine change less than they do the time that went by.
func ProcessorTime() time.Duration {
	var t unix.Timespec
	OK(unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t))
	return time.Duration(t.Nano())
}
