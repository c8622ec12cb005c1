package assess_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/tables/assess"
)

// A published table is rows with what R's survival finds of them.
type published struct {
	Time, Status, Mean, Deviation []float64
	Site                          []int
	X                             [][]float64
	Breslow                       struct{ Coefficients []float64 }
	KaplanMeier                   struct {
		Times  []float64
		Site   []struct{ Survival, SE []float64 }
		Pooled struct {
			Survival []float64
			SE       []float64 `json:"greenwood_se"`
		}
	} `json:"kaplan_meier"`
	Brier struct {
		Time     float64
		Cox      float64 `json:"cox_breslow"`
		Null     float64 `json:"null_site_kaplan_meier"`
		Observed float64 `json:"observed_events_weighted"`
	}
}

// readPublished returns a table, and of each site its times, negative without an event, and its
// hazards.
func readPublished(name string) (of published, times, hazards [][]float64) {
	testkit.OK(json.Unmarshal(testkit.Get(os.ReadFile("../../models/testdata/survival_"+name+".json")), &of))
	times, hazards = make([][]float64, 1+slices.Max(of.Site)), make([][]float64, 1+slices.Max(of.Site))
	for row, site := range of.Site {
		score := 0.0
		for j, x := range of.X[row] {
			score += (x - of.Mean[j]) / of.Deviation[j] * of.Breslow.Coefficients[j]
		}
		times[site] = append(times[site], of.Time[row]*(2*of.Status[row]-1))
		hazards[site] = append(hazards[site], math.Exp(score))
	}
	return of, times, hazards
}

// ones returns n rows.
func ones(n int) []float64 { return slices.Repeat([]float64{1}, n) }

// pooledCurve returns the curve of sites on a grid.
func pooledCurve(grid []float64, times [][]float64) assess.Curve {
	sums := make([]float64, perCurve*len(grid))
	for _, site := range times {
		part := make([]float64, len(sums))
		assess.AddCurve(part, grid, site, ones(len(site)))
		for k, v := range part {
			sums[k] += v
		}
	}
	return assess.NewCurve(grid, sums)
}

// perCurve is how many sums a bin has.
const perCurve = assess.CurveNumbers / 40

// TestCurve: a site's curve, and on a grid of a day, which no time falls within, the curve of all
// rows, equal R's survfit; its interval is Greenwood's on log(−log), of sites up to 8 % shorter
// than of all rows as one. On the grid of pooled counts it is within 0.008, as was measured.
func TestCurve(t *testing.T) {
	for _, name := range []string{"lung", "veteran"} {
		of, times, _ := readPublished(name)
		var days []float64
		for d := range 1001 {
			days = append(days, float64(d))
		}
		fine := pooledCurve(days, times)
		if fine.Share[1] == 1 && (fine.Low[1] != 1 || fine.High[1] != 1) { // before the first event
			t.Errorf("%s: the curve begins in %g to %g", name, fine.Low[1], fine.High[1])
		}
		coarse := pooledCurve(pooled(times), times)
		for k, at := range of.KaplanMeier.Times {
			for i, site := range times {
				got, _ := assess.KaplanMeier(site, ones(len(site)), false).At(at)
				if want := of.KaplanMeier.Site[i].Survival[k]; !(math.Abs(got-want) <= 1e-9) {
					t.Errorf("%s, site %d at %g: %.9f, want %.9f", name, i, at, got, want)
				}
			}
			want, se := of.KaplanMeier.Pooled.Survival[k], of.KaplanMeier.Pooled.SE[k]
			got, day := fine.Share[int(at)], int(at)
			if !(math.Abs(got-want) <= 1e-9) {
				t.Errorf("%s at %g: %.9f, want %.9f", name, at, got, want)
			}
			reach := math.Log(math.Log(fine.Low[day])/math.Log(got)) / 1.959964 * got * -math.Log(got)
			if reach/se > 1.001 || reach/se < .92 {
				t.Errorf("%s at %g: error %.5f, want %.5f", name, at, reach, se)
			}
		}
		for k, at := range coarse.Times {
			if got, want := coarse.Share[k], fine.Share[int(at)]; !(math.Abs(got-want) <= .008) {
				t.Errorf("%s on the grid at %g: %.4f, want %.4f", name, at, got, want)
			}
		}
	}
}

// judged returns the scores of sites whose probabilities of no event are given.
func judged(grid []float64, times [][]float64, of func(site, row int, t float64) float64) *assess.Brier {
	events := make([]float64, len(grid))
	events[len(grid)-2] = 1
	b := assess.NewBrier(grid, events)
	for pass := range 2 {
		sum := make([]float64, len([][]float64{b.Numbers(), b.Errors()}[pass]))
		for i, site := range times {
			own := assess.NewBrier(grid, events)
			s := assess.JudgedSite{Times: site, Rows: ones(len(site)),
				View:     assess.KaplanMeier(site, ones(len(site)), true),
				Null:     assess.KaplanMeier(site, ones(len(site)), false),
				Survival: func(row int, t float64) float64 { return of(i, row, t) }}
			part := own.Numbers()
			if own.Add(s); pass == 1 {
				copy(own.Numbers(), b.Numbers())
				own.AddErrors(s)
				part = own.Errors()
			}
			for k, v := range part {
				sum[k] += v
			}
		}
		copy([][]float64{b.Numbers(), b.Errors()}[pass], sum)
	}
	return b
}

// TestBrier: the score of Cox's model with each site's own baseline hazard, of each site's curve,
// and the events that calibration counts, equal what R finds.
func TestBrier(t *testing.T) {
	for _, name := range []string{"lung", "veteran"} {
		of, times, hazards := readPublished(name)
		at := of.Brier.Time
		b := judged([]float64{0, at}, times, func(site, row int, t float64) float64 {
			h := 0.0
			for _, v := range times[site] {
				risk := 0.0
				for other, u := range times[site] {
					if math.Abs(u) >= v {
						risk += hazards[site][other]
					}
				}
				if v > 0 && v <= t {
					h += 1 / risk
				}
			}
			return math.Exp(-h * hazards[site][row])
		})
		s, observed := b.Shown()[0], 0.0
		for _, s := range []assess.Score{s, b.Integrated()} {
			if low := max(0, 2*s.Value-s.High); !(s.High > s.Value) || !(math.Abs(s.Low-low) <= 1e-15) {
				t.Errorf("%s: the interval of %+v must reach as far down as up, to 0 at most", name, s)
			}
		}
		c := b.Calibrations()[0]
		for k, n := range c.Rows {
			observed += n * c.Observed[k]
		}
		for what, v := range map[string][2]float64{"Cox": {s.Value, of.Brier.Cox}, "null": {s.Null, of.Brier.Null},
			"events": {observed, of.Brier.Observed}, "integral": {b.Integrated().Value, of.Brier.Cox}} {
			if !(math.Abs(v[0]-v[1]) <= 1e-6) {
				t.Errorf("%s, %s: %.8f, want %.8f", name, what, v[0], v[1])
			}
		}
	}
}

// TestBrierCovers: intervals of scores hold the score on all rows in 95 % of draws and more, but
// for 4 deviations of the share, where half of the rows are lost sight of.
func TestBrierCovers(t *testing.T) {
	const draws, rows = 300, 120
	grid := []float64{0, .5, 1}
	// with a hazard h = e^{x/2} predicted as e^{−h t}, the score at t is E e^{−ht}(1 − e^{−ht})
	var truth [3]float64
	r := rand.New(rand.NewPCG(1, 5))
	for range 200_000 {
		h := math.Exp(r.NormFloat64() / 2)
		for k, at := range grid[1:] {
			s := math.Exp(-h * at)
			truth[k] += s * (1 - s) / 200_000
		}
	}
	truth[2] = (truth[0] + truth[1]) / 2
	held := [2]float64{}
	for range draws {
		times, hazards := make([][]float64, 3), make([][]float64, 3)
		for row := range rows {
			h := math.Exp(r.NormFloat64() / 2)
			at, end := r.ExpFloat64()/h, 1.5*r.ExpFloat64()
			if end < at {
				at = -end
			}
			times[row%3], hazards[row%3] = append(times[row%3], at), append(hazards[row%3], h)
		}
		b := judged(grid, times, func(site, row int, t float64) float64 { return math.Exp(-hazards[site][row] * t) })
		for k, s := range []assess.Score{b.Shown()[1], b.Integrated()} {
			if want := truth[1+k]; s.Low <= want && want <= s.High {
				held[k]++
			}
		}
	}
	for k, n := range held {
		if n < .95*draws-4*math.Sqrt(.95*.05*draws) {
			t.Errorf("measure %d: %g of %d", k, n, draws)
		}
	}
}

// TestLeftOut: a site with fewer than 5 rows at risk at a time does not judge there, nor one where
// less than a tenth is in view.
func TestLeftOut(t *testing.T) {
	for _, c := range []struct {
		times []float64
		rows  float64
	}{
		{[]float64{1, 2, 3, 3, 3, 3}, 0}, {[]float64{1, 3, 3, 3, 3, 3}, 6},
		{slices.Concat(slices.Repeat([]float64{-1}, 45), ones(5), []float64{3, 3, 3, 3, 3})[:50], 0},
		{slices.Concat(slices.Repeat([]float64{-1}, 45), slices.Repeat([]float64{3}, 5)), 50},
		{slices.Concat(slices.Repeat([]float64{-1}, 46), slices.Repeat([]float64{3}, 5)), 0},
	} {
		b := judged([]float64{0, 2.5}, [][]float64{c.times}, func(int, int, float64) float64 { return .5 })
		if got := b.Numbers()[0]; got != c.rows {
			t.Errorf("%v: %g rows judge, want %g", c.times, got, c.rows)
		}
	}
}
