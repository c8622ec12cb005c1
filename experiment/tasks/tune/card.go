package tune

import (
	"slices"

	"dsbo/runs"
	"dsbo/tables"
	"dsbo/tables/features"
)

// card is the task's Card.
func (t *tune) card() *runs.Card {
	p := t.prepared
	if p == nil || p.Missing == nil { // nothing is loaded, or a recipe is followed: nobody has counted rows
		return nil
	}
	target := p.Recipe.Target
	card := &runs.Card{Rows: p.Rows, Target: runs.CardColumn{Name: target.Name, Read: string(target.Kind),
		Missing: runs.Unknown(), Mean: runs.Unknown(), Deviation: runs.Unknown(), Levels: target.Classes}}
	for _, n := range p.Classes {
		card.Target.Counts = append(card.Target.Counts, runs.Number(n))
	}
	switch target.Kind {
	case features.Survival:
		card.Target.Levels = []string{"event", "censored"}
		card.Target.Counts = []runs.Number{runs.Number(p.Events[0]), runs.Number(float64(p.Rows[0]) - p.Events[0])}
	case features.Value:
		card.Target.Deviation = runs.Number(target.Deviation)
		fallthrough
	case features.Counts:
		card.Target.Mean = runs.Number(target.Mean)
	}
	card.Sites, card.Odd = slices.Clone(p.OfSites), p.Odd
	for i := range card.Sites {
		if p.Folds > 0 { // training rows are validation rows too, in other folds
			card.Sites[i][1] = card.Sites[i][0]
		}
	}
	for _, n := range p.OwnRows {
		card.Own = append(card.Own, runs.Number(n))
	}
	for k, in := range p.Recipe.Inputs {
		one := runs.CardColumn{Name: in.Name, Read: readAs(in), Missing: runs.Number(p.Missing[k]),
			Mean: runs.Unknown(), Deviation: runs.Unknown(), Levels: in.Words, Dropped: in.Dropped}
		if in.Kind != tables.Word && in.Dropped == "" {
			one.Mean, one.Deviation = runs.Number(in.Mean), runs.Number(in.Deviation)
		}
		card.Columns = append(card.Columns, one)
	}
	return card
}

// readAs describes how the values of an input were read.
func readAs(in features.Input) string {
	switch {
	case in.Kind == tables.Word:
		return "words"
	case in.Kind == tables.Time && in.Unit == tables.Days:
		return runs.DateColumn
	case in.Kind == tables.Time:
		return runs.TimeColumn
	case in.Unit != "":
		return "number, " + in.Unit
	}
	return "number"
}
