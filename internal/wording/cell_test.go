package wording_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dsbo/internal/wording"
)

// TestCell: a cell that a spreadsheet would compute has ' before it, controls are escapes, and all
// else stays.
func TestCell(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "red": "red", "-1.5": "-1.5", "+1": "+1", "-2e-5": "-2e-5", "'s-Hertogenbosch": "'s-Hertogenbosch",
		"a=b": "a=b", "=1+1": "'=1+1", "+1-1": "'+1-1", "-inf": "'-inf", "@SUM(1)": "'@SUM(1)", "-": "'-",
		"'=1": "''=1", "'-1": "''-1", "\t=1": `"\t=1"`, "\r1": `"\r1"`, "a\nb": `"a\nb"`, "\x1b[31m": `"\x1b[31m"`,
		"w\u202e": `"w\u202e"`, "a\u2028": `"a\u2028"`, `"x"`: `"\"x\""`, "سلام\u200cها": "سلام\u200cها",
		"a\u00a0b": "a\u00a0b",
	} {
		if got := wording.Cell(text); got != want || wording.OfCell(got) != text {
			t.Errorf("%q is the cell %q, which means %q; it must be %q", text, got, wording.OfCell(got), want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("'=+-@\t\r\"\\xau1.\u202e\x1b\ufffd"))).Draw(t, "text")
		if got := wording.OfCell(wording.Cell(text)); got != text {
			t.Errorf("%q is read back as %q", text, got)
		}
	})
}

// TestVisible: a page has no control, and JSON means the same without them.
func TestVisible(t *testing.T) {
	const text = "a\u202eb\u0085\x7f\t\u2066ö"
	if got, want := string(wording.Visible([]byte(text))), "a⟨U+202E⟩b⟨U+0085⟩⟨U+007F⟩\t⟨U+2066⟩ö"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	data, _ := json.Marshal(text)
	var back string
	if got := wording.JSON(data); json.Unmarshal(got, &back) != nil || back != text ||
		strings.ContainsAny(string(got), "\u202e\u0085\x7f\u2066") {
		t.Errorf("%q means %q, want %q", got, back, text)
	}
}
