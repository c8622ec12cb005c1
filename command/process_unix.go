//go:build unix

package command

import (
	"os/signal"
	"syscall"
)

// ignoreTerminal lets an agent go on if nobody reads its stderr any more, and if it writes there as
// a background process.
func ignoreTerminal() { signal.Ignore(syscall.SIGPIPE, syscall.SIGTTOU) }
