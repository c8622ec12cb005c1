package tables_test

import (
	"errors"
	"strings"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/tables"
)

// TestFail: an error about a row names the line on which its record begins, also behind blank lines
// and line breaks in quotes, of picked rows too; what other agents may see of it has no value.
func TestFail(t *testing.T) {
	for _, c := range []struct {
		name, text string
		lines      []int // of the rows
	}{
		{"csv", "a,b\n1,x\n\n2,\"y\nz\"\n3,x\n", []int{2, 4, 6}},
		{"no header", "1,x\n2,y\n3,z\n", []int{1, 2, 3}},
		{"svm", "1 1:2\n# nothing\n0 1:3 4:1\n\n1 2:1\n", []int{1, 3, 5}},
	} {
		read := testkit.Get(tables.Read(c.name, strings.NewReader(c.text), int64(len(c.text)), tables.Options{}))
		picked := read.Pick([]int{0, 2})
		for row, line := range c.lines {
			if got := read.Fail(row, "a", ""); got.Line != line || got.Row != 0 {
				t.Errorf("%s: row %d is on line %d, row %d, want line %d", c.name, row, got.Line, got.Row, line)
			}
		}
		if got := picked.Fail(1, "a", "").Line; got != c.lines[2] {
			t.Errorf("%s: a picked row is on line %d, want %d", c.name, got, c.lines[2])
		}
	}
	err := testkit.Get(tables.New("x.parquet", tables.NumberColumn("a", []float32{1, 2}))).Fail(1, "a",
		"it is %q", "secret")
	if want := `x.parquet, row 2, column a: it is "secret"`; err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
	picked := testkit.Get(tables.New("x.parquet", tables.NumberColumn("a", []float32{1, 2, 3, 4}))).Pick([]int{1, 3})
	for _, twice := range []*tables.Table{picked, picked.Pick([]int{0, 1})} {
		if got := twice.Fail(1, "a", ""); got.Row != 4 || got.Line != 0 {
			t.Errorf("the fourth row of the file, picked, is row %d, line %d", got.Row, got.Line)
		}
	}
	for _, e := range []error{err, dsbo.ConfigErrorf("site 1: %w", err),
		errors.Join(errors.New("first"), err)} {
		if got := dsbo.Shared(e); strings.Contains(got, "secret") ||
			!strings.Contains(got, "x.parquet, row 2, column a: its own log says") {
			t.Errorf("others see %q of %q", got, e)
		}
	}
}
