package assess

import (
	"math"
	"slices"

	"dsbo/internal/num"
)

// Rules of Brier scores: of a site's rows at a time the fewest at risk, and the least share that is
// not yet lost sight of, below which the site is left out there; and the bins of predictions.
const (
	leastAtRisk = 5
	leastInView = 0.1
	riskBins    = 10
)

// shownTimes is the number of times at which scores are reported by [Brier.Shown].
const shownTimes = 3

// A Brier has the squared errors of predicted probabilities of no event up to the edges of a grid,
// of test rows of all sites. Rows that are lost sight of have the weight of others like them
// (Graf and others 1999), by the site's own curve of these.
type Brier struct {
	grid    []float64
	shown   [shownTimes]int // places of edges in grid
	numbers []float64       // of each edge rows, squared errors, and without features; then of bins
	errors  []float64       // squares of the changes by rows, of the times shown and the integral
}

// perEdge and perRisk are how many numbers an edge, and a bin of predictions, has.
const (
	perEdge = 3
	perRisk = 3 // rows, predicted events, true ones
)

// NewBrier returns sums of 0 for a grid, and the events of its bins, which choose the times shown:
// the edges nearest to 25, 50 and 75 % of them. Without a grid, which is not known before sites
// have met, there are as many sums.
func NewBrier(grid, events []float64) *Brier {
	b := &Brier{grid: grid, numbers: make([]float64, perEdge*mostBins+shownTimes*riskBins*perRisk),
		errors: make([]float64, shownTimes+1)}
	total, nearest := 0.0, [shownTimes]float64{}
	bins := max(len(grid)-1, 0)
	for k := range bins {
		total += events[k]
	}
	before := 0.0
	for k := range bins {
		before += events[k]
		for of := range b.shown {
			away := math.Abs(before/total - float64(float64(of+1)/(shownTimes+1)))
			if b.shown[of] == 0 || away < nearest[of] {
				b.shown[of], nearest[of] = k+1, away
			}
		}
	}
	return b
}

// Numbers and Errors return sums to be replaced by their sums over all sites, in this order.
func (b *Brier) Numbers() []float64 { return b.numbers }

// Errors returns the sums of [Brier.AddErrors].
func (b *Brier) Errors() []float64 { return b.errors }

// A JudgedSite is the test rows of a site, and all its rows.
type JudgedSite struct {
	Times, Rows []float64                        // of the test rows, as [KaplanMeier] takes them
	View        steps                            // curve of rows that are lost sight of
	Null        steps                            // curve of events of the training rows
	Survival    func(row int, t float64) float64 // predicted probability of no event
}

// inView returns whether a site's rows judge at a time.
func (s JudgedSite) inView(t float64) bool {
	risk := 0.0
	for i, at := range s.Times {
		if math.Abs(at) >= t {
			risk += s.Rows[i]
		}
	}
	share, _ := s.View.At(t)
	return risk >= leastAtRisk && share >= leastInView
}

// weight returns what a test row counts at a time, and whether it has had the event then.
func (s JudgedSite) weight(row int, t float64) (weight float64, event bool) {
	switch at := math.Abs(s.Times[row]); {
	case at > t:
		share, _ := s.View.At(t)
		return 1 / share, false
	case isEvent(s.Times[row]):
		return 1 / s.View.before(at), true
	}
	return 0, false
}

// square returns the squared error of a probability of no event, by a row's weight.
func square(weight float64, event bool, survival float64) float64 {
	if !event {
		survival = 1 - survival
	}
	return float64(weight * survival * survival)
}

// Add adds a site's test rows to the sums: for each edge of the grid the rows, their weighted
// squared errors, and the same of the Kaplan-Meier curve; for each shown time the calibration by
// bins of risk.
func (b *Brier) Add(s JudgedSite) {
	for k, t := range b.grid[1:] {
		if !s.inView(t) {
			continue
		}
		null, _ := s.Null.At(t)
		for row, n := range s.Rows {
			w, event := s.weight(row, t)
			p := s.Survival(row, t)
			for j, v := range [perEdge]float64{1, square(w, event, p), square(w, event, null)} {
				b.numbers[perEdge*k+j] += float64(n * v)
			}
			for of, place := range b.shown {
				if place != k+1 {
					continue
				}
				bin := min(int((1-p)*riskBins), riskBins-1)
				to := b.numbers[perEdge*mostBins+(of*riskBins+bin)*perRisk:]
				to[0] += n
				to[1] += float64(n * (1 - p))
				if event {
					to[2] += float64(n * w)
				}
			}
		}
	}
}

// AddErrors counts the test rows of a site in the errors, once Numbers are the sums over all sites.
func (b *Brier) AddErrors(s JudgedSite) {
	seen := make([]bool, len(b.grid))
	for k, t := range b.grid {
		seen[k] = k > 0 && s.inView(t)
	}
	for row, n := range s.Rows {
		all := 0.0
		for k := range b.grid[1:] {
			if !seen[k+1] {
				continue
			}
			rows, score, _ := b.at(k + 1)
			w, event := s.weight(row, b.grid[k+1])
			change := (square(w, event, s.Survival(row, b.grid[k+1])) - score) / rows
			all += float64(change * b.width(k+1))
			for of, place := range b.shown {
				if place == k+1 {
					b.errors[of] += float64(n * change * change)
				}
			}
		}
		b.errors[shownTimes] += float64(n * all * all)
	}
}

// at returns of an edge the rows that judge there, the score, and the score without features.
func (b *Brier) at(edge int) (rows, score, null float64) {
	of := b.numbers[perEdge*(edge-1):]
	return of[0], of[1] / of[0], of[2] / of[0]
}

// width returns the share of an edge in the integral: of the time to the edge before, where some
// rows judge.
func (b *Brier) width(edge int) float64 {
	total := 0.0
	for k := range b.grid[1:] {
		if b.numbers[perEdge*k] > 0 {
			total += b.grid[k+1] - b.grid[k]
		}
	}
	return (b.grid[edge] - b.grid[edge-1]) / total
}

// A Score is a Brier score with its interval of 95 %, beside the score of each site's own curve.
type Score struct {
	Time                   float64 // up to which; of the integral the last one
	Value, Low, High, Null float64
}

// scored returns a score in its interval, by Student's distribution.
func (b *Brier) scored(t, value, null, rows float64, of int) Score {
	reach := float64(num.StudentQuantile(0.975, max(1, int(rows)-1)) * math.Sqrt(b.errors[of]))
	return Score{t, value, max(0, value-reach), value + reach, null}
}

// Shown returns the scores at up to three times.
func (b *Brier) Shown() (list []Score) {
	for of, edge := range b.shown {
		if edge == 0 || slices.Contains(b.shown[:of], edge) || b.numbers[perEdge*(edge-1)] == 0 {
			continue
		}
		rows, score, null := b.at(edge)
		list = append(list, b.scored(b.grid[edge], score, null, rows, of))
	}
	return list
}

// Integrated returns the mean of the score over time, up to the last time at which rows judge.
func (b *Brier) Integrated() (s Score) {
	least := math.Inf(1)
	for k := range b.grid[1:] {
		if b.numbers[perEdge*k] == 0 {
			continue
		}
		rows, score, null := b.at(k + 1)
		least, s.Time = min(least, rows), b.grid[k+1]
		s.Value += float64(b.width(k+1) * score)
		s.Null += float64(b.width(k+1) * null)
	}
	return b.scored(s.Time, s.Value, s.Null, least, shownTimes)
}

// A calibration is of rows with like predictions the mean probability of an event up to a time, and
// the share that has one.
type calibration struct {
	Time      float64   `json:"time"`
	Rows      []float64 `json:"rows"`
	Predicted []float64 `json:"predicted"`
	Observed  []float64 `json:"observed"`
}

// Calibrations returns one for each time shown.
func (b *Brier) Calibrations() (list []calibration) {
	for of, edge := range b.shown {
		if edge == 0 || slices.Contains(b.shown[:of], edge) || b.numbers[perEdge*(edge-1)] == 0 {
			continue
		}
		c := calibration{Time: b.grid[edge]}
		for bin := range riskBins {
			n := b.numbers[perEdge*mostBins+(of*riskBins+bin)*perRisk:][:perRisk]
			if n[0] > 0 {
				c.Rows, c.Predicted = append(c.Rows, n[0]), append(c.Predicted, n[1]/n[0])
				c.Observed = append(c.Observed, min(1, n[2]/n[0])) // the weights may be more than rows
			}
		}
		list = append(list, c)
	}
	return list
}
