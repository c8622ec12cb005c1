package assess

import (
	"cmp"
	"math"
	"slices"

	"dsbo/internal/num"
)

// Concordance is Harrell's c of survival times: how often, of two rows of one site of which the one
// whose event came first is known, that one has the higher score. Ties of scores are halves.
type Concordance struct {
	// Σ m, Σ h, Σ h², Σ hm and Σ m² over rows: a row is in m comparable pairs, h of them in the
	// right order
	numbers [5]float64
}

// fewestPairs is the least number of pairs for an interval.
const fewestPairs = 100

// AddSite counts the pairs of a site's rows. A pair is comparable if the earlier time is an event;
// a row that is censored at the time of an event is later than it, and two events at one time are
// not comparable. A time is negative where it is censored; rows[i] is the number of rows that row i
// represents. Two sweeps, each with a Fenwick tree over the ranks of the scores, count the pairs of
// each row with later and with earlier ones in O(n log n).
func (c *Concordance) AddSite(times, scores, rows []float64) {
	n := len(times)
	order, sorted := indices(n), slices.Compact(slices.Sorted(slices.Values(scores)))
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(math.Abs(times[i]), math.Abs(times[j])), cmp.Compare(times[i], times[j]))
	})
	place := make([]int, n) // rank of a row's score
	for i, s := range scores {
		place[i], _ = slices.BinarySearch(sorted, s)
	}
	pairs, right := make([]float64, n), make([]float64, n)
	// count adds the pairs of row i with the rows in a tree; higher: it is right that these have
	// the higher scores.
	count := func(i int, of fenwick, higher bool) {
		below, equal, all := of.below(place[i]), of.below(place[i]+1), of.below(len(sorted))
		concordant := below
		if equal -= below; higher {
			concordant = all - below - equal
		}
		pairs[i] += all
		right[i] += concordant + float64(equal/2)
	}
	later, earlier := make(fenwick, len(sorted)+1), make(fenwick, len(sorted)+1)
	groups := tiedTimes(times, order)
	for _, g := range slices.Backward(groups) { // an event pairs with all rows that are later
		for _, i := range g.censored {
			later.add(place[i], rows[i])
		}
		for _, i := range g.events {
			count(i, later, false)
		}
		for _, i := range g.events {
			later.add(place[i], rows[i])
		}
	}
	for _, g := range groups { // every row pairs with the events that are earlier
		for _, i := range g.events {
			count(i, earlier, true)
		}
		for _, i := range g.events {
			earlier.add(place[i], rows[i])
		}
		for _, i := range g.censored {
			count(i, earlier, true)
		}
	}
	for i, m := range pairs {
		h := right[i]
		for k, v := range [...]float64{m, h, h * h, h * m, m * m} {
			c.numbers[k] += float64(rows[i] * v)
		}
	}
}

// A tiedTime is the rows of one time.
type tiedTime struct{ censored, events []int }

// tiedTimes groups rows by equal times, separating censored rows from events. order sorts the rows
// by the size of their times; of equal ones the negative, censored times come first.
func tiedTimes(times []float64, order []int) (groups []tiedTime) {
	for at := 0; at < len(order); {
		from, events, t := at, at, math.Abs(times[order[at]])
		for ; at < len(order) && math.Abs(times[order[at]]) == t; at++ {
			if times[order[at]] < 0 {
				events++
			}
		}
		groups = append(groups, tiedTime{order[from:events], order[events:at]})
	}
	return groups
}

// A fenwick is sums of numbers at places, in a binary tree.
type fenwick []float64

func (f fenwick) add(place int, v float64) {
	for k := place + 1; k < len(f); k += k & -k {
		f[k] += v
	}
}

// below returns the sum of the numbers at places below one.
func (f fenwick) below(place int) (sum float64) {
	for k := place; k > 0; k -= k & -k {
		sum += f[k]
	}
	return sum
}

// Numbers returns the sums, to be replaced by their sums over all sites.
func (c *Concordance) Numbers() []float64 { return c.numbers[:] }

// pairs returns the number of pairs.
func (c *Concordance) pairs() float64 { return c.numbers[0] / 2 }

// Interval returns c in its interval, by the infinitesimal jackknife's error on the logit; with
// fewer than 100 pairs it is unknown.
func (c *Concordance) Interval() Interval {
	if c.pairs() < fewestPairs {
		return unknown()
	}
	p := c.numbers[1] / c.numbers[0]
	if p == 0 || p == 1 {
		return Interval{p, math.NaN(), math.NaN()}
	}
	return logit(p, num.Normal95*c.deviation()/(p*(1-p)))
}

// deviation returns the standard error of c.
func (c *Concordance) deviation() float64 {
	n := c.numbers
	p := n[1] / n[0]
	squares := n[2] - float64(2*p*n[3]) + float64(p*p*n[4])
	return math.Sqrt(max(0, squares)) / c.pairs()
}
