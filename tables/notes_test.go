package tables

import (
	"fmt"
	"slices"
	"testing"

	"dsbo/internal/testkit"
)

// TestNotes: a table says which words it took for missing values and where, and which columns of
// words are numbers in part.
func TestNotes(t *testing.T) {
	const codes = "column %[1]s is taken for numbers, though values such as %[2]s look like codes or dates (-words " +
		"%[1]s takes it as words)"
	const doubt = "numbers such as %s are read with %q as the decimal sign: no other number shows whether it is one, " +
		"or parts groups of digits"
	for file, want := range map[string][]string{
		"a,b,c\nNA,None,x\n1,None,y\n,q,z\n": {
			`"NA" counts as missing in a (1 row) (-missing sets the words that do)`,
			`"None" counts as missing in b (2 rows) (-missing sets the words that do)`},
		"a\n1\nx\n2\ny\nz\n": {"column a is taken for words; 2 of its 5 values could be a number"},
		",a\n1,2\n":          {"the first column has no name, as the row numbers of pandas and R: it is left out"},
		"a;b\n1,5;.5\n,25;3\n": {
			"column a is taken for a number in which a comma is the decimal sign, unlike others of the file"},
		"a,b,c\n01,2e5,20201231\n10,7,20210101\n": {
			fmt.Sprintf(codes, "a", "01"),
			fmt.Sprintf(codes, "b", "2e5"),
			fmt.Sprintf(codes, "c", "20201231")},
		"a,b\n0,20201231\n1e-5,20211301\n0.5,7\n": nil,
		"a;b\n1,300;x\n12,500;y\n":                {fmt.Sprintf(doubt, "1,300", ',')},
		"a\tb\n1.300\tx\n":                        {fmt.Sprintf(doubt, "1.300", '.')},
		"a;b\n1,300;,5\n":                         nil,
		"a;b\n1.300;.5\n":                         nil,
	} {
		if got := testkit.Get(read(file, Options{})).Notes; !slices.Equal(got, want) {
			t.Errorf("%q: notes %q, want %q", file, got, want)
		}
	}
	type texts struct {
		A, B string
		C    bool
	}
	file := parquetFile([]texts{{"1", "x", true}, {"2,5", "y", true}, {"3%", "", false}})
	want := []string{
		"column A is taken for words; 2 of its 3 values could be a number in which a comma is the decimal sign"}
	if got := testkit.Get(read(file, Options{})).Notes; !slices.Equal(got, want) {
		t.Errorf("Parquet: notes %q, want %q", got, want)
	}
	if got := testkit.Get(read(file, Options{Kinds: map[string]Kind{"A": Word}})).Notes; got != nil {
		t.Errorf("words that are asked for: notes %q", got)
	}
}
