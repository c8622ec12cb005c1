package runs

import (
	"os"
	"path/filepath"
	"runtime"
	"time"

	"dsbo/internal/wording"
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
	Program    string `json:"program,omitempty"`  // name of its file, without folder
	Host       string `json:"host,omitempty"`
	Started    string `json:"started,omitempty"` // RFC 3339
}

// ThisBuild returns the build of the running program.
func ThisBuild() Build {
	info := wording.Build()
	host, _ := os.Hostname() // "" where the system has none
	return Build{
		Program: filepath.Base(os.Args[0]), Host: host, Started: time.Now().UTC().Format(time.RFC3339),
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Processors: runtime.GOMAXPROCS(0),
		Version: info.Version, Revision: info.Revision, Modified: info.Modified,
	}
}
