package wording_test

import (
	"fmt"
	"testing"

	"dsbo/internal/wording"
)

func TestText(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"Φ of agent 3 = 1e-6 (\"α\" \\ 2)", "Φ of agent 3 = 1e-6 (\"α\" \\ 2)"},
		{"a\nlevel=ERROR\tb\r", `a\nlevel=ERROR\tb\r`},
		{"\x1b[2J\x00\x7f", `\x1b[2J\x00\x7f`},
		{"\u202eabc\u2066", `\u202eabc\u2066`},
		{"\u2028\u200b\ufeff", `\u2028\u200b\ufeff`},
		{"\xff\xc3x", `\xff\xc3x`},
		{"\ufffd", "\ufffd"},
	} {
		got := wording.Plain(c.text)
		if got != c.want || !wording.Printable(got) || wording.Printable(c.text) != (c.text == c.want) {
			t.Errorf("%+q is shown as %+q; it must be %+q", c.text, got, c.want)
		}
	}
}

func ExamplePlain() {
	fmt.Println(wording.Plain("disk full\x1b[2J"))
	// Output: disk full\x1b[2J
}
