package runs

import (
	"runtime"
	"runtime/debug"
)

// Build says what program made a run, and on what machine.
type Build struct {
	Go         string `json:"go"`
	OS         string `json:"os"`
	Arch       string `json:"arch"`
	Processors int    `json:"processors"` // GOMAXPROCS
	Version    string `json:"version,omitempty"`
	Revision   string `json:"revision,omitempty"`
	Modified   bool   `json:"modified,omitempty"` // the source differed from the revision
}

// ThisBuild returns that of the running program.
func ThisBuild() Build {
	b := Build{Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Processors: runtime.GOMAXPROCS(0)}
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
		}
	}
	return b
}
