package report

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsbo/internal/testkit"
)

// sideBySide writes a page of two parts, one of which has a figure of the other's runs.
func sideBySide(t testing.TB) (path string) {
	t.Helper()
	all := loaded(t, eight()...)
	for _, r := range all {
		r.Label = "method " + r.method()
	}
	f, ok := FigureOf(all[:3], "train_loss_iterations", "Figure_1a", "(a) ")
	if !ok {
		t.Error("runs of one name must have a figure of each loss")
	}
	table := [][]string{{"method", "Φ", "s", ""}, {"method dsoba", "0.5", "–", "refused"}, {"<b>", "10", "2", ""}}
	dir := t.TempDir()
	path = testkit.Get(WriteParts(dir, "both.html", "Two tasks", "A lead.", []Part{
		{Title: "First", Sentence: "Lowest Φ: dsoba.", Hint: "Medians.", Table: table, Answers: []Answer{{"yes", "so"}},
			Figures: []drawing{f}, Runs: all[:3], Name: "first-"},
		{Title: "Second", Warnings: []string{"jhip: refused"}, Runs: all, Name: "second-"}, {Title: "Nothing ran"},
	}))
	for _, name := range []string{"first-Figure_1a", "first-phi_bytes", "second-test_loss_seconds"} {
		testkit.Get(os.Stat(filepath.Join(dir, "figures", name+".svg")))
	}
	return path
}

// TestParts: runs under one name are one line, whatever they differ in; numbers are right-aligned
// columns, and texts stay texts.
func TestParts(t *testing.T) {
	testkit.Long(t, "draws many figures")
	page := checkPage(t, testkit.Get(os.ReadFile(sideBySide(t))))
	for _, want := range []string{`id="figure-0-phi"`, `id="figure-1-test_loss"`,
		"(a) Loss, training against iterations", `"name":"method madsbo_tuned"`, "<b>yes</b>: so",
		`<th scope="row" data-sort="&lt;b&gt;">`,
		`<td class="number" data-sort="10">10`, `<td class="number" data-sort="">–`, `<td data-sort="refused">`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if n := strings.Count(page, "<code>"); n != 1+8 {
		t.Errorf("%d commands, want one of each method in each part", n)
	}
	unlike := loaded(t, fixture{task: "a", method: "m", done: 5}, fixture{task: "b", method: "m", done: 5})
	if _, err := WriteParts(t.TempDir(), "a.html", "", "", []Part{{Runs: unlike}}); err == nil {
		t.Error("runs of unlike tasks must be refused")
	}
}

// switches: the axis of a part is its own.
var switches = inspection{`
	document.getElementById("axis-1bytes").click();
	return sheets.map(s => s.axes[s.axis].name);`, func(t *testing.T, seen json.RawMessage) {
	if string(seen) != `["iterations","bytes"]` {
		t.Errorf("axes %s, want that of the second part alone changed", seen)
	}
}}

// TestLevelsOfOneMethod: the figure of one method among others' has the first level alone, as a
// figure of several has; a run that has no others to be told from shows all.
func TestLevelsOfOneMethod(t *testing.T) {
	one := loaded(t, scenarios()["finished"]...)
	for _, c := range []struct {
		label, name string
		levels      int
	}{{"", "accuracy_iterations", 2}, {"a method", "test_accuracy_iterations", 1}} {
		one[0].Label = c.label
		f, _ := FigureOf(one, c.name, "", "")
		got := 0
		for _, s := range f.Series {
			if s.Reference {
				got++
			}
		}
		if got != c.levels {
			t.Errorf("label %q: %d levels, want %d", c.label, got, c.levels)
		}
	}
}
