package runs_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// TestInResults: without a folder of its own a run may be made at the root of a module, beside its
// Go files, and outside of modules, but not inside another Go package. The error names
// that package.
func TestInResults(t *testing.T) {
	for name, c := range map[string]struct {
		files  string // of the tree
		from   string // working directory
		inside string // package that refuses; "": none does
	}{
		"root":                       {"go.mod main.go", ".", ""},
		"package":                    {"go.mod main.go net/net.go", "net", "net"},
		"folder of a package":        {"go.mod net/net.go net/testdata/a", "net/testdata", "net"},
		"the nearest package":        {"go.mod a/a.go a/b/b.go", "a/b", "a/b"},
		"folder without Go":          {"go.mod docs/text", "docs", ""},
		"results are a package":      {"go.mod results/a.go", ".", "results"},
		"the run folder has Go":      {"go.mod results/run/a.go", ".", "results/run"},
		"module inside a package":    {"go.mod a/a.go a/b/go.mod a/b/b.go", "a/b", ""},
		"Go files without a module":  {"a/a.go", "a", ""},
		"folder that is named so":    {"go.mod a/b.go/text", "a", ""},
		"package inside of a module": {"a/a.go a/b/go.mod a/b/c/c.go", "a/b/c", "a/b/c"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := testkit.Get(filepath.EvalSymlinks(t.TempDir()))
			for path := range strings.FieldsSeq(c.files) {
				path = filepath.Join(dir, filepath.FromSlash(path))
				testkit.OK(os.MkdirAll(filepath.Dir(path), 0o755))
				testkit.OK(os.WriteFile(path, nil, 0o644))
			}
			t.Chdir(filepath.Join(dir, c.from))
			f, err := runs.InResults("run")
			if c.inside == "" {
				if err != nil || f != runs.Folder(filepath.Join("results", "run")) {
					t.Errorf("folder %s, error %v; it must be results/run", f, err)
				}
				return
			}
			named := " is inside " + filepath.Join(dir, c.inside) + ": "
			if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), named) {
				t.Errorf("error %v must name the package %s", err, c.inside)
			}
		})
	}
}
