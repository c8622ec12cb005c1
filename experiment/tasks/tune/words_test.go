package tune_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/runs"
)

// writeSeldom writes the tables of 3 sites, each with 14 words that 7 of its rows have, whose
// effects on y have a deviation, beside a number's effect and noise of deviation 1/3.
func writeSeldom(t *testing.T, deviation float64) (pattern string) {
	folder := t.TempDir()
	for i := range 3 {
		r := rand.New(rand.NewPCG(9, uint64(i)))
		var b strings.Builder
		b.WriteString("a,w,y\n")
		for word := range 14 {
			effect := deviation * r.NormFloat64()
			for range 7 {
				a := r.NormFloat64()
				fmt.Fprintf(&b, "%.4f,w%d-%d,%.4f\n", a, i, word, a+effect+r.NormFloat64()/3)
			}
		}
		testkit.OK(os.WriteFile(filepath.Join(folder, fmt.Sprintf("site%d.csv", i)), []byte(b.String()), 0o644))
	}
	return filepath.Join(folder, "site{agent}.csv")
}

// TestSeldomWords: words of seven rows, some five of them training rows, have weights of their own.
// Where they count they cut the loss on test rows to a quarter at the most; where they do not, the
// folds' penalties keep them from raising it by more than a twentieth.
func TestSeldomWords(t *testing.T) {
	for deviation, most := range map[float64]float64{1: 0.25, 0: 1.05} {
		data, folder := "-data="+writeSeldom(t, deviation), t.TempDir()
		var losses []float64
		for _, flags := range []string{"-rare=10", ""} {
			s := tuned(t, runs.Folder(filepath.Join(folder, "run"+flags)), data,
				"-target=y -model=linear -K=2 -alone=false -refit=none "+flags)
			losses = append(losses, float64(s.Models[len(s.Models)-1].TestLoss))
		}
		if !(losses[1] <= most*losses[0]) {
			t.Errorf("effects of deviation %g: the test loss is %g, and %g where words of 10 rows count", deviation,
				losses[1], losses[0])
		}
	}
}
