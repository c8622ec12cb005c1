package command

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"dsbo/internal/testkit"
)

// onePlural is a plural of one thing. Words between the two do not end with s.
var onePlural = regexp.MustCompile(`(^|[^\d.,=])\b1\s([a-z-]+\s){0,2}[a-z]{2,}s\b`)

// bySeveral is what one penalty may be tuned by.
var bySeveral = regexp.MustCompile(`by\sstructures`)

// TestOneOfAThing: runs with one site, feature, penalty, example or iteration are told of in
// the singular.
func TestOneOfAThing(t *testing.T) {
	skipShort(t, "runs with their pages, read for their words")
	dir := t.TempDir()
	var table strings.Builder
	table.WriteString("a,y\n")
	for i := range 40 {
		fmt.Fprintf(&table, "%d,%s\n", i*7%40, []string{"ill", "well"}[i*i%7/4])
	}
	testkit.OK(os.WriteFile(filepath.Join(dir, "site0.csv"), []byte(table.String()), 0o644))
	for _, line := range []string{
		"synthetic -r=1 -p=1 -train=1 -val=1 -test=1 -agents=1 -K=1 -report=false",
		"policy -states=1 -features=1 -transitions=1 -agents=1 -K=1 -report=false",
		"tune -data=" + filepath.Join(dir, "site{agent}.csv") + " -target=y -agents=1 -K=1",
	} {
		out := filepath.Join(dir, "out")
		var stdout, stderr bytes.Buffer
		testkit.OK(run(t.Context(), append(strings.Fields(line), "-force", "-out="+out), &stdout, &stderr))
		page, _ := os.ReadFile(filepath.Join(out, "report.html")) // of the last one
		for _, text := range []string{stdout.String(), stderr.String(),
			regexp.MustCompile(`(?s)<(script|style).*?</(script|style)>|<[^>]*>`).ReplaceAllString(string(page),
				"\n")} {
			text = bySeveral.ReplaceAllString(text, "so")
			for _, found := range onePlural.FindAllString(text, -1) {
				t.Errorf("%s: %q", line, found)
			}
		}
	}
}
