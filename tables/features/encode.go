package features

import (
	"fmt"
	"maps"
	"slices"

	"dsbo/ad"
	"dsbo/internal/num"
	"dsbo/tables"
)

// Options returns how to read a table that is to be encoded: the columns that the recipe needs, of
// the kinds that they had, whatever their values look like.
func (r Recipe) Options() tables.Options {
	o := tables.Options{Kinds: map[string]tables.Kind{}, Missing: r.MissingWords, MissingOf: map[string][]string{}}
	for _, in := range r.Used() {
		o.Keep, o.Kinds[in.Name] = append(o.Keep, in.Name), in.Kind
		if in.MissingWords != nil {
			o.MissingOf[in.Name] = in.MissingWords
		}
	}
	return o
}

// An Encoder makes features of the rows of one table. Its methods may be called by
// several goroutines.
type Encoder struct {
	table  *tables.Table
	bad    map[int]string // rows without a prediction, and why
	inputs []encodedInput // those that become features
	width  int
	length int
	recipe *Sparse       // of sparse tables, which have no inputs; nil: of others
	sparse tables.Sparse // the table's
}

// An encodedInput is an input with the column of a table that has its values.
type encodedInput struct {
	Input
	column    *tables.Column
	scale     float64 // of the column, in the input's unit of time; 1 for numbers
	number    int     // place of a number among the features
	words     []int   // place of each word of the column; -1: there is none
	indicator int     // place of a missing value; -1: there is none
}

// unitsPerDay are the units of times.
var unitsPerDay = map[string]float64{"day": 1, "s": 86400, "ms": 86400e3, "us": 86400e6, "ns": 86400e9}

// UnitScale returns what a time in one unit is multiplied with to be in another one; 1 for numbers,
// which have none.
func UnitScale(from, to string) float64 {
	if from == to {
		return 1
	}
	return unitsPerDay[to] / unitsPerDay[from]
}

// NewEncoder returns an encoder of a table by a recipe, whose columns it finds by name. It ignores
// other columns; the target may be missing. A word unknown to the recipe counts as rare, or, if the
// recipe has no feature for rare words, as no word. Times may have another unit than in training.
//
// It fails with dsbo.ErrConfig, naming the file and the column, if a column is missing, has other
// values, or has no value in a row though the recipe refuses that, and naming the file if the table
// is not sparse and the recipe is. Of a table that was read with [tables.Options.Spare] the row is
// bad instead ([Encoder.Bad]).
func (r Recipe) NewEncoder(t *tables.Table) (*Encoder, error) {
	e := &Encoder{table: t, bad: maps.Clone(t.Bad), length: t.Rows(), recipe: r.Sparse, sparse: t.Sparse}
	if r.Sparse != nil && t.Sparse.Cols == 0 {
		return nil, &tables.Error{File: t.Name,
			Reason: "the model was trained with sparse columns, as of LIBSVM files; there are none"}
	}
	for _, in := range r.Used() {
		c := t.Column(in.Name)
		if c == nil {
			return nil, &tables.Error{File: t.Name, Column: in.Name,
				Reason: "the column is missing, and the model needs it"}
		}
		differs := c.Kind != in.Kind || c.Kind == tables.Number && c.Unit != in.Unit
		if differs && !allMissing(c, t.Rows()) { // without values the kind in the file is a guess
			return nil, &tables.Error{File: t.Name, Column: in.Name,
				Reason: fmt.Sprintf("the column holds %s; the model was trained with %s",
					describe(c.Kind, c.Unit),
					describe(in.Kind, in.Unit))}
		}
		if r.Missing == NoneMissing {
			if err := e.refuseMissing(c); err != nil {
				return nil, err
			}
		}
		e.add(in, c)
	}
	return e, nil
}

// refuseMissing rejects rows in which a column has no value: the first of them with an error, or,
// in a table that was read with spare rows, each by marking it as bad. e.bad is nil in other
// tables.
func (e *Encoder) refuseMissing(c *tables.Column) error {
	const why = "the value is missing, which the model was trained to refuse (-missing refuse)"
	for row := range e.length {
		switch {
		case !c.Missing(row) || e.bad[row] != "":
		case e.bad == nil:
			return e.table.Fail(row, c.Name, why)
		default:
			e.bad[row] = "column " + c.Name + ": " + why
		}
	}
	return nil
}

// Bad returns why a row has no prediction; "": it has one.
func (e *Encoder) Bad(row int) string { return e.bad[row] }

// Rows returns the number of rows of the table.
func (e *Encoder) Rows() int { return e.length }

// Row appends the features of a row that can differ from 0 to places, in the order of
// Recipe.Features, and their values to values.
func (e *Encoder) Row(places []int32, values []float64, row int) ([]int32, []float64) {
	add := func(place int, v float64) { places, values = append(places, int32(place)), append(values, v) }
	for i := range e.inputs {
		if place, v := e.inputs[i].encode(row); place >= 0 {
			add(place, v)
		}
	}
	if e.recipe != nil {
		eachFeature(e.recipe, e.sparse, row, add)
	}
	return places, values
}

// add appends an input, whose features follow the ones before it, in the order of Recipe.Features.
// For each word of the column it finds the feature: the word's own, the one of rare words, or none.
func (e *Encoder) add(in Input, c *tables.Column) {
	rare, missing, count := in.Layout()
	place := func(k int) int {
		if k < 0 {
			return -1
		}
		return e.width + k
	}
	next := encodedInput{Input: in, column: c, scale: UnitScale(c.Unit, in.Unit), number: e.width,
		indicator: place(missing)}
	for _, w := range c.Words {
		k := slices.Index(in.Words, w)
		if k < 0 {
			k = rare
		}
		next.words = append(next.words, place(k))
	}
	e.width += count
	e.inputs = append(e.inputs, next)
}

// stretch is the number of rows that are encoded together. Inputs write to the rows one after the
// other; so few rows stay in the processor's cache meanwhile.
const stretch = 256

// rows encodes the rows from..to-1 into the vectors that dst returns. These must be 0 before, as
// only the one feature of an input that differs from 0 is written. Stretches run in parallel.
func (e *Encoder) rows(from, to int, dst func(row int) []float32) {
	inParallel((to-from+stretch-1)/stretch, func(k int) {
		first := from + k*stretch
		last := min(first+stretch, to)
		for i := range e.inputs {
			for row := first; row < last; row++ {
				if place, v := e.inputs[i].encode(row); place >= 0 {
					dst(row)[place] = float32(v)
				}
			}
		}
	})
}

// encode returns the place and the value of the only feature of an input that can differ from 0 in
// a row. A place of -1 means that there is none.
func (in *encodedInput) encode(row int) (place int, v float64) {
	switch {
	case in.column.Missing(row):
		return in.indicator, 1
	case in.Kind != tables.Word:
		v := in.column.Number(row) * in.scale
		if !in.IsWide() {
			v = float64(float32(v)) // as a model.onnx takes it
		}
		return in.number, (v - in.Mean) / in.Deviation
	}
	return in.words[in.column.Code(row)], 1
}

// targets returns the targets of all rows of a table as the model learns them: one-hot classes, or
// one column of scaled numbers. It fails with dsbo.ErrConfig if the target's column is missing, has
// a missing value, has words where numbers were learned, or a class that training did not have.
func (r Recipe) targets(t *tables.Table) (*ad.Table, error) {
	c, rows := t.Column(r.Target.Name), t.Rows()
	if c == nil {
		return nil, &tables.Error{File: t.Name, Column: r.Target.Name, Reason: "the column of the target is missing"}
	}
	for row := range rows {
		if c.Missing(row) {
			return nil, t.Fail(row, c.Name, "the target is missing")
		}
	}
	if r.Target.Kind == Class {
		labels, err := classPlaces(t, c, r.Target.Classes)
		if err != nil {
			return nil, err
		}
		return ad.LabelTable(labels, len(r.Target.Classes))
	}
	if c.Kind == tables.Word {
		return nil, &tables.Error{File: t.Name, Column: c.Name,
			Reason: "the target must be numbers; the column holds words"}
	}
	list := make([]float32, rows)
	for row := range list {
		list[row] = float32(r.Target.encode(c.Number(row)))
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

// Decode turns an output of the model into a value: it undoes the scaling of numbers, and takes the
// exponential for counts and for hazards relative to the mean row's, whose logarithms a model
// predicts. Counts are at most Most.
func (t Target) Decode(v float64) float64 {
	switch t.Kind {
	case Value:
		return float64(v*t.Deviation) + t.Mean
	case Counts, Survival:
		if t.Most > 0 {
			return min(num.Exp(v), t.Most)
		}
		return num.Exp(v)
	}
	return v
}
