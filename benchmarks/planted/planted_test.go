package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dsbo/internal/testkit"
)

// TestPlanted: each bug can be planted in the code as it is, has a name of its own and a test that
// is there, and leaves code that compiles.
func TestPlanted(t *testing.T) {
	check := newChecker(t, "../..")
	seen, tests := map[string]bool{}, map[string]string{} // tests by folder
	for _, b := range testkit.Get(bugs()) {
		if seen[b.name] {
			t.Errorf("two bugs are %q", b.name)
		}
		seen[b.name] = true
		files, err := b.plantedFiles("../..")
		if err != nil {
			t.Error(err)
		}
		folder, test := folderOf(b.test)
		if _, read := tests[folder]; !read {
			for _, file := range testkit.Get(filepath.Glob(filepath.Join("../..", folder, "*_test.go"))) {
				tests[folder] += string(testkit.Get(os.ReadFile(file)))
			}
		}
		if !strings.Contains(tests[folder], "\nfunc "+test+"(t *testing.T)") {
			t.Errorf("%s: there is no %s in %s", b.name, test, folder)
		}
		if err := check.compile(files); err != nil {
			t.Errorf("%s: %v", b.name, err)
		}
	}
}

// A checker checks the types of packages some of whose files have other texts, against what the go
// command has compiled of all that they import.
type checker struct {
	root     string
	files    map[string][]string // of packages, by their folders
	set      *token.FileSet
	importer types.Importer
}

// newChecker returns one for the module in a folder.
func newChecker(t *testing.T, root string) *checker {
	cmd := exec.CommandContext(t.Context(),
		"go", "list", "-export", "-deps", "-json=Dir,ImportPath,GoFiles,Export", "./...")
	cmd.Dir = root
	c := &checker{root: testkit.Get(filepath.Abs(root)), files: map[string][]string{}, set: token.NewFileSet()}
	exports := map[string]string{}
	for list := json.NewDecoder(bytes.NewReader(testkit.Get(cmd.Output()))); list.More(); {
		var p struct {
			Dir, ImportPath, Export string
			GoFiles                 []string
		}
		testkit.OK(list.Decode(&p))
		exports[p.ImportPath], c.files[p.Dir] = p.Export, p.GoFiles
	}
	c.importer = importer.ForCompiler(c.set, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	return c
}

// compile returns the first error of the packages that files with other texts are in.
func (c *checker) compile(texts map[string]string) error {
	seen := map[string]bool{}
	for changed := range texts {
		folder := filepath.Dir(changed)
		if seen[folder] {
			continue
		}
		seen[folder] = true
		var parsed []*ast.File
		for _, name := range c.files[filepath.Join(c.root, folder)] {
			var text any // nil: what is in the file
			if other, has := texts[filepath.ToSlash(filepath.Join(folder, name))]; has {
				text = other
			}
			file, err := parser.ParseFile(c.set, filepath.Join(c.root, folder, name), text, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			parsed = append(parsed, file)
		}
		config := types.Config{Importer: c.importer}
		if _, err := config.Check(folder, c.set, parsed, nil); err != nil {
			return err
		}
	}
	return nil
}

// TestCommandsOfDocuments: the flags of this command in documents are there.
func TestCommandsOfDocuments(t *testing.T) {
	for name, text := range testkit.Documents("../..") {
		for _, words := range testkit.Commands(text, "go run ./benchmarks/planted") {
			err := command(t.Context(), append(words[3:], "-h"), io.Discard, io.Discard)
			if !errors.Is(err, flag.ErrHelp) {
				t.Errorf("%s: %s: %v", name, strings.Join(words, " "), err)
			}
		}
	}
}
