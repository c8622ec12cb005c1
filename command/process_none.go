//go:build !unix

package command

import "syscall"

// attributes leaves an agent as it is.
func attributes() *syscall.SysProcAttr { return nil }

// ignoreTerminal does nothing: there are no such signals.
func ignoreTerminal() {}
