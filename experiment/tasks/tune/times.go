package tune

import (
	"fmt"
	"slices"

	"dsbo/data"
	"dsbo/experiment/site"
	"dsbo/runs"
	"dsbo/tables/assess"
)

// A timedRows is a site's rows: their times, negative without an event, the number of rows that
// each represents, and their hazards relative to the mean row's.
type timedRows struct{ times, rows, hazards []float64 }

// timed returns the rows of site i that made the judged model, and its test rows.
func (t judge) timed(i int) (made, test timedRows) {
	p := t.prepared
	left := p.Times[i] // of all its rows, set by set
	for k, e := range []data.Examples{p.Data.Shards[i].Train, p.Data.Shards[i].Val, p.Data.Shards[i].Test} {
		if e.Len() == 0 || k == 1 && p.Folds > 0 {
			continue
		}
		_, hazards, rows := t.survivalTimes(e)
		to := &made
		if k == 2 {
			to = &test
		}
		*to = to.with(timedRows{left[:len(rows)], rows, hazards})
		left = left[len(rows):]
	}
	return made, test
}

// with returns the rows of both.
func (r timedRows) with(other timedRows) timedRows {
	return timedRows{slices.Concat(r.times, other.times), slices.Concat(r.rows, other.rows),
		slices.Concat(r.hazards, other.hazards)}
}

// sumTimes sums what add adds for the rows of each site, with the test rows or without.
func (t judge) sumTimes(name string, n int, withTest bool, add func(part []float64, r timedRows)) ([]float64, error) {
	all := make([]float64, n)
	return all, t.run.Collective.Sum(name, all, func(i int, part []float64) error {
		made, test := t.timed(i)
		if withTest {
			made = made.with(test)
		}
		add(part, made)
		return nil
	})
}

// findBaseline finds, by sums over the rows of which the model is, the hazard of the mean row in
// bins of time, with the test rows if the model has them; and the events of each bin.
func (t judge) findBaseline(withTest bool) (grid, events []float64, err error) {
	beyond, err := t.sumTimes("rows beyond public times", len(assess.Ladder()), withTest,
		func(part []float64, r timedRows) { assess.Beyond(part, r.times, r.rows) })
	if err != nil {
		return nil, nil, err
	}
	edges := assess.Bins(beyond)
	counts, err := t.sumTimes("events, rows and sites at risk", assess.BinNumbers, withTest, func(
		part []float64, r timedRows) {
		assess.CountBins(part, edges, r.times, r.rows)
	})
	if err != nil {
		return nil, nil, err
	}
	grid = assess.Grid(edges, counts, t.sites)
	sums, err := t.sumTimes("events, time at risk times hazards", assess.HazardNumbers, withTest, func(
		part []float64, r timedRows) {
		assess.AddHazard(part, grid, r.times, r.rows, r.hazards)
	})
	if err != nil {
		return nil, nil, err
	}
	if b := assess.NewBaseline(grid, sums); b.Horizon() > 0 {
		t.made.Baseline = &b
	}
	for k := range grid[1:] {
		events = append(events, sums[2*k])
	}
	return grid, events, nil
}

// keepBaseline finds the baseline hazard of the kept model, and the curve of all rows.
func (t judge) keepBaseline(a *runs.Assessment) error {
	if t.prepared.Times == nil {
		return nil
	}
	grid, _, err := t.findBaseline(t.refits())
	if err != nil {
		return err
	}
	sums, err := t.sumTimes("what sites' curves leave", assess.CurveNumbers, true, func(part []float64, r timedRows) {
		assess.AddCurve(part, grid, r.times, r.rows)
	})
	a.Survival.Curve = runs.SurvivalCurve(assess.NewCurve(grid, sums))
	return err
}

// assessTimes finds how far the probabilities of no event are from what becomes of the test rows,
// by a baseline hazard of the rows that made the model.
func (t judge) assessTimes(a *runs.Assessment) error {
	grid, events, err := t.findBaseline(false)
	if err != nil {
		return err
	}
	b := assess.NewBrier(grid, events)
	sum := func(name string, of func(*assess.Brier) []float64, add func(*assess.Brier, assess.JudgedSite)) error {
		return t.run.Collective.Sum(name, of(b), func(i int, part []float64) error {
			own := assess.NewBrier(grid, events)
			copy(own.Numbers(), b.Numbers())
			clear(of(own))
			made, test := t.timed(i)
			all := made.with(test)
			add(own, assess.JudgedSite{Times: test.times, Rows: test.rows,
				View: assess.KaplanMeier(all.times, all.rows, true),
				Null: assess.KaplanMeier(made.times, made.rows, false),
				Survival: func(row int, at float64) float64 {
					return t.made.Baseline.Survival(at, test.hazards[row])
				}})
			copy(part, of(own))
			return nil
		})
	}
	if err = sum("squared errors at edges of bins", (*assess.Brier).Numbers, (*assess.Brier).Add); err == nil {
		err = sum("changes of squared errors", (*assess.Brier).Errors, (*assess.Brier).AddErrors)
	}
	if err != nil {
		return err
	}
	add := func(name, what string, s assess.Score) {
		a.Measures = append(a.Measures, measure(name, fmt.Sprintf("%s; each site's own curve, without features, "+
			"has %.3g", what, s.Null), assess.Interval{Value: s.Value, Low: s.Low, High: s.High}))
	}
	for _, s := range b.Shown() {
		add(fmt.Sprintf("Brier score at %g", s.Time), "mean squared error of the probability of no event up to then", s)
	}
	if s := b.Integrated(); s.Time > 0 {
		add(fmt.Sprintf("Brier score up to %g", s.Time), "mean over these times", s)
	}
	for _, c := range b.Calibrations() {
		a.Survival.Calibrations = append(a.Survival.Calibrations, runs.TimeCalibration(c))
	}
	return nil
}

// timesSums returns what is sent of times, if there are any, for a plan.
func timesSums(t *tune) []site.Quantity {
	if t.prepared.Times == nil {
		return nil
	}
	often := site.Once
	var list []site.Quantity
	if judgesSurvival(t.prepared) {
		b := assess.NewBrier(nil, nil)
		often = site.Range{Least: 2, Most: 2}
		list = []site.Quantity{site.Sum("squared errors at edges of bins", len(b.Numbers()),
			site.Once), site.Sum("changes of squared errors", len(b.Errors()), site.Once)}
	}
	return append(list, site.Sum("rows beyond public times", len(assess.Ladder()), often),
		site.Sum("events, rows and sites at risk", assess.BinNumbers, often),
		site.Sum("events, time at risk times hazards", assess.HazardNumbers, often),
		site.Sum("what sites' curves leave", assess.CurveNumbers,
			site.Once))
}
