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

// The fewest events that times are learned from, by which a split may judge, and with which the
// choice of λ moves the loss that it minimizes by less than that loss's error.
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

// failure returns what is wrong with the time and the event of a row, and of which column; "":
// nothing.
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

// chooseSurvival checks the times and events of the rows that are here.
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

// countEvents finds the events in each set of rows of all sites, and in how many sites there are
// none, by sums.
func countEvents(p *preparation) error {
	if p.recipe.Target.Kind != Survival {
		return nil
	}
	// events and rows of each set; sites without an event
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

// eventTargets returns the times of site i as ranks from 1 on, which keep their order in float32,
// negative where there was no event. It keeps the times in the order of the examples.
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

// perEvent returns the rows of a set of all sites for each of its events, by which weights make a
// mean over rows the mean over events; 1 of other targets.
func perEvent(p *preparation, s set) float64 {
	if p.recipe.Target.Kind != Survival {
		return 1
	}
	return p.rows[s] / p.made.Events[s]
}

// setEvents makes an example count as its events in reported losses, and as its rows in risk sets.
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
