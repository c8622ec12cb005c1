package benchmarks

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"dsbo/internal/testkit"
)

// TestLabBook: README.md shows figures that are there, and all that are there; its links within
// lead to headings.
func TestLabBook(t *testing.T) {
	text := testkit.Get(os.ReadFile("README.md"))
	shown := map[string]bool{}
	for _, m := range regexp.MustCompile(`!\[\]\(([^)]*)\)`).FindAllStringSubmatch(string(text), -1) {
		shown[m[1]] = true
		if _, err := os.Stat(filepath.FromSlash(m[1])); err != nil {
			t.Error(err)
		}
	}
	figures, err := filepath.Glob(filepath.Join("figures", "*.svg"))
	if err != nil || len(figures) == 0 {
		t.Fatalf("%d figures: %v", len(figures), err)
	}
	for _, f := range figures {
		if !shown[filepath.ToSlash(f)] {
			t.Errorf("%s is not shown", f)
		}
	}
	headings := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(string(text), -1) {
		name := regexp.MustCompile(`[^a-z0-9 -]`).ReplaceAllString(strings.ToLower(m[1]), "")
		headings[strings.ReplaceAll(name, " ", "-")] = true
	}
	for _, m := range regexp.MustCompile(`\]\(#([^)]*)\)`).FindAllStringSubmatch(string(text), -1) {
		if !headings[m[1]] {
			t.Errorf("link #%s leads nowhere", m[1])
		}
	}
}
