package network

import (
	"fmt"
	"runtime"

	"dsbo"
	"dsbo/internal/build"
	"dsbo/internal/kernel"
)

// A Program is the version, the kernels and the architecture of a process. Processes of one run compare theirs when they meet,
// because other kernels, and other versions, may round otherwise.
type Program struct {
	Version      string // version of the module, or revision of its source; "" if it is not known
	Kernels      string // "generic", "avx2" or "avx512"
	Architecture string // as Go names it: "amd64", "arm64", ...
}

// ThisProgram returns the program of the running process.
func ThisProgram() Program {
	return Program{Version: build.Read().Name(), Kernels: kernel.Active().String(), Architecture: runtime.GOARCH}
}

// Texts returns where the texts of p are, in the order in which agents send them: new ones come last.
func (p *Program) Texts() []*string {
	return []*string{&p.Version, &p.Kernels, &p.Architecture}
}

// Mixable returns an error that matches dsbo.ErrConfig and names both values unless processes with p and with other can
// be in one run: their kernels and architectures must be the same, and so must their versions if both are known. The
// names are what the error calls the two processes, such as "agent 3".
func (p Program) Mixable(name, otherName string, other Program) error {
	for _, c := range []struct{ says, own, other, remedy string }{
		{"%s runs on %s, %s on %s", p.Architecture, other.Architecture, "all processes of a run must have one architecture"},
		{"%s computes with kernels %s, %s with %s", p.Kernels, other.Kernels,
			"DSBO_KERNEL must choose kernels that all machines of a run have"},
		{"%s is of version %s, %s of %s", p.Version, other.Version, "all processes of a run must be the same program"},
	} {
		if c.own != c.other && c.own != "" && c.other != "" {
			text := fmt.Sprintf(c.says, name, c.own, otherName, c.other)
			return dsbo.Errorf(dsbo.ErrConfig, "%s: %s", text, c.remedy)
		}
	}
	return nil
}
