package report

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// A Line is the straight line of least squares through points: y = Intercept + Slope·x, where x
// and y are the decimal logarithms of the numbers on logarithmic axes.
type Line struct {
	Slope, Intercept float64
	XLog, YLog       bool
}

// FitLine fits a line to the points that can be drawn on both axes. With both axes logarithmic
// Slope is the exponent of a power law; with a logarithmic y alone, 10^Slope is the factor of
// linear convergence for each unit of x. Fewer than two different x are an error.
func FitLine(x, y []float64, xLog, yLog bool) (Line, error) {
	l := Line{XLog: xLog, YLog: yLog}
	var xs, ys []float64
	for i := range min(len(x), len(y)) {
		if onAxis(x[i], xLog) && onAxis(y[i], yLog) {
			xs, ys = append(xs, axisValue(x[i], xLog)), append(ys, axisValue(y[i], yLog))
		}
	}
	if len(xs) == 0 || slices.Min(xs) == slices.Max(xs) {
		return l, fmt.Errorf("a line cannot be fitted to %d points without two different x", len(xs))
	}
	l.Intercept, l.Slope = stat.LinearRegression(xs, ys, nil, false)
	if math.IsNaN(l.Intercept) || math.IsInf(l.Intercept, 0) {
		return l,
			fmt.Errorf("a line cannot be fitted to points that reach to (%g, %g): its numbers would not be finite",
				slices.Max(xs), slices.Max(ys))
	}
	return l, nil
}

// At returns the line's y at x.
func (l Line) At(x float64) float64 {
	y := l.Intercept + float64(l.Slope*axisValue(x, l.XLog))
	if l.YLog {
		return math.Pow(10, y)
	}
	return y
}

// label says in a legend what the slope means.
func (l Line) label() string {
	if factor := math.Pow(10, l.Slope); l.YLog && !l.XLog && onAxis(factor, true) {
		return "×" + fmt.Sprintf("%.3g", factor) + " a step"
	}
	return fmt.Sprintf("slope %.3g", l.Slope)
}
