package main

import (
	"errors"
	"flag"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsbo/internal/testkit"
)

// TestPlanted: each bug can be planted in the code as it is, has a name of its own and a test that
// is there, and leaves code that can be read.
func TestPlanted(t *testing.T) {
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
		for name, text := range files {
			if _, err := parser.ParseFile(token.NewFileSet(), name, text, 0); err != nil {
				t.Errorf("%s: %v", b.name, err)
			}
		}
	}
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
