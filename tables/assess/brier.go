package assess

import (
	"math"
	"slices"

	"dsbo/internal/num"
)

// Limits of Brier scores. At a time at which a site has fewer rows at risk than leastAtRisk, or a
// smaller share of uncensored rows than leastInView, its rows do not enter the score: the weights
// 1/share would be large and noisy.
const (
	leastAtRisk = 5
	leastInView = 0.1
	riskBins    = 10 // of predicted probabilities of an event, for the calibration
)

// shownTimes is the number of times at which scores are reported by [Brier.Shown].
const shownTimes = 3

// A Brier accumulates the squared errors of predicted survival probabilities at the edges of a
// grid, over the test rows of all sites. Rows that are not censored get the inverse of the
// probability of being uncensored as their weight, so that they stand in for the censored ones
// (Graf and others 1999); the site's own Kaplan-Meier curve of censoring estimates it.
type Brier struct {
	grid  []float64
	shown [shownTimes]int // indices of edges in grid; 0: none
	// numbers has perEdge sums for each of mostBins edges (rows, squared errors of the model, and
	// of the curve without features), then perRisk sums for each bin of each time shown.
	numbers []float64
	errors  []float64 // sums of squared influences of rows, for each time shown, then the integral
}

// perEdge and perRisk are how many numbers an edge, and a bin of predictions, has.
const (
	perEdge = 3
	perRisk = 3 // rows, predicted events, true ones
)

// NewBrier returns sums of 0 for a grid. The times shown are the edges up to which about 25, 50 and
// 75 % of the events have happened; events[k] is the count of bin k. Before the sites have met,
// grid is empty; the number of sums is the same, since it is announced then.
func NewBrier(grid, events []float64) *Brier {
	b := &Brier{grid: grid, numbers: make([]float64, perEdge*mostBins+shownTimes*riskBins*perRisk),
		errors: make([]float64, shownTimes+1)}
	if len(grid) == 0 {
		return b
	}
	events = events[:len(grid)-1]
	happened, total, nearest := 0.0, sum(events), [shownTimes]float64{}
	for k, n := range events {
		happened += n
		for of := range b.shown {
			distance := math.Abs(happened/total - float64(float64(of+1)/(shownTimes+1)))
			if b.shown[of] == 0 || distance < nearest[of] {
				b.shown[of], nearest[of] = k+1, distance
			}
		}
	}
	return b
}

// Numbers and Errors return sums to be replaced by their sums over all sites, in this order.
func (b *Brier) Numbers() []float64 { return b.numbers }

// Errors returns the sums of [Brier.AddErrors].
func (b *Brier) Errors() []float64 { return b.errors }

// A JudgedSite is the test rows of a site, with the curves that weigh them and that they are
// compared with.
type JudgedSite struct {
	Times, Rows []float64                        // of the test rows, as [KaplanMeier] takes them
	View        steps                            // share of all rows that is not censored yet
	Null        steps                            // survival curve of the training rows
	Survival    func(row int, t float64) float64 // predicted probability of no event up to t
}

// inView reports whether a site's rows enter the score at a time: enough are at risk, and enough
// are not censored yet.
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

// weight returns the weight of a test row at time t, 0 if it was censored before, and whether its
// event has happened by then.
func (s JudgedSite) weight(row int, t float64) (weight float64, event bool) {
	switch at := math.Abs(s.Times[row]); {
	case at > t:
		share, _ := s.View.At(t)
		return 1 / share, false
	case isEvent(s.Times[row]): // known until just before it, since events come before censoring
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

// Add adds a site's test rows to the sums: at each edge of the grid the number of rows, the
// weighted squared errors of the predictions, and the errors of the Kaplan-Meier curve; at each
// time shown also the rows, predicted and observed events by bins of the predicted risk. Edges at
// which the site has too few rows in view are skipped.
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
				bin := min(int((1-p)*riskBins), riskBins-1) // a risk of 1 belongs to the last one
				group := b.numbers[perEdge*mostBins+(of*riskBins+bin)*perRisk:]
				group[0] += n
				group[1] += float64(n * (1 - p))
				if event {
					group[2] += float64(n * w)
				}
			}
		}
	}
}

// AddErrors adds the influences of a site's test rows to the errors: by how much the score at each
// time, and its integral over time, would change per row. It needs the scores, so Numbers must be
// the sums over all sites by then.
func (b *Brier) AddErrors(s JudgedSite) {
	var edges []int // in view, which does not depend on the row
	for edge, t := range b.grid {
		if edge > 0 && s.inView(t) {
			edges = append(edges, edge)
		}
	}
	for row, n := range s.Rows {
		integral := 0.0
		for _, edge := range edges {
			rows, score, _ := b.at(edge)
			w, event := s.weight(row, b.grid[edge])
			change := (square(w, event, s.Survival(row, b.grid[edge])) - score) / rows
			integral += float64(change * b.width(edge))
			for of, shown := range b.shown {
				if shown == edge {
					b.errors[of] += float64(n * change * change)
				}
			}
		}
		b.errors[shownTimes] += float64(n * integral * integral)
	}
}

// at returns the number of rows in the score at an edge, the score, and the score of the curves
// without features.
func (b *Brier) at(edge int) (rows, score, null float64) {
	of := b.numbers[perEdge*(edge-1):]
	return of[0], of[1] / of[0], of[2] / of[0]
}

// width returns the weight of an edge in the integral: the width of the bin that it ends, as a
// share of all bins at whose ends there are rows in the score.
func (b *Brier) width(edge int) float64 {
	total := 0.0
	for k := range b.grid[1:] {
		if b.numbers[perEdge*k] > 0 {
			total += b.grid[k+1] - b.grid[k]
		}
	}
	return (b.grid[edge] - b.grid[edge-1]) / total
}

// A Score is a Brier score with its interval of 95 %. Null is the score of the sites' own survival
// curves, which use no features.
type Score struct {
	Time                   float64 // of the prediction; of an integral the upper limit
	Value, Low, High, Null float64
}

// scored returns a score in its interval, by Student's distribution.
func (b *Brier) scored(t, value, null, rows float64, of int) Score {
	reach := float64(num.StudentQuantile(0.975, max(1, int(rows)-1)) * math.Sqrt(b.errors[of]))
	return Score{t, value, max(0, value-reach), value + reach, null}
}

// eachShown yields the times shown by number, with their edges, without the ones that few events
// made equal to an earlier one, or at which no row is in the score.
func (b *Brier) eachShown(yield func(of, edge int) bool) {
	for of, edge := range b.shown {
		isNew := edge > 0 && !slices.Contains(b.shown[:of], edge)
		if isNew && b.numbers[perEdge*(edge-1)] > 0 && !yield(of, edge) {
			return
		}
	}
}

// Shown returns the scores at up to three times.
func (b *Brier) Shown() (list []Score) {
	for of, edge := range b.eachShown {
		rows, score, null := b.at(edge)
		list = append(list, b.scored(b.grid[edge], score, null, rows, of))
	}
	return list
}

// Integrated returns the mean of the score over time, up to the last edge with rows in the score.
// Its interval has the degrees of freedom of the edge with the fewest rows.
func (b *Brier) Integrated() (s Score) {
	fewest := math.Inf(1)
	for k := range b.grid[1:] {
		if b.numbers[perEdge*k] == 0 {
			continue
		}
		rows, score, null := b.at(k + 1)
		fewest, s.Time = min(fewest, rows), b.grid[k+1]
		s.Value += float64(b.width(k+1) * score)
		s.Null += float64(b.width(k+1) * null)
	}
	return b.scored(s.Time, s.Value, s.Null, fewest, shownTimes)
}

// A calibration compares, for groups of rows with similar predictions, the mean predicted
// probability of an event up to a time with the observed share.
type calibration struct {
	Time      float64   `json:"time"`
	Rows      []float64 `json:"rows"`
	Predicted []float64 `json:"predicted"`
	Observed  []float64 `json:"observed"`
}

// Calibrations returns a calibration for each of [Brier.Shown].
func (b *Brier) Calibrations() (list []calibration) {
	for of, edge := range b.eachShown {
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
