package features

import (
	"fmt"
	"math"
	"slices"

	"dsbo/ad"
	"dsbo/table"
)

// Kinds returns the kinds of the columns that a table must have to be encoded, for table.Options.
func (r Recipe) Kinds() map[string]table.Kind {
	kinds := map[string]table.Kind{}
	for _, in := range r.Inputs {
		if in.Dropped == "" {
			kinds[in.Name] = in.Kind
		}
	}
	return kinds
}

// Encode returns the features of all rows of a table, with a column for each of Features. Columns are found by name; other columns are
// left alone, and the target need not be there. A word that the recipe does not have counts as rare, or as none where it has no rare
// words. The memory is that of the features, in float32.
//
// It fails with dsbo.ErrConfig, naming the file and the column, if a column is not there or holds something else.
func (r Recipe) Encode(t *table.Table) (*ad.Table, error) {
	e, err := r.newEncoder(t)
	if err != nil {
		return nil, err
	}
	x := make([]float32, t.Rows()*e.width)
	e.rows(0, t.Rows(), func(row int) []float32 { return x[row*e.width:][:e.width] })
	features, err := ad.Float32Table(t.Rows(), e.width, x)
	if err != nil {
		return nil, fmt.Errorf("features of %s: %w", t.Name, err)
	}
	return features, nil
}

// An encoder writes the rows of one table as features.
type encoder struct {
	width  int
	inputs []encodedInput
}

// An encodedInput is a column that becomes features. Places are columns of the result; -1: there is none.
type encodedInput struct {
	Input
	column    *table.Column
	number    int   // place of a number
	words     []int // place of each word of the column
	indicator int
}

// newEncoder finds the columns of a recipe in a table.
func (r Recipe) newEncoder(t *table.Table) (*encoder, error) {
	e := new(encoder)
	for _, in := range r.Inputs {
		if in.Dropped != "" {
			continue
		}
		k := slices.IndexFunc(t.Columns, func(c *table.Column) bool { return c.Name == in.Name })
		if k < 0 {
			return nil, &table.FileError{File: t.Name, Column: in.Name, Reason: "the column is missing, and the model needs it"}
		}
		c := t.Columns[k]
		if (c.Kind != in.Kind || c.Unit != in.Unit) && !empty(c, t.Rows()) {
			return nil, &table.FileError{File: t.Name, Column: in.Name, Reason: fmt.Sprintf("the column holds %s; the model was trained with %s",
				columnSchema{Kind: c.Kind, Unit: c.Unit}.describe(), columnSchema{Kind: in.Kind, Unit: in.Unit}.describe())}
		}
		e.add(in, c)
	}
	return e, nil
}

// add lays out the features of an input, in the order of Recipe.Features.
func (e *encoder) add(in Input, c *table.Column) {
	next := encodedInput{Input: in, column: c, number: -1, indicator: -1}
	if in.Kind == table.Word {
		rare := -1
		if in.Rare {
			rare = e.width + len(in.Words)
		}
		for _, w := range c.Words {
			place := rare
			if k := slices.Index(in.Words, w); k >= 0 {
				place = e.width + k
			}
			next.words = append(next.words, place)
		}
		e.width += len(in.Words)
		if in.Rare {
			e.width++
		}
	} else {
		next.number = e.width
		e.width++
	}
	if in.Indicator {
		next.indicator = e.width
		e.width++
	}
	e.inputs = append(e.inputs, next)
}

// stretch is how many rows are encoded together: few enough that their features stay in a cache while column after column writes to
// them.
const stretch = 256

// rows encodes rows from to to-1, each to its place, which holds zeros, several stretches at the same time.
func (e *encoder) rows(from, to int, dst func(row int) []float32) {
	atOnce((to-from+stretch-1)/stretch, func(k int) {
		first := from + k*stretch
		last := min(first+stretch, to)
		for _, in := range e.inputs {
			for row := first; row < last; row++ {
				in.encode(dst(row), row)
			}
		}
	})
}

// encode writes the features of one row.
func (in *encodedInput) encode(dst []float32, row int) {
	place := in.indicator
	switch {
	case in.column.Missing(row):
	case in.number >= 0:
		dst[in.number] = float32((float64(in.column.Number(row)) - in.Mean) / in.Deviation)
		return
	default:
		place = in.words[in.column.Code(row)]
	}
	if place >= 0 {
		dst[place] = 1
	}
}

// Targets returns the targets of all rows of a table as the model learns them: one-hot classes, or one column of numbers. It fails with
// dsbo.ErrConfig if the target's column is not there, or has a value that was no class in training.
func (r Recipe) Targets(t *table.Table) (*ad.Table, error) {
	k := slices.IndexFunc(t.Columns, func(c *table.Column) bool { return c.Name == r.Target.Name })
	if k < 0 {
		return nil, &table.FileError{File: t.Name, Column: r.Target.Name, Reason: "the column of the target is missing"}
	}
	c, rows := t.Columns[k], t.Rows()
	for row := range rows {
		if c.Missing(row) {
			return nil, &table.FileError{File: t.Name, Column: c.Name, Reason: fmt.Sprintf("the target of row %d is missing", row+1)}
		}
	}
	if r.Target.Kind == Class {
		labels, err := classOf(c, rows, r.Target.Classes)
		if err != nil {
			return nil, fmt.Errorf("%s, column %s: %w", t.Name, c.Name, err)
		}
		return ad.LabelTable(labels, len(r.Target.Classes))
	}
	if c.Kind == table.Word {
		return nil, &table.FileError{File: t.Name, Column: c.Name, Reason: "the target must be numbers; the column holds words"}
	}
	list := make([]float32, rows)
	for row := range list {
		list[row] = float32(r.Target.encode(float64(c.Number(row))))
	}
	return ad.Float32Table(rows, 1, list)
}

// encode returns a value as the model learns it.
func (t Target) encode(v float64) float64 {
	if t.Kind == Value {
		return (v - t.Mean) / t.Deviation
	}
	return v
}

// Decode returns the value of a number in the model's units: of a count, which the model gives as its logarithm, e^v.
func (t Target) Decode(v float64) float64 {
	switch t.Kind {
	case Value:
		return v*t.Deviation + t.Mean
	case Counts:
		return math.Exp(v)
	}
	return v
}
