package tables

import (
	"fmt"
	"strings"
	"testing"
)

// TestListColumns: an error names twenty columns, however many there are, and counts the rest.
func TestListColumns(t *testing.T) {
	var names []string
	for i := range 23 {
		names = append(names, fmt.Sprint("c", i))
	}
	for n, want := range map[int]string{2: "its columns are c0, c1", 20: "c18, c19", 23: "c18, c19 and 3 more"} {
		if got := ListColumns(names[:n]); !strings.HasSuffix(got, want) {
			t.Errorf("of %d columns the list is %q, want it to end with %q", n, got, want)
		}
	}
}
