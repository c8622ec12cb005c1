//go:build unix

package command

import (
	"os/signal"
	"syscall"
)

// attributes puts an agent into a process group of its own: an interrupt of the terminal is for the verb run alone,
// which passes it on.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// ignoreTerminal lets an agent go on if nobody reads its stderr any more, and if it writes there as a background
// process.
func ignoreTerminal() { signal.Ignore(syscall.SIGPIPE, syscall.SIGTTOU) }
