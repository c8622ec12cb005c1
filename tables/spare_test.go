package tables

import (
	"strings"
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
		{"quotes, a header", "a,b\n1,\"x\n2,3\n4,5\" pipe\na,b\n6,\"7\"8\n\"9\",\"1\n0\"\n\"3\",4\n1,\"z\n",
			"a number: 1 2 4 . 6 9 3 1; b number: . 3 . . . . 4 .", map[int]string{
				0: "column b: a closing quote must be followed by a separator or the end of the line",
				2: "column b: there is a quote within a value: such a value must be in quotes, with its own quotes " +
					"doubled",
				3: "there must be one header; this line repeats it: take it out",
				4: "column b: a closing quote must be followed by a separator or the end of the line",
				5: "column b: a value must be a number; it is \"1\\n0\"",
				7: "column b: a quote is not closed: close it, or double it where it is part of the value",
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

// TestSpareParts: a quote that is not closed takes its own row alone also where the file has many
// parts.
func TestSpareParts(t *testing.T) {
	row, n := "1234567,\"2 345\"\n", 3*partBytes/16
	for _, bad := range []string{"1,\"x\n", "1,2\" pipe\n", "a,b\n"} {
		got := testkit.Get(read("a,b\n"+strings.Repeat(row, n)+bad+strings.Repeat(row, n),
			Options{Kinds: map[string]Kind{"a": Number, "b": Word}, Spare: true}))
		if got.Rows() != 2*n+1 || len(got.Bad) != 1 || got.Bad[n] == "" || got.Fail(n, "", "").Line != n+2 {
			t.Errorf("%q: %d rows of %d, of which %d are bad, number %d for %q", bad, got.Rows(), 2*n+1, len(got.Bad),
				n, got.Bad[n])
		}
	}
}
