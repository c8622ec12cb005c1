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

// A Program is what a process computes with. Processes of one run compare theirs when they meet,
// because others may exchange or compute something else, and other kernels may round otherwise.
type Program struct {
	Messages     int    // wording.MessagesVersion
	Numbers      int    // wording.NumbersVersion
	Version      string // version of the module, or revision of its source, which may differ; "": not known
	Kernels      string // "generic", "avx2" or "avx512"
	Architecture string // as Go names it: "amd64", "arm64", ...
	Level        string // of the architecture, as GOAMD64 or GOARM64 names it; "" if it is not known
	// a digest of a small computation: processes that have the same compute alike
	Arithmetic string
}

// ThisProgram returns the program of the running process.
func ThisProgram() Program {
	b := wording.Build()
	return Program{Messages: wording.MessagesVersion, Numbers: wording.NumbersVersion, Version: b.Name(),
		Kernels: kernel.Active().String(), Architecture: runtime.GOARCH, Level: b.Level,
		Arithmetic: linalg.ArithmeticDigest()}
}

// machine names what an error shows of p beside its versions.
func (p Program) machine() string {
	return strings.TrimSpace(p.Architecture+" "+p.Level) + " with kernels " + p.Kernels
}

// Mixable returns an error that matches dsbo.ErrConfig and names the difference unless processes
// with p and with other can be in one run: they must have the same versions of messages and of
// numbers, and the same arithmetic, by the digest of a small computation. The names are the two
// processes' in the error, such as "agent 3".
func (p Program) Mixable(name, otherName string, other Program) error {
	for _, v := range []struct {
		what         string
		here, theirs int
	}{{"messages", p.Messages, other.Messages}, {"numbers", p.Numbers, other.Numbers}} {
		if v.here != v.theirs {
			return dsbo.ConfigErrorf("%s has version %d of %s, %s version %d: programs of a run must have the same "+
				"(one is %q, the other one %q)", name, v.here, v.what, otherName, v.theirs, p.Version, other.Version)
		}
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
