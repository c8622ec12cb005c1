package main

import (
	"time"

	"golang.org/x/sys/unix"

	"dsbo/internal/testkit"
)

// clock returns the time that the process has had of processors, which others on the machine
// change less than they do the time that went by.
func clock() time.Duration {
	var t unix.Timespec
	testkit.OK(unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t))
	return time.Duration(t.Nano())
}
