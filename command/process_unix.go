//go:build unix

package command

import "syscall"

// attributes makes an agent a group of its own, as an interrupt of the terminal is for the run alone, which passes it on.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
