//go:build unix

package atomicfile

import (
	"errors"
	"syscall"
)

// isInvalid reports that a file system does not sync folders.
func isInvalid(err error) bool { return errors.Is(err, syscall.EINVAL) }
