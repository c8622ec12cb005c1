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

// encodeSite makes the examples of site i: features, targets, row counts and weights of each set,
// where sets without rows stay empty. It empties the site's table, to save memory. Validation
// weights are scaled so that losses of survival times are means over events; test examples have no
// weights. With folds, training and validation examples become the same rows with fold weights.
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
		var rows []int // of this set
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

// farthest is the largest allowed distance of a number from the mean of the training rows, in
// standard deviations. A row beyond it would dominate any mean of losses.
const farthest = 1e6

// refuseFar returns an error for the first number of site i, of an input or the target, that is
// more than farthest from the mean. checkSpread sees training rows only; this checks validation and
// test rows too. A known recipe (p.plain) comes from other rows, so any number is taken.
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
	case target.Kind == Counts: // which have no deviation; their variance is about the mean or more
		return check(p.column(i, p.Target), target.Mean, max(1, target.Mean))
	}
	return nil
}

// features encodes the rows of site i into one table for each set. The blocks of the site's own
// table are freed as they are encoded, so that the data is never in memory twice.
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
	places := make([]int32, t.Rows()) // of each row, its index in its set
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
			debug.FreeOSMemory() // else freed blocks stay in memory until the next garbage collection
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

// collectEvery is the number of blocks after which freed memory is returned to the system. In a
// table of a million rows this is a sixteenth of them.
const collectEvery = 16

// freeBlocks frees the block of each input that begins with a row.
func (p *preparation) freeBlocks(t *tables.Table, row int) {
	for _, k := range p.places {
		t.Columns[k].Free(row / tables.BlockRows)
	}
}
