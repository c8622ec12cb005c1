//go:build !unix

package command

// ignoreTerminal does nothing: there are no such signals.
func ignoreTerminal() {}
