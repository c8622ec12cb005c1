package compare

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/runs"
)

// TestPaper: one call makes figures 1 to 3 in the paper's layout, with the training curve, and
// Table 1, and each claim has yes or no.
func TestPaper(t *testing.T) {
	testkit.Longest(t, "runs all of the paper")
	folder, out := t.TempDir(), t.TempDir()
	testkit.OK(testkit.WriteMNIST(folder, 150, 30))
	t.Setenv("DSBO_DATA", folder)
	r := testkit.Get(Run(t.Context(), Paper(true), Options{Out: out, Tasks: all()}))
	testkit.OK(r.AddPaper(t.Context(), true))
	page := pageOf(t, r, out)
	for i, want := range []struct{ figures, answers int }{{3, 9}, {3, 10}, {6, 3}, {0, 2}} {
		if p := r.Plates[i]; len(p.Figures) != want.figures || len(p.Answers) != want.answers {
			t.Errorf("%s has %d figures and %d answers, want %+v", p.Title, len(p.Figures), len(p.Answers), want)
		}
	}
	for _, want := range []string{"(b) MNIST: Loss, training against iterations",
		"<h2>Table 1", "<b>yes</b>: numbers sent",
		"they show that all works, not which claims are true"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, name := range []string{"Figure_1a", "Figure_1c", "Figure_2b", "Figure_3f"} {
		if _, err := os.Stat(filepath.Join(out, "figures", name+".svg")); err != nil {
			t.Error(err)
		}
	}
	if rows := r.Plates[3].Table; len(rows) != 9 || len(rows[1]) != 8 {
		t.Errorf("Table 1 is %v", rows)
	}
}

// TestClaims: what decides on yes and no is each claim's own number.
func TestClaims(t *testing.T) {
	entryOf := func(name string, from, to, accuracy, seconds float64, bytes int64) *entry {
		last := runs.Record{Iteration: 1, Phi: runs.Number(to), TestAccuracy: runs.Number(accuracy), Seconds: seconds}
		last.Bytes = bytes
		all := []*trial{{State: runs.Finished, Records: []runs.Record{{Phi: runs.Number(from)}, last},
			Summary: runs.Summary{Best: 1}}}
		return &entry{Method: method{Name: name, Algorithm: strings.ToLower(name)}, Best: all}
	}
	spec := &Spec{Choose: phi}
	r := &Result{Rankings: []*ranking{{Task: task{Name: "a"}, Spec: spec, untuned: &entry{}, Target: 2,
		targets: map[uint64]float64{0: 2},
		Entries: []*entry{entryOf(letter, 3, 2.9971, 0.9, 1, 1), entryOf(letter, 3, 2.9969, 0.899, 1, 1),
			entryOf("MA-DSBO", 3, 2, 1, 5, 70), entryOf("JHIP", 3, 2, 1, 5, 71), {Method: method{Algorithm: "gbdsbo"},
				Best: []*trial{{State: runs.Diverged}}}}}}}
	var got []string
	for _, c := range append(append(r.Rankings[0].learns(), r.Rankings[0].tunes()...), r.Rankings[0].cheaper()...) {
		got = append(got, c.Word)
	}
	// 0.9 and less of right answers; Φ falls by 0.00097 and by 0.00103 of it; equal time, fewer
	// bytes, and a rival that has diverged
	if want := "yes no no yes no yes – –"; strings.Join(got, " ") != want {
		t.Errorf("the answers are %v, want %s", got, want)
	}
}
