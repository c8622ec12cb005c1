package assess

import (
	"math"
	"math/rand/v2"
	"testing"

	"dsbo/internal/num"
)

// TestBrierByRows: scores, their errors, the integral and calibrations are what a sum over the rows
// of the sites gives that judge at a time, each row by its weight there.
func TestBrierByRows(t *testing.T) {
	grid, events := []float64{0, 1, 2, 3, 5, 8}, []float64{8, 8, 8, 8, 9}
	r := rand.New(rand.NewPCG(3, 9))
	var sites []JudgedSite
	for site, n := range []int{40, 25, 12} {
		var times, rows, p []float64
		for range n {
			at := 4 * r.ExpFloat64()
			if end := 6 * r.ExpFloat64(); end < at {
				at = -end
			}
			if site == 2 { // of whom less than five are at risk later
				at = math.Mod(at, 2.5)
			}
			times, rows, p = append(times, at), append(rows, float64(1+len(times)%3)),
				append(p, .05+.4*r.Float64())
		}
		sites = append(sites, JudgedSite{Times: times, Rows: rows, View: KaplanMeier(times, rows, true),
			Null:     KaplanMeier(times, rows, false),
			Survival: func(row int, t float64) float64 { return math.Exp(-p[row] * t) }})
	}
	b := NewBrier(grid, events)
	for _, s := range sites {
		b.Add(s)
	}
	for _, s := range sites {
		b.AddErrors(s)
	}
	type edge struct{ rows, score, null, width float64 }
	var all [6]edge
	each := func(k int, f func(s JudgedSite, row int, n, w float64, event bool)) {
		for _, s := range sites {
			risk := 0.
			for row, at := range s.Times {
				if math.Abs(at) >= grid[k] {
					risk += s.Rows[row]
				}
			}
			share, _ := s.View.At(grid[k])
			if risk < 5 || share < .1 {
				continue
			}
			for row, at := range s.Times {
				switch {
				case math.Abs(at) > grid[k]:
					f(s, row, s.Rows[row], 1/share, false)
				case at > 0:
					f(s, row, s.Rows[row], 1/s.View.before(at), true)
				default:
					f(s, row, s.Rows[row], 0, false)
				}
			}
		}
	}
	squared := func(w float64, event bool, p float64) float64 {
		if event {
			return w * p * p
		}
		return w * (1 - p) * (1 - p)
	}
	total := 0.
	for k := 1; k < len(grid); k++ {
		e := &all[k]
		each(k, func(s JudgedSite, row int, n, w float64, event bool) {
			null, _ := s.Null.At(grid[k])
			e.rows += n
			e.score += n * squared(w, event, s.Survival(row, grid[k]))
			e.null += n * squared(w, event, null)
		})
		if e.rows > 0 {
			e.score, e.null, e.width = e.score/e.rows, e.null/e.rows, grid[k]-grid[k-1]
			total += e.width
		}
	}
	near := func(what string, k int, got, want float64) {
		if !(math.Abs(got-want) <= 1e-12*(1+math.Abs(want))) {
			t.Errorf("%s at %g: %.12g, want %.12g", what, grid[k], got, want)
		}
	}
	if all[2].rows == all[4].rows || all[1].rows == 0 {
		t.Fatalf("all sites judge at all times: %+v", all)
	}
	changes := map[[2]int]float64{}
	least, value, null, last := math.Inf(1), 0., 0., 0
	for k := 1; k < len(grid); k++ {
		e := all[k]
		if e.rows == 0 {
			continue
		}
		least, last = min(least, e.rows), k
		value, null = value+e.width/total*e.score, null+e.width/total*e.null
		each(k, func(s JudgedSite, row int, n, w float64, event bool) {
			for i := range sites {
				if len(sites[i].Times) == len(s.Times) {
					d := (squared(w, event, s.Survival(row, grid[k])) - e.score) / e.rows
					changes[[2]int{i, row}] += d * e.width / total
				}
			}
		})
	}
	shown := b.Shown()
	if len(shown) != 3 || shown[0].Time != 1 || shown[2].Time != 5 {
		t.Fatalf("scores at %+v", shown)
	}
	reach := func(rows, variance float64) float64 {
		return num.StudentQuantile(.975, int(rows)-1) * math.Sqrt(variance)
	}
	calibrations := b.Calibrations()
	for of, s := range shown {
		k, variance := b.shown[of], 0.
		var bins [10][3]float64
		each(k, func(s JudgedSite, row int, n, w float64, event bool) {
			p := s.Survival(row, grid[k])
			d := (squared(w, event, p) - all[k].score) / all[k].rows
			variance += n * d * d
			bin := &bins[int((1-p)*10)]
			bin[0], bin[1] = bin[0]+n, bin[1]+n*(1-p)
			if event {
				bin[2] += n * w
			}
		})
		near("score", k, s.Value, all[k].score)
		near("score of the curve", k, s.Null, all[k].null)
		near("upper end", k, s.High, all[k].score+reach(all[k].rows, variance))
		near("lower end", k, s.Low, max(0, all[k].score-reach(all[k].rows, variance)))
		at := 0
		for _, bin := range bins {
			if bin[0] == 0 {
				continue
			}
			c := calibrations[of]
			if at >= len(c.Rows) || c.Time != grid[k] {
				t.Fatalf("the calibration at %g has %d bins", c.Time, len(c.Rows))
			}
			near("rows of a bin", k, c.Rows[at], bin[0])
			near("predicted", k, c.Predicted[at], bin[1]/bin[0])
			near("observed", k, c.Observed[at], min(1, bin[2]/bin[0]))
			at++
		}
	}
	variance := 0.
	for of, d := range changes {
		variance += sites[of[0]].Rows[of[1]] * d * d
	}
	s := b.Integrated()
	near("mean score", last, s.Value, value)
	near("mean score of the curve", last, s.Null, null)
	near("upper end of the mean", last, s.High, value+reach(least, variance))
	near("last time", last, s.Time, grid[last])
	half := &Brier{grid: grid, numbers: b.numbers, errors: b.errors, shown: [3]int{2, 2, 0}}
	if got := half.Shown(); len(got) != 1 || got[0].Time != 2 || len(half.Calibrations()) != 1 {
		t.Errorf("one time that is nearest twice, and none, are shown as %+v", got)
	}
	for i := range half.numbers {
		half.numbers[i] = 0
	}
	if half.Shown() != nil || half.Calibrations() != nil {
		t.Error("scores without rows are shown")
	}
}
