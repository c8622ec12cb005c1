package network

import (
	"fmt"
	"runtime"
	"strings"

	"dsbo"
	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
	"dsbo/internal/wording"
)

// A Program is the version, the kernels and the architecture of a process, and how it computes.
// Processes of one run compare theirs when they meet, because other versions are other programs,
// and other kernels may round otherwise.
type Program struct {
	Version      string // version of the module, or revision of its source; "" if it is not known
	Kernels      string // "generic", "avx2" or "avx512"
	Architecture string // as Go names it: "amd64", "arm64", ...
	Level        string // of the architecture, as GOAMD64 or GOARM64 names it; "" if it is not known
	// a digest of a small computation: processes that have the same compute alike
	Arithmetic string
}

// ThisProgram returns the program of the running process.
func ThisProgram() Program {
	b := wording.Build()
	return Program{Version: b.Name(), Kernels: kernel.Active().String(), Architecture: runtime.GOARCH, Level: b.Level,
		Arithmetic: linalg.ArithmeticDigest()}
}

// Texts returns where the texts of p are, in the order in which agents send them: new ones
// come last.
func (p *Program) Texts() []*string {
	return []*string{&p.Version, &p.Kernels, &p.Architecture, &p.Level, &p.Arithmetic}
}

// machine names what an error shows of p beside its version.
func (p Program) machine() string {
	return strings.TrimSpace(p.Architecture+" "+p.Level) + " with kernels " + p.Kernels
}

// Mixable returns an error that matches dsbo.ErrConfig and says in what they differ unless
// processes with p and with other can be in one run: they must be of the same version if both are
// known, and compute alike, as a small computation of each tells. The names are what the error
// calls the two processes, such as "agent 3".
func (p Program) Mixable(name, otherName string, other Program) error {
	if p.Version != other.Version && p.Version != "" && other.Version != "" {
		return dsbo.ConfigErrorf("%s is of version %s, %s of %s: all processes of a run must be the same program",
			name, p.Version, otherName, other.Version)
	}
	if p.Arithmetic != other.Arithmetic {
		return p.mismatch(name, otherName, other)
	}
	return nil
}

// mismatch is the error of processes that round otherwise. What all machines have alike are the
// plain kernels.
func (p Program) mismatch(name, otherName string, other Program) error {
	text := fmt.Sprintf("%s does not compute as %s does: it is %s", name, otherName, p.machine())
	if p.machine() == other.machine() {
		return dsbo.ConfigErrorf(
			"%s, as that is, but a small computation has the digest %s, there %s: all processes of a run must be one "+
				"program by one compiler",
			text, p.Arithmetic, other.Arithmetic)
	}
	return dsbo.ConfigErrorf(
		"%s, that %s: DSBO_KERNEL must choose kernels that all machines of a run have (generic: every machine "+
			"has them)",
		text, other.machine())
}
