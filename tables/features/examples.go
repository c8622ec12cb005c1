package features

import (
	"fmt"
	"math"
	"runtime/debug"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/tables"
)

// encode makes the examples of the sites that are here.
func (p *preparation) encode() (err error) {
	p.made.Data = data.Task{Shards: make([]data.Shard, len(p.Tables)), Features: len(p.recipe.Features()),
		Classes: len(p.recipe.Target.Classes)}
	if p.recipe.Target.Kind == Survival {
		p.made.Data.Counted = "event"
	}
	for _, i := range p.localSites() {
		if p.made.Data.Shards[i], err = p.encodeSite(i); err != nil {
			return err
		}
	}
	return nil
}

// encodeSite makes the examples of site i. Its table is empty then.
func (p *preparation) encodeSite(i int) (made data.Shard, err error) {
	if err := p.refuseFar(i); err != nil {
		return made, err
	}
	var targets *ad.Table
	if p.recipe.Target.Kind == Survival {
		targets, err = eventTargets(p, i)
	} else {
		targets, err = p.recipe.targets(p.Tables[i])
	}
	if err != nil {
		return made, err
	}
	x, err := p.features(i)
	if err != nil {
		return made, err
	}
	for k, e := range [sets]*data.Examples{&made.Train, &made.Val, &made.Test} {
		if p.parts[i].sizes[k] == 0 {
			continue
		}
		var rows []int
		for row, of := range p.parts[i].of {
			if of == set(k) {
				rows = append(rows, row)
			}
		}
		e.X = x[k]
		if e.Target, err = targets.Pick(rows); err != nil {
			return made, err
		}
		e.Target = e.Target.Compact()
		if e.Count, err = countTable(p, i, rows); err != nil {
			return made, err
		}
		if p.recipe.Target.Kind == Survival {
			if err = setEvents(e); err != nil {
				return made, err
			}
		}
		if set(k) != testing {
			if e.Weight, err = weightTable(p, i, set(k)); err != nil {
				return made, err
			}
		}
		if set(k) == validation {
			if e.Weight, err = scaled(e.Weight, len(rows), perEvent(p, validation)); err != nil {
				return made, err
			}
		}
	}
	if p.made.Together[i], err = weightTable(p, i, training, validation, testing); err != nil {
		return made, err
	}
	if p.folds > 0 {
		made.Train, made.Val, err = p.crossValidate(i, made.Train)
	}
	return made, err
}

// farthest is the largest distance of a number from the mean of training rows, in their deviations.
// Beyond it one row dominates any mean of losses.
const farthest = 1e6

// refuseFar names the first number of site i, the target's too, that is out of all proportion to
// the training rows: checkSpread sees these alone.
func (p *preparation) refuseFar(i int) error {
	if p.plain {
		return nil
	}
	check := func(c *tables.Column, mean, deviation float64) error {
		for row := range p.parts[i].of {
			if d := (c.Number(row) - mean) / deviation; math.Abs(d) > farthest {
				return p.failAt(i, row, c.Name, "the number must be in proportion to the others; it is %s, %.3g times "+
					"their standard deviation from their mean (-drop leaves the column out)", numberText(c.Number(row)),
					math.Abs(d))
			}
		}
		return nil
	}
	for k, in := range p.recipe.Inputs {
		if in.Dropped != "" || in.Kind != tables.Number {
			continue
		}
		if c := p.Tables[i].Columns[p.places[k]]; c.Kind == tables.Number {
			if err := check(c, in.Mean, in.Deviation); err != nil {
				return err
			}
		}
	}
	switch target := p.recipe.Target; {
	case target.Kind == Value:
		return check(p.column(i, p.Target), target.Mean, target.Deviation)
	case target.Kind == Counts:
		return check(p.column(i, p.Target), target.Mean, max(1, target.Mean))
	}
	return nil
}

// features encodes the rows of site i, the rows of each set one after the other in memory of their
// own, and frees the table's blocks as it goes.
func (p *preparation) features(i int) (sites [sets]*ad.Table, err error) {
	if p.recipe.Sparse != nil {
		return p.sparseFeatures(i)
	}
	t, part := p.Tables[i], p.parts[i]
	e, err := p.recipe.NewEncoder(t)
	if err != nil {
		return sites, err
	}
	var x [sets][]float32
	for k, size := range part.sizes {
		x[k] = make([]float32, size*e.width)
	}
	places := make([]int32, t.Rows()) // of each row in its set
	var next [sets]int32
	for row, of := range part.of {
		places[row] = next[of]
		next[of]++
	}
	for from := 0; from < t.Rows(); from += tables.BlockRows {
		e.rows(from, min(from+tables.BlockRows, t.Rows()), func(row int) []float32 {
			return x[part.of[row]][int(places[row])*e.width:][:e.width]
		})
		p.freeBlocks(t, from)
		if block := from / tables.BlockRows; block%collectEvery == collectEvery-1 {
			debug.FreeOSMemory() // else what is freed and what is filled are both there until the next collection
		}
	}
	for k := range x {
		if len(x[k]) == 0 {
			continue
		}
		if sites[k], err = ad.Float32Table(part.sizes[k], e.width, x[k]); err != nil {
			return sites, fmt.Errorf("%s: %s features: %w", p.label(i), setNames[k], err)
		}
	}
	return sites, nil
}

// collectEvery is the number of blocks after which freed memory is given back: a sixteenth of a
// table of a million rows.
const collectEvery = 16

// freeBlocks frees the block of each input that begins with a row.
func (p *preparation) freeBlocks(t *tables.Table, row int) {
	for _, k := range p.places {
		t.Columns[k].Free(row / tables.BlockRows)
	}
}
