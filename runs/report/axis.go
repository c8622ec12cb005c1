package report

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
)

// A Scale says how numbers lie on an axis.
type Scale uint8

// The scales. On a logarithmic axis zeros and negative numbers are gaps.
const (
	Auto   Scale = iota // logarithmic where numbers are positive and span more than 1.5 decades, else linear
	Linear              // equal steps
	Log                 // equal ratios
)

// onAxis says whether a number can be drawn on an axis. Beyond 1e300, or that close to 0 on a
// logarithmic one, there is no room left for the axis itself.
func onAxis(v float64, log bool) bool {
	const most = 1e300
	return math.Abs(v) < most && (!log || v > 1/most)
}

// An extent is the range of the numbers of one axis.
type extent struct {
	low, high float64 // least and greatest finite number
	positive  float64 // the smallest number above 0
	log       bool    // whether the axis is logarithmic
}

func noExtent() extent { return extent{low: math.Inf(1), high: math.Inf(-1), positive: math.Inf(1)} }

func (e *extent) add(values ...float64) {
	for _, v := range values {
		if onAxis(v, false) {
			e.low, e.high = min(e.low, v), max(e.high, v)
		}
		if onAxis(v, true) {
			e.positive = min(e.positive, v)
		}
	}
}

// isLog decides an axis. Exact zeros do not keep an automatic axis linear if zeros says so: a
// consensus error starts at 0 and is best seen on a logarithmic axis all the same.
func (e extent) isLog(s Scale, zeros bool) bool {
	if s != Auto {
		return s == Log
	}
	wide := math.Log10(e.high)-math.Log10(e.positive) > 1.5
	return wide && (e.low > 0 || e.low == 0 && zeros)
}

// limits returns the ends of the axis: the least and the greatest number, moved apart where all
// numbers are equal but for round-off.
func (e extent) limits() (low, high float64) {
	switch room := max(1e-9*max(math.Abs(e.low), math.Abs(e.high)), 1e-250); {
	case e.log && e.high/e.positive < 1+1e-9:
		return e.positive / 2, e.positive * 2
	case e.log:
		return e.positive, e.high
	case e.high-e.low > room:
		return e.low, e.high
	case math.Abs(e.high) <= room:
		return -1, 1
	}
	return e.low - math.Abs(e.low)/20, e.high + math.Abs(e.high)/20
}

// A ticker has the ticks of gonum/plot.
type ticker struct {
	log      bool
	integers bool // whether ticks are at integers only
}

// Ticks implements [plot.Ticker]. A logarithmic axis on which fewer than two powers of ten lie has
// the ticks of a linear one; of more than eight powers only some have labels.
func (t ticker) Ticks(low, high float64) []plot.Tick {
	const slack = 1e-9
	if from, to := math.Log10(low)-slack, math.Log10(high)+slack; t.log && math.Floor(to) > math.Ceil(from) {
		every := int(to-from)/8 + 1
		ticks := plot.LogTicks{Prec: 4}.Ticks(low/10, high) // minor ticks before the first power, too
		for i, k := range ticks {
			if int(math.Round(math.Log10(k.Value)))%every != 0 {
				ticks[i].Label = ""
			}
		}
		return slices.DeleteFunc(ticks, func(k plot.Tick) bool {
			power := math.Log10(k.Value)
			return power < from || power > to
		})
	}
	if t.integers {
		return integerTicks(low, high)
	}
	ticks := plot.DefaultTicks{}.Ticks(low, high)
	for i, k := range ticks {
		if math.Abs(k.Value) < slack*(high-low) {
			k.Value = 0
		}
		if !k.IsMinor() { // its own label may have too few digits to differ from its neighbour's
			ticks[i].Label = strconv.FormatFloat(k.Value, 'g', 10, 64)
		}
	}
	return ticks
}

// integerTicks returns ticks at the multiples of a round integer, at most six of them.
func integerTicks(low, high float64) (ticks []plot.Tick) {
	step := 1.0
	for i := 0; (high-low)/step >= 6; i++ {
		step *= []float64{2, 2.5, 2}[i%3] // 1, 2, 5, 10, ...
	}
	for v := math.Ceil(low/step) * step; v <= high; v += step {
		ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'g', 10, 64)})
	}
	return ticks
}
