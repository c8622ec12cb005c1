package cli

import (
	"slices"
	"testing"
)

// TestExplain: a text gives flags their usages, of several lines one, and their groups.
func TestExplain(t *testing.T) {
	f := NewFlags("prog", "", "")
	f.Int("n", 0, "")
	f.String("to", "", "")
	f.Explain("First\n  -n  `number` of\n      things\nSecond\n  -to  a `file`\n")
	if n, to := f.Lookup("n").Usage, f.Lookup("to").Usage; n != "`number` of things" || to != "a `file`" {
		t.Errorf("-n: %q, -to: %q", n, to)
	}
	for k, want := range []group{{"First", []string{"n"}}, {"Second", []string{"to"}}} {
		if got := f.groups[k]; got.title != want.title || !slices.Equal(got.names, want.names) {
			t.Errorf("group %d is %v, want %v", k, got, want)
		}
	}
}
