package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"dsbo/internal/num"
	"dsbo/internal/wording"
	"dsbo/runs"
)

// coefficients are the features that matter most, with how much each column gives as a bar.
type coefficients struct {
	Intro   string
	Folded  string // why the rest is folded away; "": it is not
	Table   *table
	Bars    []bar
	BarsAre string // what they show; "": the table's numbers
}

// An effectScale is how the effects of a target are told.
type effectScale struct {
	name, step string // of the effect; what a step does
	part       string // of which a column makes a part
	none       string // no effect
	of         func(v float64) float64
}

// effectScale returns how effects are told.
func (p tableProblem) effectScale() effectScale {
	switch p.Task {
	case "class":
		return effectScale{"Odds ratio", "multiplies the odds of the class by the odds ratio", "the log-odds", "1",
			num.Exp}
	case "count":
		return effectScale{"Rate ratio", "multiplies the expected count by the rate ratio",
			"the logarithm of the count", "1", num.Exp}
	case "survival":
		return effectScale{"Hazard ratio", "multiplies the hazard by the hazard ratio",
			"the logarithm of the hazard", "1", num.Exp}
	}
	return effectScale{"Effect, in " + p.Target, "changes " + p.Target + " by the effect", p.Target, "0",
		func(v float64) float64 { return v }}
}

// newCoefficients returns the table of coefficients, nil where there are none.
func newCoefficients(p tableProblem, a runs.Assessment) *coefficients {
	if len(a.Coefficients) == 0 {
		return nil
	}
	told := a.Effects
	if told == nil {
		told = &runs.Effects{Refused: "an older program made this run, whose intervals did not hold: there are none"}
	}
	scale, c := p.effectScale(), new(coefficients)
	if told.Refused != "" {
		c.Intro = "The weights with which the model predicts, in a step of the feature, are pulled towards 0 by " +
			"penalties. They have no intervals: " + told.Refused + "."
	} else {
		chosen := ""
		if told.Shown < told.Of {
			chosen = fmt.Sprintf(": they are wider for being %d chosen among %d, by the weights used for prediction",
				told.Shown, told.Of)
		}
		c.Intro = fmt.Sprintf("A step is one standard deviation of a number, or the word in place of the reference: "+
			"it %s, all other features alike, within a site. %s is no effect. Estimates are of a fit without "+
			"penalties, by %s. Of the intervals shown 95 %% hold the truth on average%s. The mark “beyond chance” "+
			"is on none by mistake in 95 %% of runs.%s", scale.step, scale.none, effectRows(told), chosen,
			notSquared(p))
	}
	c.Intro = lassoText(a.Lasso) + c.Intro
	if told.ByChance() {
		c.Folded = fmt.Sprintf("No feature counts beyond chance (p = %.2g)", told.NoFeature)
	}
	c.Table = coefficientTable(p, a.Coefficients, told.Refused == "")
	if c.Bars = columnBars(told.Columns); c.Bars == nil {
		return c
	}
	c.BarsAre = "How much a column gives with all its words, and its interval: the standard deviation of its part of " +
		scale.part + ", chance taken off."
	return c
}

// lassoText says which features a lasso has, and why its weights have no intervals; "" of another
// model.
func lassoText(l *runs.KeptFeatures) string {
	if l == nil {
		return ""
	}
	kept := ""
	if len(l.Names) > 0 {
		kept = ", " + strings.Join(l.Names[:min(len(l.Names), mostKeptNames)], ", ")
	}
	if len(l.Names) > mostKeptNames {
		kept += " and others (lambda.csv)"
	}
	return fmt.Sprintf("The model that predicts has %d of %d features%s. Its weights have no intervals: the rows "+
		"that they are of have chosen which are not 0, and a feature left out may count all the same. ", len(l.Names),
		l.Of, kept)
}

// mostKeptNames is how many features of a lasso are named.
const mostKeptNames = 30

// effectRows says by how many rows, and events, effects are estimated.
func effectRows(told *runs.Effects) string {
	text := wording.Count(told.Rows, "row")
	if told.Events > 0 {
		text += " with " + wording.Count(told.Events, "event")
	}
	return text
}

// notSquared says what is estimated where the model's loss is not squared.
func notSquared(p tableProblem) string {
	if p.Task == "value" && p.Loss != "squared" {
		return " They are of least squares, effects on the mean; the model that predicts follows Huber's loss, which " +
			"outliers pull less."
	}
	return ""
}

// coefficientTable lists coefficients, of words after the one that they are told against; without
// estimates only what predicts.
func coefficientTable(p tableProblem, all []runs.Coefficient, estimated bool) *table {
	scale := p.effectScale()
	if !estimated {
		scale.of = func(v float64) float64 { return v }
	}
	t := newTable("Features that count most", "Feature", "", "Class, against "+all[0].ReferenceClass, "", scale.name,
		"of a step", "95 % interval", "of the effect", "Used for prediction",
		"weight in a step, pulled towards 0 by penalties", "Step", "standard deviation of the feature, in its unit")
	var told []string // references
	for _, one := range all {
		if one.Reference != one.ReferenceClass && !slices.Contains(told, one.Reference) {
			told = append(told, one.Reference)
			none := scale.none + " (reference)"
			t.add(one.Reference, "", none, "", "reference", "the word")
		}
		step := one.Step()
		in := func(v runs.Number) float64 { return scale.of(float64(v) * step) }
		effect, between, width := numberCell(in(one.Estimate), number), one.Why, textCell("the word")
		if one.BeyondChance {
			effect.Note = "beyond chance"
		}
		if one.Estimate.Known() {
			between = number(in(one.Low)) + " to " + number(in(one.High))
		}
		if one.Deviation > 0 {
			width = numberCell(one.Deviation, number)
		}
		t.add(one.Feature, one.Class, effect, between, numberCell(in(one.Value), number), width)
	}
	if !estimated {
		t.withoutColumns(2, 4)
	}
	if len(p.Classes) < 3 {
		t.withoutColumns(1, 2)
	}
	return t
}

// withoutColumns takes columns from to to-1 out.
func (t *table) withoutColumns(from, to int) {
	t.Columns = slices.Delete(t.Columns, from, to)
	for k, row := range t.Rows {
		t.Rows[k] = slices.Delete(row, from, to)
	}
}

// columnBars shows how much whole columns give.
func columnBars(all []runs.ColumnEffect) (bars []bar) {
	for _, one := range all {
		part := max(0, one.Value) / max(all[0].Value, math.SmallestNonzeroFloat64)
		bars = append(bars, bar{Name: fmt.Sprintf("%s: %s (%s to %s)", one.Column, number(float64(one.Value)),
			number(float64(one.Low)), number(float64(one.High))), Width: float64(100 * part)})
	}
	return bars
}

// newImportances returns the table of the importances of a network's features, nil where there are
// none.
func newImportances(all []runs.Importance) *coefficients {
	if len(all) == 0 {
		return nil
	}
	c := &coefficients{Intro: "The loss on the test rows rises by this where all of them have the feature at its " +
		"mean, or not the word. A network has no one effect of a feature.",
		Table: newTable("Features that count most", "Feature", "", "Rise", "of the loss without it")}
	for _, one := range all {
		c.Table.add(one.Feature, numberCell(one.Rise, number))
		part := max(0, one.Rise) / max(all[0].Rise, math.SmallestNonzeroFloat64)
		c.Bars = append(c.Bars, bar{Name: one.Feature, Width: float64(100 * part)})
	}
	return c
}
