package runs

import (
	"runtime"

	"dsbo/internal/build"
)

// Build is the program that made a run, and its machine.
type Build struct {
	Go         string `json:"go"`
	OS         string `json:"os"`
	Arch       string `json:"arch"`
	Processors int    `json:"processors"` // GOMAXPROCS
	Version    string `json:"version,omitempty"`
	Revision   string `json:"revision,omitempty"`
	Modified   bool   `json:"modified,omitempty"` // the source differed from the revision
}

// ThisBuild returns the build of the running program.
func ThisBuild() Build {
	info := build.Read()
	return Build{
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Processors: runtime.GOMAXPROCS(0),
		Version: info.Version, Revision: info.Revision, Modified: info.Modified,
	}
}
