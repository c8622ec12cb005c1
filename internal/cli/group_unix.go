//go:build unix

package cli

import "syscall"

// ownGroup puts a program into a process group of its own: an interrupt of the terminal is for the
// command that started it alone, which passes it on. Else the program would get it twice, and end
// without a checkpoint.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
