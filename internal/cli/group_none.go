//go:build !unix

package cli

import "syscall"

// OwnGroup leaves a program as it is.
func OwnGroup() *syscall.SysProcAttr { return nil }
