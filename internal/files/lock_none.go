//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package files

import "os"

// lock has no locks to take, on systems without flock.
func lock(*os.File) bool { return true }

// unlock has no locks to release.
func unlock(*os.File) {}
