package main

import (
	"go/parser"
	"go/token"
	"testing"
)

// TestPlanted: each bug can be planted in the code as it is, has a name of its own, and leaves code that can be read.
func TestPlanted(t *testing.T) {
	seen := map[string]bool{}
	for _, b := range bugs() {
		if seen[b.name] {
			t.Errorf("two bugs are %q", b.name)
		}
		seen[b.name] = true
		files, err := b.apply("../..")
		if err != nil {
			t.Error(err)
		}
		for name, text := range files {
			if _, err := parser.ParseFile(token.NewFileSet(), name, text, 0); err != nil {
				t.Errorf("%s: %v", b.name, err)
			}
		}
	}
}
