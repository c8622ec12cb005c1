// Build returns the source revision and build settings of the running program.

package wording

import (
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
)

// MessagesVersion and NumbersVersion must be the same in all processes of one run, whatever the
// release. A release that changes neither can replace another one amid a run.
const (
	// MessagesVersion is raised when an older program would misread a frame, a text of a site or a
	// checkpoint.
	MessagesVersion = 2
	// NumbersVersion is raised when a run of the same settings gives other bits, or exchanges
	// something else; command.TestNumbersVersion finds it.
	NumbersVersion = 6
)

// buildInfo is the information that the Go tool writes into a program.
type buildInfo struct {
	Version  string // of the main module; "" or "(devel)" if it has none
	Revision string // of its version control; "" if the program was built without it
	Modified bool   // the source differed from the revision
	// of the architecture, which bounds the compiler's instructions: "v3" of amd64; "" if unknown
	Level string
}

// Build returns the information on the running program.
var Build = sync.OnceValue(func() buildInfo {
	var b buildInfo
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
func (b buildInfo) Name() string {
	switch {
	case b.Version != "" && b.Version != "(devel)":
		return b.Version
	case b.Revision != "" && b.Modified:
		return b.Revision + "+modified"
	}
	return b.Revision
}
