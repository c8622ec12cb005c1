package features

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/models"
	"dsbo/tables"
)

// The fewest events for training a model of survival times; for a validation or test set; and for
// the bias of the cross-fitted loss, from the choice of λ that minimizes it, to be smaller than its
// standard error.
const (
	fewestEvents  = 10
	fewestJudged  = 5
	fewestSettled = 50
)

// hadEvent reports whether the time of a row ended with the event, by the column of events.
func (t Target) hadEvent(c *tables.Column, row int) bool {
	if t.EventWord != "" {
		return className(c, row) == t.EventWord
	}
	return c.Number(row) == 1
}

// failure returns what is wrong with the time or the event of a row, and the column; "" if nothing
// is. With an EventWord any event is valid; without, it must be 0 or 1.
func (t Target) failure(time, event *tables.Column, row int) (column, why string) {
	switch v := time.Number(row); {
	case time.Missing(row):
		return t.Name, "each row must have a time; it is missing"
	case !(v >= 0) || math.IsInf(v, 1):
		return t.Name, fmt.Sprintf("a time must be a number from 0; it is %s", numberText(v))
	case event.Missing(row):
		return t.Event, "each row must say whether there was an event; it is missing"
	case t.EventWord != "":
	case event.Kind == tables.Word || event.Number(row) != 0 && event.Number(row) != 1:
		return t.Event, fmt.Sprintf("it must be 1 for an event, else 0, or another number or word must stand for it "+
			"(-event %s=WORD); it is %s", t.Event, className(event, row))
	}
	return "", ""
}

// chooseSurvival checks that the target's column has numbers, and the time and event of each row of
// the sites of this process. An error names the first bad row.
func chooseSurvival(p *preparation) error {
	p.recipe.Target.Event, p.recipe.Target.EventWord = p.Event, p.EventWord
	if kind := p.targetKind(); kind != tables.Number {
		return dsbo.ConfigErrorf("column %s, the target, must have durations until events as numbers; it has %s",
			p.Target, describe(kind, ""))
	}
	for _, i := range p.localSites() {
		time, event := p.column(i, p.Target), p.column(i, p.Event)
		for row := range p.Tables[i].Rows() {
			if column, why := p.recipe.Target.failure(time, event, row); why != "" {
				return p.failAt(i, row, column, "%s", why)
			}
		}
	}
	if p.EventWord != "" {
		p.note("times that end with another word of %s than %s are censored: hazards are of that cause alone, and are "+
			"not the risk where other causes are common", p.Event, p.EventWord)
	}
	return nil
}

// eventCodes has 1 for each row of site i whose time ended with an event, else 0.
func eventCodes(p *preparation, i int) []int32 {
	codes, c := make([]int32, p.Tables[i].Rows()), p.column(i, p.Event)
	for row := range codes {
		if p.recipe.Target.hadEvent(c, row) {
			codes[row] = 1
		}
	}
	return codes
}

// countEvents counts the events in each set of rows, and the sites without an event, by one sum
// over the sites. It fails if there are too few for training, or in a validation or test set that
// has rows, and notes what few events mean.
func countEvents(p *preparation) error {
	if p.recipe.Target.Kind != Survival {
		return nil
	}
	// The events of each set, the rows of each set, and the number of sites without an event.
	sum, err := p.sum("events in each set of rows", 2*sets+1, func(i int, part []float64) {
		part[2*sets] = 1
		for row, event := range eventCodes(p, i) {
			of, n := p.parts[i].of[row], p.rowsOf(i, row)
			if part[sets+of] += n; event == 1 {
				part[of] += n
				part[2*sets] = 0
			}
		}
	})
	if err != nil {
		return err
	}
	copy(p.made.Events[:], sum)
	if without := int(sum[2*sets]); without > 0 {
		p.note("sites without an event, %d of %d, tell of the features alone", without,
			cmp.Or(p.Start, len(p.Tables)))
	}
	if p.made.Events[training] < fewestEvents {
		return dsbo.ConfigErrorf("there must be %d events at least among the rows of all sites that train the model; "+
			"there are fewer", fewestEvents)
	}
	if p.folds > 0 && p.made.Events[training] < fewestSettled {
		p.note("with fewer than %d events the cross-fitted loss is optimistic, as the best of those of several λ",
			fewestSettled)
	}
	for _, set := range []set{validation, testing} {
		if sum[sets+set] > 0 && p.made.Events[set] < fewestJudged {
			return dsbo.ConfigErrorf("there must be %d events at least among the %s rows of all sites; there are "+
				"fewer (-split has other shares)", fewestJudged, setNames[set])
		}
	}
	return nil
}

// eventTargets returns the targets of site i: the ranks of its times, from 1 on, negative where the
// row is censored. The partial likelihood needs only the order of times, and ranks keep it in
// float32, where close times might become equal. The times themselves, with the same signs, go to
// made.Times in the order of the examples: set by set.
func eventTargets(p *preparation, i int) (*ad.Table, error) {
	if p.made.Times == nil {
		p.made.Times = make([][]float64, len(p.Tables))
	}
	events, c := eventCodes(p, i), p.column(i, p.Target)
	times, ranks := make([]float64, len(events)), make([]float32, len(events))
	for row := range times {
		times[row] = c.Number(row)
	}
	sorted := slices.Compact(slices.Sorted(slices.Values(times)))
	for row, event := range events {
		rank, _ := slices.BinarySearch(sorted, times[row])
		sign := float64(2*event - 1)
		ranks[row], times[row] = float32(sign)*float32(rank+1), math.Copysign(times[row], sign)
	}
	for of := range set(sets) {
		for row, set := range p.parts[i].of {
			if set == of {
				p.made.Times[i] = append(p.made.Times[i], times[row])
			}
		}
	}
	return ad.Float32Table(len(ranks), 1, ranks)
}

// perEvent returns the ratio of rows to events in a set, over all sites. Weights that are
// multiplied by it turn a mean over rows into a mean over events. It is 1 for other targets than
// survival.
func perEvent(p *preparation, s set) float64 {
	if p.recipe.Target.Kind != Survival {
		return 1
	}
	return p.rows[s] / p.made.Events[s]
}

// setEvents sets the counts of examples with survival times. In reported losses, which are means
// over events, an example counts as its events: none if it is censored. In risk sets it counts as
// its rows, which a column of its own has.
func setEvents(e *data.Examples) (err error) {
	rows, events := make([]float64, e.Target.Rows()), make([]float64, e.Target.Rows())
	for k := range rows {
		if rows[k] = e.Rows(k); e.Target.At(k, 0) > 0 {
			events[k] = rows[k]
		}
	}
	if e.Count != nil {
		e.Columns = []data.Column{{Name: models.RiskWeights, Table: e.Count}}
	}
	e.Count, err = ad.FloatTable(len(events), 1, events)
	return err
}

// scaled returns weights of one column, 1 where there are none, times a number.
func scaled(weight *ad.Table, rows int, by float64) (*ad.Table, error) {
	if by == 1 {
		return weight, nil
	}
	list := make([]float32, rows)
	for row := range list {
		list[row] = float32(by)
		if weight != nil {
			list[row] = float32(by * weight.At(row, 0))
		}
	}
	return ad.Float32Table(rows, 1, list)
}
