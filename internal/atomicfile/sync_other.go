//go:build !unix

package atomicfile

// isInvalid reports that a system does not sync folders: those that are not Unix do not.
func isInvalid(error) bool { return true }
