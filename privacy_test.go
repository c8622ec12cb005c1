package dsbo_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dsbo/internal/testkit"
)

// naming are the functions whose first text is the name of a quantity that leaves an agent.
var naming = strings.Fields("Sum Row Texts Mean MeanNumbers MeanAndSpread Maximum GatherRows GatherTexts sum mean " +
	"average averageNumber sumCounts sumTimes exchange compareSets curve addWith")

// TestPrivacyNames: what any program exchanges has a name in italics in the tables of
// docs/privacy.md, and each name there is one.
func TestPrivacyNames(t *testing.T) {
	_, tables, _ := strings.Cut(string(testkit.Get(os.ReadFile("docs/privacy.md"))), "## Every quantity")
	tables, _, _ = strings.Cut(tables, "\nWhat is not in")
	documented, written := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(tables) {
		if strings.HasPrefix(line, "|") {
			for _, m := range regexp.MustCompile(`\*([^*]+)\*`).FindAllStringSubmatch(line, -1) {
				documented[m[1]] = true
			}
		}
	}
	for _, folder := range []string{"algo", "train", "experiment", "tables", "network"} {
		testkit.OK(filepath.WalkDir(folder, func(path string, _ os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			ast.Inspect(testkit.Get(parser.ParseFile(token.NewFileSet(), path, nil, 0)), func(n ast.Node) bool {
				if text, ok := textOf(n); ok {
					for part := range strings.SplitSeq(", "+text, ", ") { // of ends of names
						written[part] = true
					}
					written[text] = true
				}
				call, ok := n.(*ast.CallExpr)
				if !ok || !slices.Contains(naming, nameOf(call.Fun)) {
					return true
				}
				for _, argument := range call.Args {
					if name, ok := textOf(argument); ok && !documented[name] {
						t.Errorf("%s: docs/privacy.md has no *%s*", path, name)
					}
				}
				return true
			})
			return nil
		}))
	}
	for name := range documented {
		if !written[name] {
			t.Errorf("docs/privacy.md has *%s*, which no program sends", name)
		}
	}
	if len(documented) < 50 {
		t.Errorf("docs/privacy.md has %d names alone", len(documented))
	}
}

// textOf returns a constant text.
func textOf(n ast.Node) (string, bool) {
	if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
		return testkit.Get(strconv.Unquote(l.Value)), true
	}
	return "", false
}

// nameOf returns the name of a function or method that is called.
func nameOf(f ast.Expr) string {
	switch f := f.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}
