package dsbo_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"dsbo/internal/testkit"
)

// A rule is a count over all hand-written Go, in the modules below this one too.
type rule string

const (
	wideCode        rule = "lines of code over 120 columns"
	wideComments    rule = "lines of comments over 100 columns"
	longFiles       rule = "files over 400 lines"
	longFuncs       rule = "functions over 60 lines"
	thatOf          rule = "\"that of\" and \"those of\" in comments"
	soMany          rule = "\"so many\" in comments"
	bareVerbs       rule = "functions named by a bare verb that does not say what they return or do"
	otherNames      rule = "functions whose comment begins with another name"
	bareFields      rule = "structs of more than 8 fields, some of which have no comment"
	mostMethods     rule = "methods of the type of this module that has the most"
	topFolders      rule = "folders of the root"
	packages        rule = "packages of this module"
	internalFolders rule = "folders of internal"
)

// fillers are words that a sentence with a noun in their place does without.
var fillers = map[rule]*regexp.Regexp{
	thatOf: regexp.MustCompile(`(?i)\b(that|those) of\b`),
	soMany: regexp.MustCompile(`(?i)\bso many\b`),
}

// verbs are names that no function should have, in either case.
var verbs = strings.Fields(`apart apply ask bear come count do enter find follow follows get give go hear
	hold keep keeps know lasts lay learn leave lie live look lose meet name need pursue put reason say says
	see settle sit speak stays suffer take tell think try want`)

// nouns are exported names that are verbs as well: what a value tells of itself, and Go's own.
var nouns = strings.Fields("Count Do Get Name Reason")

// TestHouse: the source stays within its limits.
func TestHouse(t *testing.T) {
	h := readHouse()
	for _, r := range slices.Sorted(maps.Keys(limits)) {
		n, places := h.count[r], slices.Sorted(slices.Values(h.places[r]))
		t.Logf("%7d, limit %7d: %s", n, limits[r], r)
		if n > limits[r] {
			t.Errorf("%s: there must be at most %d; there are %d, among them\n%s",
				r, limits[r], n, strings.Join(places[:min(len(places), 20)], "\n"))
		}
	}
}

// TestBudgets: the code and the tests of each folder stay within its budget, and near it.
func TestBudgets(t *testing.T) {
	sizes, all := readHouse().sizes, size{}
	for _, folder := range slices.Sorted(maps.Keys(budgets)) {
		is, most := sizes[folder], budgets[folder]
		all.code, all.tests = all.code+is.code, all.tests+is.tests
		t.Logf("%7d, budget %7d; of tests %7d, %7d: %s", is.code, most.code, is.tests, most.tests, folder)
		for _, one := range [][2]int{{is.code, most.code}, {is.tests, most.tests}} {
			if n, budget := one[0], one[1]; n > budget || float64(n) < (1-slack)*float64(budget) {
				t.Errorf("%s: its budget of %d tokens must be at least their count, %d, and at most %.0f %% more",
					folder, budget, n, 100*slack)
			}
		}
	}
	t.Logf("%7d tokens of code, %7d of tests", all.code, all.tests)
	for folder := range sizes {
		if _, ok := budgets[folder]; !ok {
			t.Errorf("%s must have a budget", folder)
		}
	}
}

// A size is the tokens of a folder, without comments and semicolons that the compiler adds.
type size struct{ code, tests int }

// A house is what the limits are compared with.
type house struct {
	count   map[rule]int
	sizes   map[string]size   // by folder of the root, of which "." is the root itself
	places  map[rule][]string // where there is something to mend
	methods map[string]int    // by folder and type
	files   *token.FileSet
}

// readHouse returns the house of the source, which it walks over once.
var readHouse = sync.OnceValue(newHouse)

// newHouse walks over the source.
func newHouse() *house {
	h := &house{map[rule]int{}, map[string]size{}, map[rule][]string{}, map[string]int{}, token.NewFileSet()}
	other := "none" // folder of another module
	testkit.OK(filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		path = filepath.ToSlash(path)
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "testdata" || path == "results" || len(name) > 1 && name[0] == '.'):
			return fs.SkipDir
		case d.IsDir():
			if otherModule(path) {
				other = path + "/"
			}
			return nil
		}
		isTest := strings.HasSuffix(name, "_test.go")
		h.addFolders(path, !strings.HasPrefix(path, other) && !isTest)
		if filepath.Ext(name) == ".go" {
			h.addFile(path, !strings.HasPrefix(path, other), isTest)
		}
		return nil
	}))
	for typ, n := range h.methods {
		h.count[mostMethods] = max(h.count[mostMethods], n)
		if n > limits[mostMethods] {
			h.places[mostMethods] = append(h.places[mostMethods], fmt.Sprintf("%s: %d", typ, n))
		}
	}
	return h
}

// found counts one more under a rule.
func (h *house) found(r rule, place string) {
	h.count[r]++
	h.places[r] = append(h.places[r], place)
}

// addFolders counts the folders that a file is the first of. Those without source are none, such as
// the certificates of a trial.
func (h *house) addFolders(path string, inPackage bool) {
	once := func(r rule, name string) {
		if !slices.Contains(h.places[r], name) {
			h.found(r, name)
		}
	}
	top, below, isBelow := strings.Cut(path, "/")
	if isBelow && slices.Contains([]string{".go", ".md", ".mod"}, filepath.Ext(path)) {
		once(topFolders, top)
	}
	if filepath.Ext(path) != ".go" || !inPackage {
		return
	}
	once(packages, filepath.Dir(path))
	if folder, _, isFolder := strings.Cut(below, "/"); isFolder && top == "internal" {
		once(internalFolders, folder)
	}
}

// addFile counts what is in a file, unless it is generated.
func (h *house) addFile(path string, inPackage, isTest bool) {
	text := testkit.Get(os.ReadFile(path))
	f := testkit.Get(parser.ParseFile(h.files, path, text, parser.ParseComments|parser.SkipObjectResolution))
	if ast.IsGenerated(f) {
		return
	}
	h.addLines(path, bytes.Split(text, []byte("\n")), h.addComments(f, text))
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			h.addFunc(n, filepath.Dir(path), inPackage, isTest)
		case *ast.StructType:
			if !isTest {
				h.addStruct(n)
			}
		}
		return true
	})
	h.addTokens(path, tokensOf(text), isTest)
}

// addTokens adds the tokens of a file to its folder's.
func (h *house) addTokens(path string, tokens int, isTest bool) {
	folder, _, isBelow := strings.Cut(path, "/")
	if !isBelow {
		folder = "."
	}
	all := h.sizes[folder]
	if isTest {
		all.tests += tokens
	} else {
		all.code += tokens
	}
	h.sizes[folder] = all
}

// addComments counts words, and returns the lines that are comments alone.
func (h *house) addComments(f *ast.File, text []byte) map[int]bool {
	lines := map[int]bool{}
	for _, group := range f.Comments {
		words := strings.Join(strings.Fields(group.Text()), " ")
		place := h.files.Position(group.Pos()).String()
		for r, pattern := range fillers {
			for range pattern.FindAllString(words, -1) {
				h.found(r, place)
			}
		}
		for _, c := range group.List {
			from, to := h.files.Position(c.Pos()), h.files.Position(c.End())
			before := text[from.Offset-from.Column+1 : from.Offset]
			for line := from.Line; line <= to.Line; line++ {
				lines[line] = line > from.Line || len(bytes.TrimSpace(before)) == 0
			}
		}
	}
	return lines
}

// addLines counts the lines that are too wide, and a file that has too many. A tab takes 4 columns.
func (h *house) addLines(path string, lines [][]byte, comments map[int]bool) {
	for i, line := range lines {
		r, most := wideCode, 120
		if comments[i+1] {
			r, most = wideComments, 100
		}
		if utf8.RuneCount(line)+3*bytes.Count(line, []byte("\t")) > most {
			h.found(r, fmt.Sprintf("%s:%d", path, i+1))
		}
	}
	if n := len(lines) - 1; n > 400 {
		h.found(longFiles, fmt.Sprintf("%s: %d", path, n))
	}
}

// addFunc counts a function by its name, and outside of tests by its length and its receiver.
func (h *house) addFunc(f *ast.FuncDecl, dir string, inPackage, isTest bool) {
	name, at := f.Name.Name, h.files.Position(f.Pos())
	if slices.Contains(verbs, strings.ToLower(name)) && !slices.Contains(nouns, name) {
		h.found(bareVerbs, fmt.Sprintf("%v: %s", at, name))
	}
	if isTest {
		return // a table of cases may be long
	}
	if word, _, _ := strings.Cut(f.Doc.Text(), " "); word != "" && strings.TrimRight(word, ":,") != name {
		h.found(otherNames, fmt.Sprintf("%v: %s, where the function is %s", at, word, name))
	}
	if n := h.files.Position(f.End()).Line - at.Line + 1; n > 60 {
		h.found(longFuncs, fmt.Sprintf("%v: %s has %d lines", at, name, n))
	}
	if f.Recv != nil && inPackage {
		h.methods[dir+"."+receiver(f.Recv.List[0].Type)]++
	}
}

// receiver returns the name of the type of a method's receiver.
func receiver(typ ast.Expr) string {
	switch typ := typ.(type) {
	case *ast.StarExpr:
		return receiver(typ.X)
	case *ast.IndexExpr:
		return receiver(typ.X)
	case *ast.IndexListExpr:
		return receiver(typ.X)
	}
	return typ.(*ast.Ident).Name
}

// addStruct counts a struct that has more fields than one keeps in mind. Fields of one line share
// its comment, and an embedded type says itself what it is.
func (h *house) addStruct(s *ast.StructType) {
	fields, bare := 0, 0
	for _, f := range s.Fields.List {
		fields += max(1, len(f.Names))
		if len(f.Names) > 0 && f.Doc == nil && f.Comment == nil {
			bare++
		}
	}
	if fields > 8 && bare > 0 {
		place := h.files.Position(s.Pos())
		h.found(bareFields, fmt.Sprintf("%v: %d of %d fields", place, bare, fields))
	}
}

// tokensOf returns the number of tokens of a source, but for the semicolons that are not in it.
func tokensOf(text []byte) (n int) {
	var s scanner.Scanner
	files := token.NewFileSet()
	s.Init(files.AddFile("", -1, len(text)), text, nil, 0)
	for {
		_, tok, literal := s.Scan()
		if tok == token.EOF {
			return n
		}
		if tok != token.SEMICOLON || literal != "\n" {
			n++
		}
	}
}
