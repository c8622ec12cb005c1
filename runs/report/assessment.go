package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"dsbo/runs"
)

// Of points of a calibration, and of classes with curves in one figure.
const (
	fewestOfPoint = 5 // rows below which they are no point
	mostClasses   = 8
)

// assessments returns the figures of how good a run's predictions are on test examples.
func assessments(r *Run) (all []drawing) {
	a := r.Assessment
	add := func(name, title, x, y string, series ...Series) {
		f := &Figure{Title: title, XLabel: x, YLabel: y, Series: series}
		if f.Validate() == nil {
			all = append(all, drawing{f, name, title})
		}
	}
	var roc, calibration []Series
	for _, c := range shownClasses(a.Classes) {
		roc = append(roc, Series{Name: fmt.Sprintf("%s, area %.3f", c.Name, float64(c.AUC)), X: c.Wrong, Y: c.Right})
		calibration = append(calibration, Series{Name: c.Name, X: c.Predicted, Y: c.Observed})
	}
	if roc != nil {
		add("roc", "ROC curve, on test examples", "share of the others taken for the class",
			"share of the class that is found", append(roc, diagonal("", 0, 1))...)
		add("calibration", "Calibration, on test examples", "predicted probability", "share that is of the class",
			append(calibration, diagonal("", 0, 1))...)
	}
	if c := a.Survival.Curve; len(c.Times) > 1 {
		add("survival", "Rows without an event, by Kaplan and Meier", r.Problem().Target, "share, with its interval",
			Series{X: c.Times, Y: c.Share, Low: c.Low, High: c.High})
	}
	if cs := a.Survival.Calibrations; cs != nil {
		add("calibration", "Calibration of an event up to a time, on test examples", "predicted probability",
			"share that has one", append(survivalCalibrations(cs), diagonal("", 0, 1))...)
	}
	predicted := func(truth Series) {
		ends := extentOf(truth.X...)
		add("predicted", "Predicted against true, on test examples", "predicted", "true", truth,
			diagonal("where predictions are right", ends.Low, ends.High))
	}
	if c := a.Counts; c != nil {
		predicted(Series{Name: "mean of true counts", X: c.Predicted, Y: c.True})
	}
	if c := a.Residuals; c != nil {
		predicted(predictedAgainstTrue(c))
		add("residuals", fmt.Sprintf("Residuals (R² = %.3f)", float64(c.Explained)), "true − predicted",
			"share of the examples", Series{X: c.Residual, Y: c.Share})
		add("residuals_predicted", "Residuals by prediction", "predicted", "true − predicted",
			Series{Name: "mean", X: c.Predicted, Y: c.Mean},
			Series{Name: "root of the mean square", X: c.Predicted, Y: c.Size},
			Series{X: c.Predicted, Y: make([]float64, len(c.Predicted)), Reference: true})
	}
	return all
}

// reference is a straight line from a point to another.
func reference(name string, fromX, toX, fromY, toY float64) Series {
	return Series{Name: name, X: []float64{fromX, toX}, Y: []float64{fromY, toY}, Reference: true}
}

// diagonal is the line of points whose numbers are alike.
func diagonal(name string, low, high float64) Series { return reference(name, low, high, low, high) }

// survivalCalibrations are the calibrations at times, without points of few rows.
func survivalCalibrations(all []runs.TimeCalibration) (list []Series) {
	for _, c := range all {
		s := Series{Name: "up to " + number(c.Time)}
		for k, n := range c.Rows {
			if n >= fewestOfPoint {
				s.X, s.Y = append(s.X, c.Predicted[k]), append(s.Y, c.Observed[k])
			}
		}
		list = append(list, s)
	}
	return list
}

// predictedAgainstTrue returns the mean of the true numbers for predictions, in a band of their
// standard deviation.
func predictedAgainstTrue(c *runs.ResidualCurves) Series {
	s := Series{Name: "mean of true numbers ± their deviation", X: c.Predicted}
	for i, p := range c.Predicted {
		mean := p + c.Mean[i]
		around := math.Sqrt(max(0, float64(c.Size[i]*c.Size[i])-float64(c.Mean[i]*c.Mean[i])))
		s.Y, s.Low, s.High = append(s.Y, mean), append(s.Low, mean-around), append(s.High, mean+around)
	}
	return s
}

// shownClasses returns the classes whose curves are drawn: of two the last one alone, as the
// other's are its mirror images, and of many those with the least area under the curve.
func shownClasses(all []runs.ClassCurves) []runs.ClassCurves {
	known := slices.DeleteFunc(slices.Clone(all), func(c runs.ClassCurves) bool { return !c.AUC.Known() })
	if len(known) == 2 && len(all) == 2 {
		return known[1:]
	}
	if len(known) > mostClasses {
		slices.SortStableFunc(known, func(a, b runs.ClassCurves) int { return cmp.Compare(a.AUC, b.AUC) })
		known = known[:mostClasses]
	}
	return known
}
