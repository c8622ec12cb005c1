package command

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsbo/internal/testkit"
)

// raw are what a text of others must not have where people read it.
const raw = "\x1b\u202e\u2066\x7f"

// TestFormulas: of names, words and classes that a spreadsheet would compute, or that move a
// terminal's cursor, no file of a run and no output has one raw, and a run from it knows all names.
func TestFormulas(t *testing.T) {
	dir := t.TempDir()
	for site := range 2 {
		r := rand.New(rand.NewPCG(uint64(site), 3))
		var text bytes.Buffer
		w := csv.NewWriter(&text)
		testkit.OK(w.Write([]string{"a", "w\u202e", "=1+1", "word\u2066", "t\x7f"}))
		for range 120 {
			words, classes := []string{"u", "@SUM(1)", "\x1b[31mred"}, []string{"no", "=1+2", "-1", "\x1b[2J"}
			testkit.OK(w.Write([]string{fmt.Sprint(r.NormFloat64()), fmt.Sprint(r.NormFloat64()), fmt.Sprint(r.IntN(9)),
				words[r.IntN(3)], classes[r.IntN(4)]}))
		}
		w.Flush()
		testkit.OK(os.WriteFile(filepath.Join(dir, fmt.Sprintf("s%d.csv", site)), text.Bytes(), 0o666))
	}
	data, out := filepath.Join(dir, "s{agent}.csv"), filepath.Join(dir, "run")
	var stdout, stderr bytes.Buffer
	tune := []string{"tune", "-data", data, "-target", "t\x7f", "-K", "2", "-v", "-penalty", "feature", "-folds", "0"}
	testkit.OK(run(t.Context(), append(tune, "-out", out), &stdout, &stderr))
	testkit.OK(run(t.Context(), append(tune, "-out", out+"2", "-from", out, "-seed", "2", "-report=false"), &stdout,
		&stderr))
	if said := stderr.String(); strings.Contains(said, "as they are new") || !strings.Contains(said, "λ starts at") {
		t.Errorf("a run from another one does not know its names: %s", said)
	}
	predicted := runCommand(t, "predict", "-model", out, "-data", filepath.Join(dir, "s0.csv"))
	for _, part := range []string{"prediction,", "p_=1+2", ",p_-1", `"""p_\x1b[2J"""`, "\n'=1+2,"} {
		if !strings.Contains(predicted, part) {
			t.Errorf("predictions have no %q: %.300s", part, predicted)
		}
	}
	var seen []string
	check := func(name, text string) {
		if i := strings.IndexAny(text, raw); i >= 0 {
			t.Errorf("%s has %+q", name, text[max(0, i-40):min(len(text), i+20)])
		}
	}
	check("stdout", stdout.String())
	check("stderr", stderr.String())
	check("predictions", predicted)
	testkit.OK(filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
		if opened := []string{".csv", ".html", ".svg", ".json", ".jsonl"}; slices.Contains(opened, filepath.Ext(path)) {
			text := string(testkit.Get(os.ReadFile(path)))
			check(path, text)
			seen = append(seen, filepath.Base(path))
		}
		return err
	}))
	for _, name := range []string{"lambda.csv", "report.html", "summary.json", "model.json", "assessment.json",
		"metrics.jsonl", "roc.svg"} {
		if !slices.Contains(seen, name) {
			t.Errorf("there is no %s among %s", name, seen)
		}
	}
	for line := range strings.Lines(string(testkit.Get(os.ReadFile(filepath.Join(out, "lambda.csv"))))) {
		if strings.ContainsAny(line[:1], "=+@-") {
			t.Errorf("a spreadsheet computes %s", line)
		}
	}
}
