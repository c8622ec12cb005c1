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

	"dsbo/internal/must"
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
			if name := d.Name(); name == "testdata" || strings.HasPrefix(name, ".") && name != "." || otherModule(path) {
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
	must.OK(err)
	return found
}

func otherModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil && dir != "."
}

// layer orders the module's folders: a package imports only what is lower, or what its entry of beside
// names in its own layer.
var layer = map[string]int{
	".":        0,
	"internal": 1,
	"ad":       2, "pki": 2, "table": 2, "privacy": 2, "membership": 2,
	"data": 3, "network": 3, "models": 3, "algo": 3,
	"runs": 4, "cluster": 4, "features": 4, "exact": 4, "assess": 1,
	"train": 5, "report": 5, "modelfile": 5,
	"experiment": 6,
	"tasks":      7, "compare": 7, "simulate": 7,
	"command": 8,
	"cmd":     9, "benchmarks": 9, "examples": 9,
}

// TestLayoutIsTold checks that README's layout has all folders that have a layer.
func TestLayoutIsTold(t *testing.T) {
	_, layout, _ := strings.Cut(string(must.Get(os.ReadFile("README.md"))), "\n## Layout\n")
	layout, _, _ = strings.Cut(layout, "\n## ")
	for dir := range layer {
		if dir != "." && !strings.Contains(layout, " "+dir+"/") {
			t.Errorf("README's layout must have %s/", dir)
		}
	}
}

var beside = map[string][]string{
	"algo":   {"network", "models"}, // algotest alone: see TestFreeOf
	"models": {"data"},              // an agent's oracle is a model over the agent's examples
}

func TestArrowsPointDown(t *testing.T) {
	for dir, list := range imports(t) {
		top, _, _ := strings.Cut(dir, "/")
		mine, known := layer[top]
		if !known {
			t.Errorf("folder %s must have a layer", dir)
			continue
		}
		for _, imp := range list {
			if imp != "dsbo" && !strings.HasPrefix(imp, "dsbo/") {
				continue
			}
			other := strings.TrimPrefix(strings.TrimPrefix(imp, "dsbo"), "/")
			otherTop, _, _ := strings.Cut(other, "/")
			if otherTop == "" {
				otherTop = "."
			}
			if otherTop == top || slices.Contains(beside[top], otherTop) {
				continue
			}
			if layer[otherTop] >= mine {
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
		{dir: "algo", bad: []string{"gorgonia.org", "net", "os", "math/rand", "time", "log", "dsbo/ad", "dsbo/models", "dsbo/data", "dsbo/network"},
			why: "methods are state machines: no graphs, no network, no files, no chance, no clock"},
		{dir: "ad", bad: []string{"net", "os", "log", "time"}, why: "derivatives are pure",
			only: []string{"gorgonia.org/", "gonum.org/v1/gonum", "github.com/chewxy/hm"}},
		{dir: "membership", bad: []string{"net", "os", "log", "math/rand"}, why: "who takes part is a fact: no network, no files, no chance"},
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
			if c.only != nil && outside && !slices.ContainsFunc(c.only, func(p string) bool { return strings.HasPrefix(imp, p) }) {
				t.Errorf("%s imports %s, want only %v", c.dir, imp, c.only)
			}
		}
	}
}

// TestReachable keeps what some packages, and with them all their tests' programs, must not link through whatever they import.
func TestReachable(t *testing.T) {
	all := imports(t)
	engine := []string{"gorgonia.org", "dsbo/ad", "dsbo/data", "dsbo/models", "dsbo/network", "dsbo/train"}
	formats := []string{"dsbo/table", "github.com/parquet-go", "google.golang.org/grpc", "gonum.org/v1/plot"}
	for _, c := range []struct {
		dir string
		bad []string
		but string // what is allowed of that
		why string
	}{
		{"runs", engine, "", "who reads run folders needs no engine"},
		{"report", engine, "", "who shows run folders needs no engine"},
		{"models", formats, "dsbo/table/input", "examples are in memory, or images"},
		{"network", formats, "dsbo/table/input", "a network in one process has no connections and no files"},
		{"algo/algotest", formats, "dsbo/table/input", "a method is proved in memory"},
		{"train", formats, "dsbo/table/input", "a run takes examples from its task and teams from its caller"},
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

func TestEveryPackageHasADoc(t *testing.T) {
	for dir := range imports(t) {
		pkgs := must.Get(filepath.Glob(filepath.Join(dir, "*.go")))
		has := false
		for _, file := range pkgs {
			f := must.Get(parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments))
			has = has || f.Doc != nil && !strings.HasSuffix(file, "_test.go")
		}
		if !has {
			t.Errorf("package in %s has no doc comment", dir)
		}
	}
}
