package main

import (
	"bytes"
	"embed"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

// A function is what Go code calls by one name on all paths and for both element types. If its first parameter is a
// count, n or rows, it works on arrays without gaps, which are slices to Go code, and it has a twin in plain Go.
type function struct {
	Name, Result string // the result is T or nothing
	Count        string // n, rows, or nothing
	Params       []param
}

// A param is a parameter: its type in Go code, the pointer or number that it comes down to, and that one's type, with
// T for the element type.
type param struct{ Name, Type, value, asm string }

// newFunction reads parameters and result as they stand in a declaration.
func newFunction(name, params, result string) function {
	f, typ := function{Name: name, Result: result}, ""
	list := strings.Split(params, ", ")
	f.Params = make([]param, len(list))
	if list[0] == "n int" || list[0] == "rows" {
		f.Count = strings.Fields(list[0])[0]
	}
	for i := len(list) - 1; i >= 0; i-- {
		name, own, found := strings.Cut(list[i], " ")
		if found {
			typ = own // of the names before it too
		}
		p := param{name, typ, name, typ}
		switch elem, pointer := strings.CutPrefix(typ, "*"); {
		case pointer && f.Count != "":
			p.Type, p.value = "[]"+elem, "pointer("+name+")"
		case typ == "*T":
			p.Type = "unsafe.Pointer"
		}
		f.Params[i] = p
	}
	return f
}

// As is the argument that assembly for elements of so many bits takes.
func (p param) As(bits int) string {
	switch p.asm {
	case "T":
		return fmt.Sprintf("float%d(%s)", bits, p.value)
	case "*T":
		return fmt.Sprintf("(*float%d)(%s)", bits, p.value)
	case "*byte":
		return fmt.Sprintf("(*byte)(%s)", p.value)
	}
	return p.value
}

// Passed are the parameters that Go code passes: n is the length of the first slice.
func (f function) Passed() []param {
	if f.Count == "n" {
		return f.Params[1:]
	}
	return f.Params
}

//go:embed *.go.tmpl
var templates embed.FS

// writeDispatch writes the functions that choose the assembly or the twin.
func writeDispatch(folder string, all []function) error {
	t, err := template.ParseFS(templates, "*.go.tmpl")
	if err != nil {
		return err
	}
	for _, file := range t.Templates() {
		var text bytes.Buffer
		if err := file.Execute(&text, all); err != nil {
			return err
		}
		source, err := format.Source(text.Bytes())
		if err != nil {
			return fmt.Errorf("%s: %w", file.Name(), err)
		}
		name := strings.TrimSuffix(file.Name(), ".tmpl")
		if err := os.WriteFile(filepath.Join(folder, name), source, 0o644); err != nil {
			return err
		}
	}
	return nil
}
