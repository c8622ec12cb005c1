package main

import (
	"errors"
	"flag"
	"io"
	"strings"
	"testing"

	"dsbo/internal/testkit"
)

// TestCommandsOfDocuments: the flags of this command in documents are there.
func TestCommandsOfDocuments(t *testing.T) {
	for name, text := range testkit.Documents("../..") {
		for _, words := range testkit.Commands(text, "go run ./benchmarks/simulate") {
			err := command(t.Context(), append(words[3:], "-h"), io.Discard, io.Discard)
			if !errors.Is(err, flag.ErrHelp) {
				t.Errorf("%s: %s: %v", name, strings.Join(words, " "), err)
			}
		}
	}
}
