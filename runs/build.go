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
	Go         string `json:"go"`                 // version of the toolchain
	OS         string `json:"os"`                 // as GOOS
	Arch       string `json:"arch"`               // as GOARCH
	Processors int    `json:"processors"`         // GOMAXPROCS
	Version    string `json:"version,omitempty"`  // of the module, if it is known
	Revision   string `json:"revision,omitempty"` // of the source, if it is known
	Modified   bool   `json:"modified,omitempty"` // the source differed from the revision
	Messages   int    `json:"messages,omitempty"` // wording.MessagesVersion; 0: of before it was kept
	Numbers    int    `json:"numbers,omitempty"`  // wording.NumbersVersion; likewise
	Program    string `json:"program,omitempty"`  // name of its file, without folder
	Host       string `json:"host,omitempty"`     // name of the machine
	Started    string `json:"started,omitempty"`  // RFC 3339
}

// ThisBuild returns the build of the running program.
func ThisBuild() Build {
	info := wording.Build()
	host, _ := os.Hostname() // "" where the system has none
	return Build{
		Program: filepath.Base(os.Args[0]), Host: host, Started: time.Now().UTC().Format(time.RFC3339),
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Processors: runtime.GOMAXPROCS(0),
		Version: info.Version, Revision: info.Revision, Modified: info.Modified,
		Messages: wording.MessagesVersion, Numbers: wording.NumbersVersion,
	}
}
