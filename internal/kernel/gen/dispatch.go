package main

import (
	"bytes"
	"embed"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"unicode"
)

// A function is what Go code calls by one name on all paths and for both element types. If its
// first parameter is a count, n or rows, it works on arrays without gaps, which are slices to Go
// code, and it has a twin in plain Go.
type function struct {
	Name, Doc string // a name that is exported has documentation
	Result    string // T or nothing
	Count     string // n, rows, or nothing
	Params    []param
	Entry     string // what the twin makes each entry of dst, in plain Go; nothing: it is written by hand
}

// Low is the name with which the names of the twin and of assembly begin, in small letters.
func (f function) Low() string { return low(f.Name) }

func low(name string) string {
	rest := strings.TrimLeftFunc(name, unicode.IsUpper)
	return strings.ToLower(strings.TrimSuffix(name, rest)) + rest
}

// Docs is the comment on an exported function.
func (f function) Docs() string {
	if f.Name == f.Low() {
		return ""
	}
	return "// " + strings.ReplaceAll(f.Name+" "+f.Doc, "\n", "\n// ")
}

// Slices is the parameters that have one length, if the function is exported and has several.
func (f function) Slices() []param {
	slices := slices.DeleteFunc(slices.Clone(f.Params), func(p param) bool { return p.Type[0] != '[' })
	if f.Name == f.Low() || len(slices) == 1 {
		return nil
	}
	return slices
}

// A param is a parameter with its type in Go code and in assembly, with T for the element type.
type param struct{ Name, Type, asm string }

// newFunction reads parameters and result as they stand in a declaration.
func newFunction(name, doc, params, result string) function {
	f, typ := function{Name: name, Doc: doc, Result: result}, ""
	if first := strings.Fields(params)[0]; first == "n" || first == "rows," {
		f.Count = strings.TrimSuffix(first, ",")
	}
	list := strings.Split(params, ", ")
	slices.Reverse(list) // so that the type stands before the names that share it
	for _, p := range list {
		name, own, found := strings.Cut(p, " ")
		if found {
			typ = own
		}
		passed := strings.Replace(typ, "*T", "unsafe.Pointer", 1)
		if f.Count != "" {
			passed = strings.Replace(typ, "*", "[]", 1)
		}
		f.Params = append(f.Params, param{name, passed, typ})
	}
	slices.Reverse(f.Params)
	return f
}

// As is the argument that assembly for elements of n bits takes.
func (p param) As(bits int) string {
	typ := strings.ReplaceAll(p.asm, "T", fmt.Sprintf("float%d", bits))
	switch {
	case typ == p.Type:
		return p.Name
	case strings.HasPrefix(p.Type, "[]"):
		return fmt.Sprintf("(%s)(pointer(%s))", typ, p.Name)
	}
	return fmt.Sprintf("(%s)(%s)", typ, p.Name)
}

//go:embed *.go.tmpl
var templates embed.FS

// A dispatch is the functions of a file.
type dispatch []function

// Unsafe reports whether a function has a parameter of package unsafe.
func (d dispatch) Unsafe() bool {
	return slices.ContainsFunc(d, func(f function) bool {
		return slices.ContainsFunc(f.Params, func(p param) bool { return p.Type == "unsafe.Pointer" })
	})
}

// Uses reports whether a twin uses a package.
func (d dispatch) Uses(pkg string) bool {
	return slices.ContainsFunc(d, func(f function) bool { return strings.Contains(f.Entry, pkg) })
}

// wrapped breaks long lines of Go code between the items of a list, and of comments between words.
func wrapped(code []byte) []byte {
	const width = 97
	lines := strings.Split(string(code), "\n")
	for i := 0; i < len(lines); i++ {
		line := []rune(lines[i])
		if len(line) <= width {
			continue
		}
		between, next := ", ", "\t"
		if line[0] == '/' {
			between, next = " ", "// "
		}
		at := strings.LastIndex(string(line[:width]), between) + len(between)
		lines = slices.Insert(lines, i+1, next+lines[i][at:])
		lines[i] = strings.TrimSuffix(lines[i][:at], " ")
	}
	return []byte(strings.Join(lines, "\n"))
}

// writeDispatch writes the functions of the named file that choose the assembly or the twin.
func writeDispatch(folder, name string, d dispatch) error {
	t, err := template.ParseFS(templates, "*.go.tmpl")
	if err != nil {
		return err
	}
	for _, file := range t.Templates() {
		var text bytes.Buffer
		if err := file.Execute(&text, d); err != nil {
			return err
		}
		if !strings.Contains(text.String(), "func") { // of a file without twins
			continue
		}
		path := filepath.Join(folder, name+"_"+strings.TrimSuffix(file.Name(), ".tmpl"))
		source, err := format.Source(wrapped(text.Bytes()))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := os.WriteFile(path, source, 0o644); err != nil {
			return err
		}
	}
	return nil
}
