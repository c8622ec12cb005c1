package runs

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"dsbo"
	"dsbo/internal/files"
)

// Results is the folder below the working directory for runs that no flag gives a folder.
const Results = "results"

// InResults returns the folder of that name in [Results]. It must not be inside a Go package, among
// whose sources results do not belong: below the root of a module no folder above it, and not the
// folder itself, may have Go files. The root may. The error matches [dsbo.ErrConfig].
func InResults(name string) (Folder, error) {
	f := Folder(filepath.Join(Results, name))
	path, err := filepath.Abs(string(f))
	if err != nil {
		return "", dsbo.ConfigErrorf("run folder %s: %w", f, err)
	}
	inside, err := goPackageAround(path)
	if err != nil {
		return "", dsbo.ConfigErrorf("run folder %s: %w", f, err)
	}
	if inside != "" {
		return "", dsbo.ConfigErrorf("run folder must be outside of Go packages; %s is inside %s: "+
			"start from the module's root, or choose a folder with -out", path, inside)
	}
	return f, nil
}

// goPackageAround returns the nearest folder with Go files among path and the folders above it,
// below the root of the module. It is "" if there is none, if path is in no module, or if only the
// root has Go files.
func goPackageAround(path string) (inside string, err error) {
	for dir := path; ; dir = filepath.Dir(dir) {
		entries, err := files.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return "", err
		}
		has := false
		for _, e := range entries {
			if e.Name() == "go.mod" {
				return inside, nil
			}
			has = has || strings.HasSuffix(e.Name(), ".go") && !e.IsDir()
		}
		if has && inside == "" {
			inside = dir
		}
		if dir == filepath.Dir(dir) {
			return "", nil
		}
	}
}
