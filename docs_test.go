package dsbo_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dsbo/internal/testkit"
)

// TestPromisesNameTests: each test that docs/faults.md and docs/threats.md name is there, in the
// folder that they name; "dsbo" is the module's own.
func TestPromisesNameTests(t *testing.T) {
	text := string(testkit.Get(os.ReadFile("docs/faults.md"))) + string(testkit.Get(os.ReadFile("docs/threats.md")))
	named := regexp.MustCompile("`([a-z0-9/]+)\\.((?:Test|Fuzz)\\w+)`").FindAllStringSubmatch(text, -1)
	if all := regexp.MustCompile(`\b(Test|Fuzz)[A-Z]\w*`).FindAllString(text, -1); len(named) != len(all) ||
		len(all) == 0 {
		t.Errorf("%d tests are named, and %d of them as `package.Test`; it must be all", len(all), len(named))
	}
	sources := map[string]string{} // of tests, by folder
	for _, m := range named {
		folder, test := m[1], m[2]
		if folder == "dsbo" {
			folder = "."
		}
		if _, read := sources[folder]; !read {
			for _, file := range testkit.Get(filepath.Glob(filepath.Join(folder, "*_test.go"))) {
				sources[folder] += string(testkit.Get(os.ReadFile(file)))
			}
		}
		if !strings.Contains(sources[folder], "\nfunc "+test+"(") {
			t.Errorf("there is no %s in %s", test, folder)
		}
	}
}

// TestEveryBlock: each code block of the documents has a line in docs/testdata/blocks.txt, in their
// order, and each line has a block.
func TestEveryBlock(t *testing.T) {
	lines := map[string][]testkit.BlockTest{}
	for _, l := range testkit.BlockTests(".") {
		lines[l.Document] = append(lines[l.Document], l)
	}
	documents := testkit.Documents(".")
	for _, name := range slices.Sorted(maps.Keys(documents)) {
		blocks, _ := testkit.Blocks(documents[name])
		rest := lines[name]
		for _, b := range blocks {
			if len(rest) == 0 || !strings.HasPrefix(b.First(), rest[0].First) {
				t.Fatalf("%s:%d: the block must have a line in docs/testdata/blocks.txt, in its place, which says "+
					"how it is tested; it begins with\n%s", name, b.Line, b.First())
			}
			rest = rest[1:]
		}
		if len(rest) > 0 {
			t.Errorf("docs/testdata/blocks.txt has a line for %s, which has no block %q", name, rest[0].First)
		}
		delete(lines, name)
	}
	for name := range lines {
		t.Errorf("docs/testdata/blocks.txt has lines for %s, which is not there", name)
	}
}

// TestEveryCell: a cell of a table is a number and a link, or the like: at most 200 characters.
func TestEveryCell(t *testing.T) {
	for name, text := range testkit.Documents(".") {
		_, prose := testkit.Blocks(text)
		for line := range strings.Lines(prose) {
			if !strings.HasPrefix(line, "|") {
				continue
			}
			for _, cell := range strings.Split(strings.ReplaceAll(line, `\|`, "/"), "|") {
				if n := len([]rune(strings.TrimSpace(cell))); n > 200 {
					t.Errorf("%s: a cell must have at most 200 characters; it has %d: %.60s...", name, n, cell)
				}
			}
		}
	}
}

// TestEveryWord: documents stay short enough to be read: 12,000 words of those for users and
// developers, 1,500 of the changes.
func TestEveryWord(t *testing.T) {
	words := 0
	for name, text := range testkit.Documents(".") {
		if filepath.Dir(name) == "docs" ||
			slices.Contains([]string{"README.md", "CONTRIBUTING.md", "benchmarks/README.md"}, name) {
			words += len(strings.Fields(text))
		}
	}
	if words > 12_000 {
		t.Errorf("README, CONTRIBUTING, docs and the lab book must have at most 12000 words; they have %d", words)
	}
	if words := len(strings.Fields(string(testkit.Get(os.ReadFile("CHANGELOG.md"))))); words > 1500 {
		t.Errorf("CHANGELOG.md must have at most 1500 words; it has %d", words)
	}
}
