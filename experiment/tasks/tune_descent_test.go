package tasks_test

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsbo/experiment"
	"dsbo/experiment/tasks"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// writeNumbers writes a table of five columns of numbers for each of four sites, with a class that
// all of them tell of and a column that splits the rows, and returns the value of -data.
func writeNumbers(folder string, rows int) string {
	r := rand.New(rand.NewPCG(0, 5))
	var weights [5]float64
	for j := range weights {
		weights[j] = 1.5 * r.NormFloat64()
	}
	for i := range 4 {
		var b strings.Builder
		b.WriteString("a,b,c,d,e,set,class\n")
		for row := range rows {
			output := 0.0
			for _, w := range weights {
				v := r.NormFloat64()
				output += w * v
				fmt.Fprintf(&b, "%.4f,", v)
			}
			class := "no"
			if r.Float64() < 1/(1+math.Exp(-output)) {
				class = "yes"
			}
			fmt.Fprintf(&b, "%s,%s\n", []string{"train", "validation", "train", "test"}[row%4], class)
		}
		testkit.OK(os.WriteFile(filepath.Join(folder, fmt.Sprintf("site%d.csv", i)), []byte(b.String()), 0o644))
	}
	return filepath.Join(folder, "site{agent}.csv")
}

// TestTuneReaches: where weak penalties are best, and the iterations fall short of them, the tuned
// λ is below the best constant all the same.
func TestTuneReaches(t *testing.T) {
	folder := t.TempDir()
	out := runs.Folder(filepath.Join(folder, "run"))
	args := []string{"-data=" + writeNumbers(folder, 200), "-target=class", "-split-column=set", "-folds=0",
		"-prior=0.5", "-alone=false", "-quiet", "-report=false", "-out=" + string(out)}
	testkit.OK(experiment.Run(t.Context(), tasks.Tune(), args, io.Discard, io.Discard))
	s := testkit.Get(out.ReadSummary())
	last := len(s.Models) - 1
	tuned := s.Models[last]
	for _, m := range s.Models[:last] {
		if !(tuned.Phi < m.Phi) {
			t.Errorf("Φ of %s is %g, that of %s %g", tuned.Name, tuned.Phi, m.Name, m.Phi)
		}
	}
	if notes := strings.Join(s.Verdict.Notes, " "); !tuned.Kept ||
		!strings.Contains(notes, "was found downhill from there") {
		t.Errorf("the tuned λ is kept: %t; notes: %s", tuned.Kept, notes)
	}
}
