package tables

import (
	"slices"
	"testing"

	"dsbo/internal/testkit"
)

// TestNotes: a table says which words it took for missing values and where, and which columns of
// words are numbers in part.
func TestNotes(t *testing.T) {
	for file, want := range map[string][]string{
		"a,b,c\nNA,None,x\n1,None,y\n,q,z\n": {
			`"NA" counts as missing in a (1 row) (-missing sets the words that do)`,
			`"None" counts as missing in b (2 rows) (-missing sets the words that do)`},
		"a\n1\nx\n2\ny\nz\n": {"column a is taken for words; 2 of its 5 values could be a number"},
		",a\n1,2\n":          {"the first column has no name, as the row numbers of pandas and R: it is left out"},
		"a\n1\n2\n":          nil,
	} {
		if got := testkit.Get(read(file, Options{})).Notes; !slices.Equal(got, want) {
			t.Errorf("%q: notes %q, want %q", file, got, want)
		}
	}
}
