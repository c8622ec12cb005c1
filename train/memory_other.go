//go:build !unix

package train

import "dsbo/runs"

// PeakRSS returns the most memory that the process has had resident, in MiB: not known on
// this system.
func PeakRSS() runs.Number { return runs.Unknown() }
