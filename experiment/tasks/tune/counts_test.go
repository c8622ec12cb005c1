package tune_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/runs"
	"dsbo/tables"
	"dsbo/tables/modelfile"
)

// writeTrips writes the tables of 3 sites with 100 rows each of counts whose means are lognormal,
// as of trips, and whose first number is far out in some rows; it returns the pattern of their
// names and the largest count.
func writeTrips(t *testing.T, seed uint64) (pattern string, largest float64) {
	folder, r := t.TempDir(), rand.New(rand.NewPCG(seed, 3))
	for site := range 3 {
		text := "quality,income,trips\n"
		for range 100 {
			quality, income := r.NormFloat64(), r.NormFloat64()
			if r.IntN(40) == 0 {
				quality *= 6
			}
			mean := math.Exp(1.2*min(quality, 2) - .3*income + .8*r.NormFloat64())
			trips := 0.0
			for left := math.Exp(-mean); left < 1; trips++ { // by products of uniform numbers
				left /= r.Float64()
			}
			trips = max(0, trips-1)
			largest = max(largest, trips)
			text += fmt.Sprintf("%.4f,%.4f,%g\n", quality, income, trips)
		}
		testkit.OK(os.WriteFile(filepath.Join(folder, fmt.Sprintf("site%d.csv", site)), []byte(text), 0o600))
	}
	return filepath.Join(folder, "site{agent}.csv"), largest
}

// TestCountsAreBounded: no prediction of counts with a heavy tail is far above the largest of
// training rows, whatever a row has, and no loss is: of the model, of each site's own, and of
// structures by folds.
func TestCountsAreBounded(t *testing.T) {
	for seed := range uint64(3) {
		pattern, largest := writeTrips(t, seed)
		out := runs.Folder(filepath.Join(t.TempDir(), "run"))
		s := tuned(t, out, "-target=trips -task=count -model=linear -folds=3 -K=1 -data="+pattern)
		m := testkit.Get(modelfile.Open(string(out)))
		most := m.Recipe().Target.Most
		if n := math.Pow(300, .25); most > largest*n || most < 1 {
			t.Errorf("seed %d: predictions are bounded by %g; the largest count is %g", seed, most, largest)
		}
		far := testkit.Get(tables.New("", tables.NumberColumn("quality", []float32{100, -100, 0}),
			tables.NumberColumn("income", []float32{-100, 100, 0})))
		p := m.Predict(testkit.Get(m.Recipe().NewEncoder(far)), 0, 3)
		if p.Values[0] != most || !(p.Values[1] < p.Values[2]) {
			t.Errorf("seed %d: predictions are %v, want the first one to be %g", seed, p.Values, most)
		}
		// Half of the deviance of a row of count t at a prediction μ is μ − t + t log t/μ, where μ
		// is at most most, and t e⁻¹⁰ at least.
		bound := most + 10*largest
		for _, one := range s.Structures {
			if !(float64(one.Loss) < bound) {
				t.Errorf("seed %d: structure %s has the loss %g", seed, one.Name, float64(one.Loss))
			}
		}
		for i, site := range s.Sites {
			if !(float64(site.Alone.Loss) < bound) || !(float64(site.Tuned.Loss) < bound) {
				t.Errorf("seed %d, site %d: losses %g alone, %g together", seed, i, float64(site.Alone.Loss),
					float64(site.Tuned.Loss))
			}
		}
	}
}
