package tune

import (
	"math"
	"slices"
	"strings"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/num"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/tables/assess"
	"dsbo/tables/features"
)

// Rules for tied events.
const (
	efron   = "efron"
	breslow = "breslow"
)

// eventOf returns the column of events that -event names, and its word for one; "": 1.
func eventOf(flag string) (column, word string) {
	if i := strings.LastIndexByte(flag, '='); i >= 0 {
		return flag[:i], flag[i+1:]
	}
	return flag, ""
}

// checkSurvival checks the flags that survival times need, or leave no sense.
func checkSurvival(t *tune) error {
	if kinds[t.kind] != features.Survival {
		if t.event != "" || t.ties != efron {
			return dsbo.ConfigErrorf("-event and -ties must come with -task survival; -task is %s", t.kind)
		}
		return nil
	}
	column, _ := eventOf(t.event)
	for _, c := range []struct{ flag, name string }{{"target", t.target}, {"weight", t.weight},
		{"split-column", t.splitColumn}} {
		if column != "" && column == c.name {
			return dsbo.ConfigErrorf("-event must be another column than -%s; both are %s", c.flag, column)
		}
	}
	switch {
	case column == "":
		return dsbo.ConfigErrorf(
			"-task survival must have -event, the column that says whether a time ended with the event")
	case strings.HasSuffix(t.event, "="):
		return dsbo.ConfigErrorf("-event must have a word behind =, such as status=dead; it is %s", t.event)
	case t.rareClasses != "":
		return dsbo.ConfigErrorf("-rare-classes is for classes; -task is survival")
	case t.model != "" && t.model != linear:
		return dsbo.ConfigErrorf("-model must be linear with -task survival; it is %s", t.model)
	case t.exchangeAlone:
		return dsbo.ConfigErrorf(
			"-exchange-alone must not be given with -task survival, which finds no model of a site alone")
	}
	return nil
}

// judgedRows returns how many of the rows of a set losses are a mean of: the events of times.
func judgedRows(p *features.Prepared, set int) int {
	if p.Recipe.Target.Kind == features.Survival {
		if set == 1 && p.Folds > 0 { // folds validate on the training rows
			set = 0
		}
		return int(math.Round(p.Events[set]))
	}
	return p.Rows[set]
}

// rowsAt returns the number of rows that a row of survival times represents.
func rowsAt(e data.Examples, row int) float64 {
	if at := e.Column(models.RiskWeights); at != nil {
		return at.At(row, 0)
	}
	return 1
}

// joinRisk returns the column of the weights in risk sets of examples, one after the other.
func joinRisk(of []data.Examples) ([]data.Column, error) {
	var all []float64
	for _, e := range of {
		for row := range e.Len() {
			all = append(all, rowsAt(e, row))
		}
	}
	t, err := ad.FloatTable(len(all), 1, all)
	return []data.Column{{Name: models.RiskWeights, Table: t}}, err
}

// judgesSurvival reports whether test rows judge a model of survival times.
func judgesSurvival(p *features.Prepared) bool {
	return p.Recipe.Target.Kind == features.Survival && p.Rows[2] >= fewestAssessed
}

// inOrder is the name of the sums that judge survival.
const inOrder = "pairs in order, what losses of events are less"

// survivalNumbers are the numbers after the concordance's: events, and the sums of what their
// losses are less than without features, and of the squares of that.
const survivalNumbers = 3

// assessSurvival finds the concordance of the model with the test rows of each site, and their loss
// beside a model without features, by sums.
func (t judge) assessSurvival(a *runs.Assessment) error {
	a.Events = judgedRows(t.prepared, 2)
	var all assess.Concordance
	pairs := len(all.Numbers())
	sums := make([]float64, pairs+survivalNumbers)
	err := t.run.Collective.Sum(inOrder, sums, func(i int, part []float64) error {
		test := t.prepared.Data.Shards[i].Test
		if test.Len() == 0 {
			return nil
		}
		var own assess.Concordance
		own.AddSite(t.survivalTimes(test))
		copy(part, own.Numbers())
		return t.addEventLosses(part[pairs:], test)
	})
	if err != nil {
		return err
	}
	copy(all.Numbers(), sums)
	a.Measures = []runs.Measure{
		measure("concordance", "of two rows of one site, how often the one whose event came first has the higher "+
			"hazard; 0.5 is chance", all.Interval()),
		measure("loss saved per event", "by how much the loss is below the loss without features; 0: no better",
			savedPerEvent(sums[pairs:])),
	}
	return t.assessTimes(a)
}

// savedPerEvent returns the mean of what events save, with its interval, of survivalNumbers.
func savedPerEvent(sums []float64) assess.Interval {
	n, saved := sums[0], sums[1]/sums[0]
	reach := float64(num.StudentQuantile(0.975, int(math.Round(n))-1) *
		math.Sqrt(max(0, sums[2]/n-float64(saved*saved))/(n-1)))
	return assess.Interval{Value: saved, Low: saved - reach, High: saved + reach}
}

// survivalTimes returns the times of rows, negative without an event, their hazards by the model,
// and the number of rows that each represents.
func (t judge) survivalTimes(e data.Examples) (times, hazards, rows []float64) {
	for row, x := range eachRow(e) {
		times, rows = append(times, e.Target.At(row, 0)), append(rows, rowsAt(e, row))
		hazards = append(hazards, t.made.PredictFeatures(x.places, x.values).Values[0])
	}
	return times, hazards, rows
}

// addEventLosses adds the survivalNumbers of a site's test rows to part.
func (t judge) addEventLosses(part []float64, test data.Examples) error {
	score, err := models.NewScore(t.m, test, false)
	if err != nil {
		return err
	}
	p, q := t.m.Dims()
	losses, _, err := score.Examples(make([]float64, p), t.y)
	if err != nil {
		return err
	}
	losses = slices.Clone(losses) // Examples reuses them
	null, _, err := score.Examples(make([]float64, p), make([]float64, q))
	for row, l := range losses {
		d := null[row] - l
		for k, v := range [survivalNumbers]float64{1, d, d * d} {
			part[k] += float64(test.Rows(row) * v)
		}
	}
	return err
}
