//go:build unix

package train

import (
	"runtime"
	"syscall"
)

// PeakRSS returns the most memory that the process has had resident, in MiB.
func PeakRSS() Number {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return unknown
	}
	unit := 1024.0 // kilobytes
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		unit = 1
	}
	return Number(float64(u.Maxrss) * unit / (1 << 20))
}
