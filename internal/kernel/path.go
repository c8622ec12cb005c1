package kernel

import (
	"fmt"
	"os"
	"slices"

	"dsbo"
)

// A Path is one implementation of all kernels.
type Path uint8

// The paths, from the one that runs everywhere to the fastest.
const (
	Generic Path = iota // plain Go
	AVX2                // AVX2 and FMA
	AVX512              // AVX-512 F, BW, DQ and VL
)

var pathNames = []string{"generic", "avx2", "avx512"}

// String returns the name that DSBO_KERNEL uses.
func (p Path) String() string {
	if int(p) < len(pathNames) {
		return pathNames[p]
	}
	return fmt.Sprintf("Path(%d)", uint8(p))
}

var (
	best           = detect() // the fastest path of this machine
	active, errEnv = choosePath(os.Getenv("DSBO_KERNEL"), best)
)

// choosePath returns the path that the setting asks for, best if it is empty or cannot be followed.
func choosePath(setting string, best Path) (Path, error) {
	switch i := slices.Index(pathNames, setting); {
	case setting == "":
		return best, nil
	case i < 0:
		return best, dsbo.ConfigErrorf("DSBO_KERNEL must be generic, avx2 or avx512; it is %q", setting)
	case Path(i) > best:
		return best, dsbo.ConfigErrorf("DSBO_KERNEL must be at most %s with this build and machine; it is %s",
			best, setting)
	default:
		return Path(i), nil
	}
}

// Active returns the path in use.
func Active() Path { return active }

// Env returns an error that matches dsbo.ErrConfig if the environment variable DSBO_KERNEL asks for
// a path that does not exist or that this machine lacks. The commands refuse to run then; a program
// that does not ask gets the best path there is.
func Env() error { return errEnv }

// Supported reports whether this build and machine have path p.
func Supported(p Path) bool { return p <= best }

// Use switches to path p and returns a function that switches back. It is for tests and
// benchmarks: no kernel may run at the same time. It panics if p is not [Supported].
func Use(p Path) (restore func()) {
	if !Supported(p) {
		panic(fmt.Sprintf("kernel: Use: path %s is not supported here, the best is %s", p, best))
	}
	before := active
	active = p
	return func() { active = before }
}
