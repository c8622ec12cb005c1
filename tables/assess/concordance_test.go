package assess

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"dsbo/internal/testkit"
)

// ExampleConcordance is three rows of a site, the last of which was lost sight of.
func ExampleConcordance() {
	var c Concordance
	c.AddSite([]float64{2, 5, -7}, []float64{1.5, -0.3, 0.1}, []float64{1, 1, 1})
	fmt.Printf("%.0f pairs\n", c.pairs())
	// Output: 3 pairs
}

// TestConcordanceLikeR: c and its error are as by R's package survival at its coefficients.
func TestConcordanceLikeR(t *testing.T) {
	for _, name := range []string{"lung", "veteran"} {
		var of struct {
			Time, Status, Mean, Deviation []float64
			Site                          []int
			X                             [][]float64
			Efron                         struct {
				Coefficients []float64
				Concordance  struct {
					C, SE, Concordant, Discordant float64
					Tied                          float64 `json:"tied_x"`
				}
			}
		}
		testkit.OK(json.Unmarshal(testkit.Get(os.ReadFile("../../models/testdata/survival_"+name+".json")), &of))
		var c Concordance
		for site := range slices.Max(of.Site) + 1 {
			var times, scores, rows []float64
			for row, at := range of.Site {
				if at != site {
					continue
				}
				score := 0.0
				for j, v := range of.X[row] {
					score += (v - of.Mean[j]) / of.Deviation[j] * of.Efron.Coefficients[j]
				}
				times = append(times, of.Time[row]*(2*of.Status[row]-1))
				scores, rows = append(scores, score), append(rows, 1)
			}
			c.AddSite(times, scores, rows)
		}
		want := of.Efron.Concordance
		got, pairs := c.Interval(), want.Concordant+want.Discordant+want.Tied
		for _, d := range [][2]float64{{got.Value, want.C}, {c.deviation(), want.SE}, {c.pairs(), pairs}} {
			if !(math.Abs(d[0]-d[1]) <= 1e-6*max(1, d[1])) {
				t.Errorf("%s: %g, want %g", name, d[0], d[1])
			}
		}
		if !(got.Low < got.Value && got.Value < got.High) {
			t.Errorf("%s: interval %v", name, got)
		}
	}
}

// TestFewestPairs: c is told of 100 pairs on.
func TestFewestPairs(t *testing.T) {
	for pairs := 99; pairs <= 100; pairs++ {
		var c Concordance // one event, and rows that were lost sight of after it
		times, scores := []float64{1}, []float64{0.5}
		for k := range pairs {
			times, scores = append(times, -2), append(scores, float64(k%2))
		}
		c.AddSite(times, scores, slices.Repeat([]float64{1}, pairs+1))
		if i := c.Interval(); c.pairs() != float64(pairs) || (i.Value == i.Value) != (pairs == 100) {
			t.Errorf("%d pairs: %g and %v", pairs, c.pairs(), i)
		}
	}
}

// TestConcordanceRows: rows that stand for several are as many rows.
func TestConcordanceRows(t *testing.T) {
	var weighted, repeated Concordance
	r := rand.New(rand.NewPCG(1, 2))
	var times, scores, rows, allTimes, allScores, ones []float64
	for range 30 {
		k := 1 + r.IntN(3)
		times, scores = append(times, float64(1+r.IntN(9))*float64(1-2*r.IntN(2))), append(scores, float64(r.IntN(8)))
		rows = append(rows, float64(k))
		for range k {
			allTimes, allScores = append(allTimes, times[len(times)-1]), append(allScores, scores[len(scores)-1])
			ones = append(ones, 1)
		}
	}
	weighted.AddSite(times, scores, rows)
	repeated.AddSite(allTimes, allScores, ones)
	if a, b := weighted.Interval(), repeated.Interval(); a != b {
		t.Errorf("weights: %v, repeated: %v", a, b)
	}
}

// TestConcordanceHolds: of intervals over draws of 3 sites of 40 rows, with rising hazards and with
// none, 95 % have the c of many rows: by chance the share is within 3 √(.95·.05/1000) = 0.021.
func TestConcordanceHolds(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, slope := range []float64{0, 1} {
		draw := func(c *Concordance, sites, n int) {
			for range sites {
				times, scores, rows := make([]float64, n), make([]float64, n), make([]float64, n)
				for i := range times {
					scores[i], rows[i] = r.NormFloat64(), 1
					event, end := r.ExpFloat64()*math.Exp(-slope*scores[i]), 2*r.ExpFloat64()
					if times[i] = event; end < event {
						times[i] = -end
					}
				}
				c.AddSite(times, scores, rows)
			}
		}
		var many Concordance
		draw(&many, 3, 20_000)
		truth, held := many.Interval().Value, 0
		const draws = 1000
		for range draws {
			var c Concordance
			draw(&c, 3, 40)
			if i := c.Interval(); i.Low <= truth && truth <= i.High {
				held++
			}
		}
		if share := float64(held) / draws; !(math.Abs(share-0.95) <= 0.021) {
			t.Errorf("slope %g: intervals hold %.3f in %.3f of draws", slope, truth, share)
		}
	}
}

// TestTiedTimes: rows of one time are cut in those without an event, which come first, and those
// with one, however short the times are.
func TestTiedTimes(t *testing.T) {
	got := tiedTimes([]float64{.2, -.2, .3, -.1}, []int{3, 1, 0, 2})
	if want := "[{[3] []} {[1] [0]} {[] [2]}]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}
