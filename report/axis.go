package report

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// A Scale says how numbers lie on an axis.
type Scale uint8

// The scales. On a logarithmic axis, and on an automatic one that becomes logarithmic, zeros and
// negative numbers are gaps.
const (
	Auto   Scale = iota // logarithmic where numbers are positive and span more than 1.5 decades, else linear
	Linear              // equal steps
	Log                 // equal ratios
)

// autoDecades is the span from which an automatic axis is logarithmic.
const autoDecades = 1.5

// onAxis says whether a number can be drawn on an axis. Beyond 1e300, or that close to 0 on a
// logarithmic one, there is no room left for the axis itself.
func onAxis(v float64, log bool) bool {
	const most = 1e300
	return math.Abs(v) < most && (!log || v > 1/most)
}

// axisValue is the coordinate of a number on an axis, up to shift and scale.
func axisValue(v float64, log bool) float64 {
	if log {
		return math.Log10(v)
	}
	return v
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
	wide := math.Log10(e.high)-math.Log10(e.positive) > autoDecades
	return wide && (e.low > 0 || e.low == 0 && zeros)
}

// limits widens the extent by a share of itself on both sides, so that nothing lies on the edge.
func (e extent) limits(margin float64) (low, high float64) {
	if e.log {
		low, high = math.Log10(e.positive), math.Log10(e.high)
		pad := max((high-low)*margin, 0.02)
		if high-low < 1e-9 {
			pad = 0.5
		}
		return math.Pow(10, max(low-pad, -305)), math.Pow(10, min(high+pad, 305))
	}
	pad := (e.high - e.low) * margin
	if pad <= max(1e-9*max(math.Abs(e.low), math.Abs(e.high)), 1e-250) { // one number: give it room
		pad = max(math.Abs(e.high)*0.05, 1e-12)
		if e.high == 0 {
			pad = 1
		}
	}
	low, high = e.low-pad, e.high+pad
	if e.low >= 0 && low < 0 {
		low = 0
	}
	return low, high
}

// A ticker chooses the ticks of an axis, by the methods of gonum/plot.
type ticker struct {
	log      bool
	integers bool // whether ticks are at integers only
}

// Ticks implements [plot.Ticker]. A logarithmic axis on which fewer than two powers of ten lie has the
// ticks of a linear one.
func (t ticker) Ticks(low, high float64) []plot.Tick {
	if t.log {
		if ticks, labels := powerTicks(low, high); labels >= 2 {
			return ticks
		}
	}
	var ticks []plot.Tick
	for _, k := range (plot.DefaultTicks{}).Ticks(low, high) {
		if t.integers && k.Value != math.Trunc(k.Value) {
			continue
		}
		if !k.IsMinor() { // its label may have too few digits to differ from its neighbour's
			if math.Abs(k.Value) < 1e-9*(high-low) {
				k.Value = 0
			}
			k.Label = strconv.FormatFloat(k.Value, 'g', 10, 64)
		}
		ticks = append(ticks, k)
	}
	return ticks
}

// powerTicks returns ticks at powers of ten, with labels at no more than about eight of them and
// minor ticks between where each has a label, and the number of labels.
func powerTicks(low, high float64) (ticks []plot.Tick, labels int) {
	const most = 8
	every := int(math.Log10(high)-math.Log10(low))/most + 1
	for _, k := range (plot.LogTicks{Prec: 4}).Ticks(low/10, high) { // from below low on: there are minor ticks before its first power
		power := int(math.Round(math.Log10(k.Value)))
		switch {
		case k.Value < low*(1-1e-9) || k.Value > high*(1+1e-9), every > 1 && k.IsMinor():
			continue
		case !k.IsMinor() && power%every != 0:
			k.Label = ""
		case !k.IsMinor():
			labels++
		}
		ticks = append(ticks, k)
	}
	return ticks, labels
}
