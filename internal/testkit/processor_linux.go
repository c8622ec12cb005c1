package testkit

import (
	"time"

	"golang.org/x/sys/unix"
)

// ProcessorTime returns the processor time of this process. Other load on the machine changes it
// less than elapsed time.
func ProcessorTime() time.Duration {
	var t unix.Timespec
	OK(unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t))
	return time.Duration(t.Nano())
}
