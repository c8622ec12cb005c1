//go:build !unix

package cli

import "syscall"

// ownGroup leaves a program as it is.
func ownGroup() *syscall.SysProcAttr { return nil }
