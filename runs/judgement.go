package runs

import (
	"fmt"
	"math"
	"strings"

	"dsbo/internal/num"
	"dsbo/internal/wording"
)

// Judgement returns a sentence or two that compare the predictions with guessing: the commonest
// class of the test rows, or the mean, for every row.
func (a Assessment) Judgement() string {
	switch {
	case len(a.Measures) > 0:
	case a.Judged > 0:
		return wording.Count(a.Judged, "test row") + " are too few to judge the model."
	case a.Made == 0:
		return "Differential privacy has no count of rows that could judge the model."
	default:
		return "No rows were left to judge the model."
	}
	if a.Events > 0 {
		return a.survivalJudgement()
	}
	text := fmt.Sprintf("On %s that it has not seen the model ", wording.Count(a.Judged, "row"))
	if a.Confusion == nil {
		return text + a.numbersJudgement()
	}
	text += fmt.Sprintf("is right in %s", percentages(a.measure("accuracy")))
	g := a.overGuessing()
	switch {
	case float64(g.Low) > 0:
		text += fmt.Sprintf(": %.1f points more (%.1f to %.1f) than", 100*g.Value, 100*g.Low, 100*g.High)
	case g.High < 0:
		text += fmt.Sprintf(": %.1f points less (%.1f to %.1f) than", -100*g.Value, -100*g.High, -100*g.Low)
	default:
		text += ", which beyond chance is no more and no less than"
	}
	text += fmt.Sprintf(" always guessing %s.", g.Name)
	if len(a.Classes) == 2 {
		name := a.Classes[1].Name
		text += fmt.Sprintf(" It puts a row of %s above another one in %s of pairs; guessing does in 50 %%.", name,
			percentages(a.measure("AUROC of "+name)))
	}
	return text
}

// survivalJudgement is the judgement on survival times.
func (a Assessment) survivalJudgement() string {
	text := fmt.Sprintf("On %s with %s that it has not seen the model ", wording.Count(a.Judged, "row"),
		wording.Count(a.Events, "event"))
	c := a.measure("concordance")
	if !c.Value.Known() {
		return text + "cannot be judged: too few pairs of the same site tell which event came first."
	}
	text += fmt.Sprintf("gives the row whose event came first the higher hazard in %s of pairs of the same site; "+
		"guessing does in 50 %%", percentages(c))
	switch {
	case !c.Low.Known():
		text += "; how sure that is, is not known"
	case !(float64(c.Low) > 0.5):
		text += ", which beyond chance is no less"
	}
	return text + "."
}

// numbersJudgement is the end of the judgement on predicted numbers and counts.
func (a Assessment) numbersJudgement() string {
	off, what, share := a.measure("MAE"), "variance", a.measure("R²")
	if a.Counts != nil {
		what, share = "deviance", a.measure("deviance explained")
	}
	text := fmt.Sprintf("is off by %.3g on average", float64(off.Value))
	if off.Low.Known() {
		text += fmt.Sprintf(" (%.3g to %.3g)", float64(off.Low), float64(off.High))
	}
	text += fmt.Sprintf(" and explains %s of the %s", percentages(share), what)
	if !(share.Low > 0) {
		return text + ": beyond chance no better than guessing the mean."
	}
	return text + "; guessing the mean explains none."
}

// measure returns the measure of a name; unknown where there is none.
func (a Assessment) measure(name string) Measure {
	for _, m := range a.Measures {
		if m.Name == name {
			return m
		}
	}
	return Measure{Value: Unknown(), Low: Unknown(), High: Unknown()}
}

// percentages writes a share with its interval.
func percentages(m Measure) string {
	text := fmt.Sprintf("%.1f %%", 100*float64(m.Value))
	if m.Low.Known() {
		text += fmt.Sprintf(" (%.1f to %.1f)", 100*float64(m.Low), 100*float64(m.High))
	}
	return strings.ReplaceAll(text, "-", "−")
}

// overGuessing compares the model's accuracy with always guessing the commonest class, which is the
// Name of the result; Value is the difference of the two shares. The interval is for paired
// proportions (Agresti, Min 2005): won rows only the model gets right, lost rows only the guess
// does, and half a row is added to each of the four kinds of pairs.
func (a Assessment) overGuessing() Measure {
	commonest, most, n := 0, 0.0, 0.0
	for k, row := range a.Confusion {
		sum := 0.0
		for _, count := range row {
			sum += count
		}
		if n += sum; sum > most {
			commonest, most = k, sum
		}
	}
	won, lost := 0.0, most-a.Confusion[commonest][commonest]
	for k, row := range a.Confusion {
		if k != commonest {
			won += row[k]
		}
	}
	all := n + 2 // half a row for each of the four kinds
	d := (won - lost) / all
	e := float64(num.Normal95 * math.Sqrt(((won+lost+1)/all-float64(d*d))/all))
	return Measure{Name: a.Classes[commonest].Name, Value: Number((won - lost) / n), Low: Number(max(d-e, -1)),
		High: Number(min(d+e, 1))}
}
