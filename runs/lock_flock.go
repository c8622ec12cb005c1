//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package runs

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lock keeps other processes from locking the same file or folder, until f is closed or the process ends. File
// systems that know no locks go without.
func lock(f *os.File) error {
	if errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK) {
		return fmt.Errorf("%s is being written by another process: is the run still going?", f.Name())
	}
	return nil
}
