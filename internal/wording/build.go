// Build says from what source the running program was made.

package wording

import (
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
)

// What processes of one run must have alike of their programs, whatever these are called. A release
// that mends anything else can replace another one amid a run.
const (
	// MessagesVersion is raised when an older program would take a frame, a text of a site or a
	// checkpoint for another one.
	MessagesVersion = 1
	// NumbersVersion is raised when a run of the same settings gives other bits, or exchanges
	// something else; command.TestNumbersVersion finds it.
	NumbersVersion = 1
)

// BuildInfo is what the Go tool wrote into a program.
type BuildInfo struct {
	Version  string // of the main module; "" or "(devel)" if it has none
	Revision string // of its version control; "" if the program was built without it
	Modified bool   // the source differed from the revision
	// of the architecture, for which the compiler was free to choose instructions: "v3" of amd64;
	// "" if it is not known
	Level string
}

// Build returns the information on the running program.
var Build = sync.OnceValue(func() BuildInfo {
	var b BuildInfo
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Version = info.Main.Version
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		case "GO" + strings.ToUpper(runtime.GOARCH): // GOAMD64, GOARM64, ...
			b.Level = s.Value
		}
	}
	return b
})

// Name returns the version if there is one, else the revision, marked if the source differed from
// it, and "" if neither is known.
func (b BuildInfo) Name() string {
	switch {
	case b.Version != "" && b.Version != "(devel)":
		return b.Version
	case b.Revision != "" && b.Modified:
		return b.Revision + "+modified"
	}
	return b.Revision
}
