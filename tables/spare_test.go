package tables

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsbo/internal/testkit"
)

// TestSpare: with Spare a row that cannot be read has a reason, and its bad value is missing, in
// every format.
func TestSpare(t *testing.T) {
	type row struct {
		A float64 `parquet:"a"`
		B string  `parquet:"b"`
	}
	kinds := map[string]Kind{"a": Number, "b": Number}
	for _, c := range []struct {
		name, file, want string
		bad              map[int]string
	}{
		{"CSV", "a,b\n1,2\nx,y\n\u00a03,Inf\n4\n5,6\n", "a number: 1 . 3 4 5; b number: 2 . . . 6", map[int]string{
			1: `column a: a value must be a number; it is "x"`,
			2: `column b: a number must be finite and at most 3.4e38; it is "Inf"`,
			3: `a record must have 2 values separated by ',', as the header has; it has 1`,
		}},
		{"one row", "a,b\nx,1\n", "a number: .; b number: 1",
			map[int]string{0: `column a: a value must be a number; it is "x"`}},
		{"Parquet", parquetFile([]row{{1, "2"}, {1e39, "x"}, {3, " 4 "}}), "a number: 1 . 3; b number: 2 . 4",
			map[int]string{1: "column a: a number must be finite and at most 3.4e38; it is 1e+39"}},
		{"NPY", npyFile("<f8", "False", "(3, 1)", 1, 1e39, 3), "1 number: 1 . 3",
			map[int]string{1: "column 1: a number must be finite and at most 3.4e38; it is 1e+39"}},
		{"LIBSVM", "1 1:1\n2 1:1 3:1e400\n3 2:5\n", "label number: 1 2 3; 2 [0 1 2 3] [0 0 1] [1 1 5]",
			map[int]string{1: `the value of index 3 must be a finite number, at most 3.4e38; it is "1e400"`}},
		{"nothing bad", "a,b\n1,2\n", "a number: 1; b number: 2", map[int]string{}},
	} {
		o := Options{Kinds: kinds, Spare: true}
		read := testkit.Get(read(c.file, o))
		if d := cmp.Diff(c.bad, read.Bad); d != "" || shown(read) != c.want {
			t.Errorf("%s: %s, want %s\n%s", c.name, shown(read), c.want, d)
		}
	}
}
