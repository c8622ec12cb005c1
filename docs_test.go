package dsbo_test

import (
	"os"
	"path/filepath"
	"regexp"
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
