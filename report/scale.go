package report

import (
	"math"
	"strconv"
	"strings"

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

// An extent is the range of the numbers of one axis.
type extent struct {
	low, high float64 // of all finite numbers
	positive  float64 // the smallest number above 0
}

func noExtent() extent { return extent{math.Inf(1), math.Inf(-1), math.Inf(1)} }

func (e *extent) add(values ...float64) {
	for _, v := range values {
		if !onAxis(v, false) {
			continue
		}
		e.low, e.high = min(e.low, v), max(e.high, v)
		if onAxis(v, true) {
			e.positive = min(e.positive, v)
		}
	}
}

// isLog decides an axis. Exact zeros do not keep an automatic axis linear if zeros says so: a
// consensus error starts at 0 and is best seen on a logarithmic axis all the same.
func (e extent) isLog(s Scale, zeros bool) bool {
	switch {
	case s == Log:
		return true
	case s == Linear || e.low < 0 || (e.low == 0 && !zeros):
		return false
	}
	return math.Log10(e.high/e.positive) > autoDecades
}

// limits widens the extent by a share of itself on both sides, so that nothing lies on the edge.
func (e extent) limits(log bool, margin float64) (low, high float64) {
	if log {
		low, high = math.Log10(e.positive), math.Log10(e.high)
		pad := max((high-low)*margin, 0.02)
		if high-low < 1e-9 {
			pad = 0.5
		}
		return math.Pow(10, max(low-pad, -305)), math.Pow(10, min(high+pad, 305))
	}
	pad := (e.high - e.low) * margin
	if pad <= max(1e-12*max(math.Abs(e.low), math.Abs(e.high)), 1e-250) { // one number: give it room
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

// linearTicks returns about n labelled ticks at 1, 2, 2.5 or 5 times a power of ten. whole keeps
// them at whole numbers, for an axis that counts.
func linearTicks(low, high float64, n int, whole bool) []plot.Tick {
	step := niceStep((high-low)/float64(n), whole)
	format := tickFormat(step, max(math.Abs(low), math.Abs(high)))
	var ticks []plot.Tick
	for i := math.Ceil(low/step - 1e-9); i*step <= high+1e-9*step && len(ticks) < 50; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: format(i * step)})
	}
	return ticks
}

// niceStep rounds a step up to a number that people count in.
func niceStep(raw float64, whole bool) float64 {
	mag := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 2.5, 5, 10} {
		step := m * mag
		if step < raw*(1-1e-9) {
			continue
		}
		if whole && step != math.Trunc(step) {
			if step < 1 {
				return 1
			}
			continue
		}
		return step
	}
	return 10 * mag
}

// logTicks labels powers of ten, and 2 and 5 times them on an axis of at most fine decades. An axis
// where these are too few to be read has the ticks of a linear one.
func logTicks(low, high, fine float64) []plot.Tick {
	const few = 3
	decades := math.Log10(high / low)
	ticks, labelled := powerTicks(low, high, fine)
	if decades < 1 && labelled < few {
		return linearTicks(low, high, 4, false)
	}
	return ticks
}

// powerTicks returns ticks at powers of ten and their multiples, and how many have a label.
func powerTicks(low, high, fine float64) (ticks []plot.Tick, labelled int) {
	decades := math.Log10(high / low)
	every := int(math.Ceil(decades / 7))
	first, last := int(math.Floor(math.Log10(low))), int(math.Ceil(math.Log10(high)))
	plain := low >= 0.9e-3 && high < 1.1e4
	for e := first; e <= last; e++ {
		for m := 1; m < 10; m++ {
			v := float64(m) * math.Pow10(e)
			if v < low || v > high {
				continue
			}
			t := plot.Tick{Value: v}
			switch {
			case m == 1 && e%every == 0, decades <= fine && (m == 2 || m == 5):
				t.Label = formatPower(m, e, plain)
				labelled++
			case every > 1 && m > 1:
				continue
			}
			ticks = append(ticks, t)
		}
	}
	return ticks, labelled
}

// formatPower writes m·10^e.
func formatPower(m, e int, plain bool) string {
	if plain || (e == 0 && m > 1) {
		return strconv.FormatFloat(float64(m)*math.Pow10(e), 'f', max(0, -e), 64)
	}
	power := "10^" + minus(strconv.Itoa(e))
	if m == 1 {
		return power
	}
	return strconv.Itoa(m) + "×" + power
}

// tickFormat returns how the ticks of an axis are written: all in one unit, with the decimals that
// tell them apart.
func tickFormat(step, largest float64) func(float64) string {
	mag := math.Floor(math.Log10(largest) + 1e-9)
	scale, unit := 1.0, ""
	if mag < -3 || mag > 15 {
		scale, unit = math.Pow(10, mag), "×10^"+minus(strconv.Itoa(int(mag)))
	}
	for _, u := range []struct {
		size   float64
		letter string
	}{{1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}} {
		if mag <= 15 && largest >= 10*u.size && step >= u.size/10 {
			scale, unit = u.size, u.letter
		}
	}
	return func(v float64) string {
		if math.Abs(v) < step*1e-9 {
			return "0"
		}
		return minus(strconv.FormatFloat(v/scale, 'f', decimals(step/scale), 64)) + unit
	}
}

// decimals is how many digits after the point tell steps apart: one more than their magnitude for 2.5.
func decimals(step float64) int {
	places := -math.Floor(math.Log10(step) + 1e-9)
	if m := step * math.Pow(10, places); math.Abs(m-2.5) < 1e-6 {
		places++
	}
	return int(min(max(0, places), 15))
}

// minus sets the minus sign in place of the hyphen.
func minus(s string) string { return strings.Replace(s, "-", "−", 1) }
