//go:build !unix

package train

// PeakRSS returns the most memory that the process has had resident, in MiB: not known on this system.
func PeakRSS() Number { return unknown }
