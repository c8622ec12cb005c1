//go:build unix

package train

import (
	"runtime"
	"syscall"

	"dsbo/runs"
)

// PeakRSS returns the most memory that the process has had resident, in MiB.
func PeakRSS() runs.Number {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return runs.Unknown()
	}
	unit := 1024.0 // kilobytes
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		unit = 1
	}
	return runs.Number(float64(u.Maxrss) * unit / (1 << 20))
}
