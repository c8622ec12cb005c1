package dsbo_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dsbo/internal/testkit"
)

// imports returns what the non-test Go files of each package of the module import, by folder.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); name == "testdata" || strings.HasPrefix(name, ".") && name != "." ||
				otherModule(path) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(path))
		for _, i := range f.Imports {
			name, _ := strconv.Unquote(i.Path.Value)
			found[dir] = append(found[dir], name)
		}
		if len(f.Imports) == 0 {
			found[dir] = append(found[dir], "unsafe") // a package without imports still counts
		}
		return nil
	})
	testkit.OK(err)
	return found
}

func otherModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil && dir != "."
}

// wings orders the module's folders, from the contract up: a package imports only entries of an
// earlier line, or what lies below the same entry. The longest entry that a package lies below is
// its own.
var wings = [][]string{
	{"."},
	{"internal"},
	{"network/membership"},
	{"ad", "tables", "tables/assess", "network/pki"},
	{"data", "network/relay"},
	{"network", "models"},
	{"algo"},
	{"runs", "tables/features", "train/exact"},
	{"train", "runs/report", "tables/modelfile"},
	{"experiment"},
	{"experiment/tasks", "experiment/compare"},
	{"command"},
	{"cmd", "benchmarks"},
}

// floor returns the place of a package in wings, and the entry that it lies below; -1 where there
// is none.
func floor(dir string) (place int, entry string) {
	place = -1
	for i, entries := range wings {
		for _, e := range entries {
			if (dir == e || strings.HasPrefix(dir, e+"/")) && len(e) >= len(entry) {
				place, entry = i, e
			}
		}
	}
	return place, entry
}

// TestLayoutIsTold checks that README's layout has all folders at the top.
func TestLayoutIsTold(t *testing.T) {
	_, layout, _ := strings.Cut(string(testkit.Get(os.ReadFile("README.md"))), "\n## Layout\n")
	layout, _, _ = strings.Cut(layout, "\n## ")
	for _, entries := range wings {
		for _, dir := range entries {
			if top, _, _ := strings.Cut(dir, "/"); top != "." && !strings.Contains(layout, " "+top+"/") {
				t.Errorf("README's layout must have %s/", top)
			}
		}
	}
}

func TestArrowsPointDown(t *testing.T) {
	for dir, list := range imports(t) {
		mine, entry := floor(dir)
		if mine < 0 {
			t.Errorf("folder %s must have a line in wings", dir)
			continue
		}
		for _, imp := range list {
			other, ours := strings.CutPrefix(imp, "dsbo/")
			if imp == "dsbo" {
				other, ours = ".", true
			}
			if !ours {
				continue
			}
			if its, below := floor(other); below != entry && its >= mine {
				t.Errorf("%s imports %s, which is not below it", dir, imp)
			}
		}
	}
}

// TestFreeOf keeps what some packages must do without.
func TestFreeOf(t *testing.T) {
	all := imports(t)
	for _, c := range []struct {
		dir  string
		bad  []string
		why  string
		only []string // if set, the only imports from outside the standard library and this module
	}{
		{dir: ".", bad: []string{"dsbo/", "os", "net", "log"}, why: "the contract stands alone"},
		{dir: "algo", bad: []string{"gorgonia.org", "net", "os", "math/rand", "time", "log", "dsbo/ad", "dsbo/models",
			"dsbo/data", "dsbo/network"},
			why: "methods are state machines: no graphs, no network, no files, no chance, no clock"},
		{dir: "ad", bad: []string{"net", "os", "log", "time"}, why: "derivatives are pure",
			only: []string{"gorgonia.org/", "gonum.org/v1/gonum", "github.com/chewxy/hm"}},
		{dir: "network/membership", bad: []string{"net", "os", "log", "math/rand"},
			why: "who takes part is a fact: no network, no files, no chance"},
		{dir: "runs", bad: []string{"net"}, why: "a run folder is files"},
		{dir: "models", bad: []string{"net", "os", "log", "time"}, why: "models are pure"},
	} {
		for _, imp := range all[c.dir] {
			for _, b := range c.bad {
				if imp == b || strings.HasPrefix(imp, strings.TrimSuffix(b, "/")+"/") && imp != "dsbo" {
					t.Errorf("%s imports %s: %s", c.dir, imp, c.why)
				}
			}
			outside := strings.Contains(strings.Split(imp, "/")[0], ".")
			if c.only != nil && outside &&
				!slices.ContainsFunc(c.only, func(p string) bool { return strings.HasPrefix(imp, p) }) {
				t.Errorf("%s imports %s, want only %v", c.dir, imp, c.only)
			}
		}
	}
}

// TestReachable keeps what some packages, and with them all their tests' programs, must not link
// through whatever they import.
func TestReachable(t *testing.T) {
	all := imports(t)
	engine := []string{"gorgonia.org", "dsbo/internal/kernel", "dsbo/algo", "dsbo/ad", "dsbo/data", "dsbo/models",
		"dsbo/network", "dsbo/train"}
	formats := []string{"dsbo/tables", "github.com/parquet-go", "google.golang.org/grpc", "gonum.org/v1/plot"}
	agents := []string{"dsbo/tables", "github.com/parquet-go", "google.golang.org", "dsbo/network/session",
		"dsbo/network/pki", "crypto/tls", "crypto/x509", "net/http", "dsbo/experiment/compare", "gonum.org/v1/plot/vg"}
	for _, c := range []struct {
		dir string
		bad []string
		but string // what is allowed of that
		why string
	}{
		{"runs", engine, "dsbo/network/membership", "who reads run folders needs no engine"},
		{"runs/report", engine, "dsbo/network/membership", "who shows run folders needs no engine"},
		{"models", formats, "", "examples are in memory, or images"},
		{"network", formats, "", "a network in one process has no connections and no files"},
		{"algo/algotest", formats, "", "a method is proved in memory"},
		{"train", formats, "", "a run takes examples from its task and teams from its caller"},
		{"cmd/mnist", agents, "", "a task alone is built in moments: its agents are in this process"},
		{"cmd/synthetic", agents, "", "as cmd/mnist"},
	} {
		reached := []string{c.dir}
		for i := 0; i < len(reached); i++ {
			for _, imp := range all[reached[i]] {
				for _, bad := range c.bad {
					if imp != c.but && (imp == bad || strings.HasPrefix(imp, bad+"/")) {
						t.Errorf("%s reaches %s, which %s imports: %s", c.dir, imp, reached[i], c.why)
					}
				}
				if own, ok := strings.CutPrefix(imp, "dsbo/"); ok && !slices.Contains(reached, own) {
					reached = append(reached, own)
				}
			}
		}
	}
}

// TestExamplesCanBeCopied: examples of what programs of others build on import nothing internal.
func TestExamplesCanBeCopied(t *testing.T) {
	for _, tree := range []string{"ad", "models"} {
		testkit.OK(filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, "example_test.go") &&
				strings.Contains(string(testkit.Get(os.ReadFile(path))), "\"dsbo/internal/") {
				t.Errorf("%s imports what other modules cannot", path)
			}
			return err
		}))
	}
}

// TestEveryPackageHasADoc: one, which begins with the package's name.
func TestEveryPackageHasADoc(t *testing.T) {
	for dir := range imports(t) {
		var docs []string
		for _, file := range testkit.Get(filepath.Glob(filepath.Join(dir, "*.go"))) {
			f := testkit.Get(parser.ParseFile(token.NewFileSet(), file, nil,
				parser.PackageClauseOnly|parser.ParseComments))
			if f.Doc == nil || strings.HasSuffix(file, "_test.go") {
				continue
			}
			docs = append(docs, file)
			begin := "Package " + f.Name.Name + " "
			if f.Name.Name != "main" && !strings.HasPrefix(f.Doc.Text(), begin) {
				t.Errorf("%s: the doc comment of a package must begin with %q", file, begin)
			}
		}
		if len(docs) != 1 {
			t.Errorf("package in %s must have one doc comment; files that have one: %v", dir, docs)
		}
	}
}
