package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"dsbo/runs"
)

// assessments returns the figures of how good a run's predictions are on test examples.
func assessments(r *Run) (all []Drawing) {
	add := func(name string, f *Figure) {
		if f.Validate() == nil {
			all = append(all, Drawing{f, name, f.Title})
		}
	}
	if classes := shownClasses(r.Assessment.Classes); len(classes) > 0 {
		add("roc", classFigure("ROC curve", "share of the others taken for the class",
			"share of the class that is found", classes, func(c runs.ClassCurves) Series {
				return Series{Name: fmt.Sprintf("%s, area %.3f", c.Name, float64(c.AUC)), X: c.Wrong, Y: c.Right}
			}))
		add("calibration", classFigure("Calibration", "predicted probability", "share that is of the class", classes,
			func(c runs.ClassCurves) Series { return Series{Name: c.Name, X: c.Predicted, Y: c.Observed} }))
	}
	survivalFigures(r, add)
	if c := r.Assessment.Counts; c != nil {
		truth := Series{Name: "mean of true counts", X: c.Predicted, Y: c.True}
		add("predicted", predictedFigure(truth))
	}
	if c := r.Assessment.Residuals; c != nil {
		add("predicted", predictedFigure(predictedAgainstTrue(c)))
		add("residuals", &Figure{Title: fmt.Sprintf("Residuals (R² = %.3f)", float64(c.Explained)),
			XLabel: "true − predicted", YLabel: "share of the examples",
			XScale: Linear, YScale: Linear, Series: []Series{{X: c.Residual, Y: c.Share}}})
		add("residuals_predicted",
			&Figure{Title: "Residuals by prediction", XLabel: "predicted", YLabel: "true − predicted",
				XScale: Linear, YScale: Linear,
				Series: []Series{
					{Name: "mean", X: c.Predicted, Y: c.Mean},
					{Name: "root of the mean square", X: c.Predicted, Y: c.Size},
					{X: c.Predicted, Y: make([]float64, len(c.Predicted)), Reference: true},
				}})
	}
	return all
}

// fewestOfPoint is the number of rows below which they are no point of a calibration.
const fewestOfPoint = 5

// survivalFigures adds the curve of all rows, and the calibration at times.
func survivalFigures(r *Run, add func(name string, f *Figure)) {
	of := r.Assessment.Survival
	if c := of.Curve; len(c.Times) > 1 {
		add("survival", &Figure{Title: "Rows without an event, by Kaplan and Meier", XLabel: r.Problem().Target,
			YLabel: "share, with its interval", XScale: Linear, YScale: Linear,
			Series: []Series{{X: c.Times, Y: c.Share, Low: c.Low, High: c.High}}})
	}
	f := &Figure{Title: "Calibration of an event up to a time, on test examples", XLabel: "predicted probability",
		YLabel: "share that has one", XScale: Linear, YScale: Linear}
	for _, c := range of.Calibrations {
		s := Series{Name: "up to " + number(c.Time)}
		for k, n := range c.Rows {
			if n >= fewestOfPoint {
				s.X, s.Y = append(s.X, c.Predicted[k]), append(s.Y, c.Observed[k])
			}
		}
		f.Series = append(f.Series, s)
	}
	if f.Series != nil {
		f.Series = append(f.Series, Series{X: []float64{0, 1}, Y: []float64{0, 1}, Reference: true})
		add("calibration", f)
	}
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

// predictedFigure shows true numbers against predictions, which lie on the line where predictions
// are right.
func predictedFigure(truth Series) *Figure {
	ends := extentOf(truth.X...)
	return &Figure{Title: "Predicted against true, on test examples", XLabel: "predicted", YLabel: "true",
		XScale: Linear, YScale: Linear, Series: []Series{truth,
			{Name: "where predictions are right", X: []float64{ends.low, ends.high}, Y: []float64{ends.low, ends.high},
				Reference: true}}}
}

// mostClasses is how many classes have curves in one figure.
const mostClasses = 8

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

// classFigure shows a curve of each class, and the diagonal of the unit square.
func classFigure(title, x, y string, classes []runs.ClassCurves, curve func(runs.ClassCurves) Series) *Figure {
	f := &Figure{Title: title + ", on test examples", XLabel: x, YLabel: y, XScale: Linear, YScale: Linear}
	for _, c := range classes {
		f.Series = append(f.Series, curve(c))
	}
	f.Series = append(f.Series, Series{X: []float64{0, 1}, Y: []float64{0, 1}, Reference: true})
	return f
}
