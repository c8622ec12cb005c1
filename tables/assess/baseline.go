package assess

import (
	"math"
	"slices"

	"dsbo/internal/num"
)

// Limits of the grid: at most mostBins bins, each with at least leastEvents events. At the start of
// each bin at least leastRows rows must be at risk, from at least leastSites sites.
const (
	mostBins    = 40
	leastEvents = 5
	leastRows   = 10
	leastSites  = 3 // a sum over two shows each of them the other's term
)

// Ladder returns the public times among which horizons and steps are chosen, 10^k, 2·10^k and
// 5·10^k, ascending.
func Ladder() (times []float64) {
	for k := -9; k <= 12; k++ {
		for _, m := range []float64{1, 2, 5} {
			times = append(times, m*math.Pow10(k))
		}
	}
	return times
}

// isEvent reports whether a time ended with an event: −0 is a time of 0 without one.
func isEvent(t float64) bool { return !math.Signbit(t) }

// Beyond adds the number of rows with a time beyond each time of the ladder to counts. Times are
// negative where no event ended them; rows[i] is the number of rows that row i represents.
func Beyond(counts, times, rows []float64) {
	for k, end := range Ladder() {
		for i, t := range times {
			if math.Abs(t) > end {
				counts[k] += rows[i]
			}
		}
	}
}

// Bins returns the edges, starting at 0, of at most 40 bins of equal width. They extend to the
// first time of the ladder beyond which no row of any site has its time (beyond has the pooled
// counts of [Beyond]), or to its last. The width is the smallest time of the ladder that needs no
// more than 40 bins, or all of it.
func Bins(beyond []float64) (edges []float64) {
	ladder := Ladder()
	end := ladder[len(ladder)-1]
	if k := slices.Index(beyond, 0); k >= 0 {
		end = ladder[k]
	}
	step := end
	for _, s := range slices.Backward(ladder) { // the last match is the smallest
		if s < end && math.Round(end/s) <= mostBins {
			step = s
		}
	}
	for k := range int(math.Round(end/step)) + 1 {
		edges = append(edges, float64(float64(k)*step))
	}
	return edges
}

// Numbers of bins.
const (
	perBin        = 3                 // events, rows at risk where it begins, and whether there are any
	BinNumbers    = perBin * mostBins // of CountBins
	HazardNumbers = 2 * mostBins      // of AddHazard
)

// CountBins adds a site's counts to counts, which has BinNumbers entries. Bin k is (edges[k],
// edges[k+1]]; the first one includes 0. Times and rows are as in [Beyond]. A row is at risk in
// all bins up to the one that contains its time. The third number of a bin is 1 if the site has
// rows at risk there, so that the sum over the sites counts such sites.
func CountBins(counts, edges, times, rows []float64) {
	for k, end := range edges[1:] {
		bin := counts[perBin*k:][:perBin]
		for i, t := range times {
			at := math.Abs(t)
			if k > 0 && at <= edges[k] {
				continue
			}
			if bin[1] += rows[i]; at <= end && isEvent(t) {
				bin[0] += rows[i]
			}
		}
		if bin[1] > 0 {
			bin[2] = 1
		}
	}
}

// Grid joins adjacent bins, from the left, until each has 5 events. It stops at the first bin at
// whose start fewer than 10 rows are at risk, or rows of fewer than 3 sites: later estimates would
// be noise, or reveal one site's counts to another. Fewer than 5 events at the end belong to no
// bin. counts is the sum of CountBins over all sites.
func Grid(edges, counts []float64, sites int) (joined []float64) {
	joined = []float64{edges[0]}
	sum := 0.0
	for k, end := range edges[1:] {
		events, rows, sitesAtRisk := counts[perBin*k], counts[perBin*k+1], counts[perBin*k+2]
		if rows < leastRows || sitesAtRisk < float64(min(leastSites, sites)) {
			break
		}
		if sum += events; sum >= leastEvents {
			joined, sum = append(joined, end), 0
		}
	}
	return joined
}

// AddHazard adds two numbers of a site for each bin of a grid to sums, which has HazardNumbers
// entries: the events in the bin, and Σ (time at risk in the bin)·hazard over the rows. hazards[i]
// is row i's hazard relative to the mean row's. As in CountBins the first bin includes time 0.
func AddHazard(sums, grid, times, rows, hazards []float64) {
	for k, end := range grid[1:] {
		for i, t := range times {
			at := math.Abs(t)
			if exposure := min(at, end) - grid[k]; exposure > 0 {
				sums[2*k+1] += float64(rows[i] * hazards[i] * exposure)
			}
			if isEvent(t) && at <= end && (at > grid[k] || k == 0) {
				sums[2*k] += rows[i]
			}
		}
	}
}

// A Baseline is the cumulative hazard of the mean row, linear between edges.
type Baseline struct {
	Edges      []float64 `json:"edges"`      // from 0 on, ascending
	Cumulative []float64 `json:"cumulative"` // hazard up to each edge
}

// NewBaseline returns the baseline that the pooled sums of [AddHazard] determine. The hazard rate
// of a bin is its events divided by its time at risk, weighted by the rows' relative hazards; where
// no row is at risk it is 0.
func NewBaseline(grid, sums []float64) Baseline {
	b := Baseline{Edges: grid, Cumulative: make([]float64, len(grid))}
	for k := range grid[1:] {
		rate := 0.0
		if exposure := sums[2*k+1]; exposure > 0 {
			rate = sums[2*k] / exposure
		}
		b.Cumulative[k+1] = b.Cumulative[k] + float64(rate*(grid[k+1]-grid[k]))
	}
	return b
}

// Horizon returns the last time that the baseline reaches; 0: it reaches none.
func (b Baseline) Horizon() float64 { return b.Edges[len(b.Edges)-1] }

// Survival returns the probability that a row with this hazard beside the mean row's has no event
// up to a time, from 0 to the horizon: e^{−H(t) hazard}.
func (b Baseline) Survival(t, hazard float64) float64 {
	k, _ := slices.BinarySearch(b.Edges, t)
	if k == 0 {
		return 1
	}
	share := (t - b.Edges[k-1]) / (b.Edges[k] - b.Edges[k-1])
	h := b.Cumulative[k-1] + float64(share*(b.Cumulative[k]-b.Cumulative[k-1]))
	return num.Exp(-h * hazard)
}

// IsValid reports whether the edges ascend from 0 and the cumulative hazard starts at 0 and does
// not fall, with finite numbers only. A model file that was edited may violate this.
func (b Baseline) IsValid() bool {
	if len(b.Edges) == 0 || len(b.Cumulative) != len(b.Edges) || b.Edges[0] != 0 || b.Cumulative[0] != 0 {
		return false
	}
	for k := range b.Edges[1:] {
		if !(b.Edges[k+1] > b.Edges[k] && b.Cumulative[k+1] >= b.Cumulative[k]) ||
			math.IsInf(b.Edges[k+1]+b.Cumulative[k+1], 1) {
			return false
		}
	}
	return true
}
