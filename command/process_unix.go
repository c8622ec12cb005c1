//go:build unix

package command

import (
	"os/signal"
	"syscall"
)

// ignoreTerminal keeps an agent running when its stderr is no longer read, and when it writes there
// as a background process.
func ignoreTerminal() { signal.Ignore(syscall.SIGPIPE, syscall.SIGTTOU) }
