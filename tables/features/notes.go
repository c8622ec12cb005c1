package features

import (
	"fmt"
	"math"
	"slices"
	"time"

	"dsbo/internal/wording"
	"dsbo/tables"
)

// Notes returns sentences about values that differ from all training rows, for each column: numbers
// far from the mean, values missing where none was in training, unknown words, and how they are
// encoded.
func (e *Encoder) Notes() (notes []string) {
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	all := wording.Count(e.length, "row")
	for i := range e.inputs {
		in := &e.inputs[i]
		if where := e.farRows(in); where != nil {
			mean := fmt.Sprintf("%.4g ± %.4g", in.Mean, in.Deviation)
			if in.Kind == tables.Time {
				mean = fmt.Sprintf("%s ± %.3g days", in.dayOf(in.Mean), in.Deviation*UnitScale(in.Unit, tables.Days))
			}
			add("column %s is more than %d deviations from the mean of training rows (%s) in %d of %s (%s): "+
				"predictions there extrapolate", in.Name, far, mean, len(where), all, wording.Some(where))
		}
		unknownAs := "none of its words"
		missingAs := unknownAs
		if in.Kind != tables.Word {
			missingAs = "the mean"
		}
		if in.Rare {
			unknownAs = "a rare one"
		}
		if n := e.missingRows(in); n > 0 && !in.Indicator {
			add("column %s has no value in %d of %s, where no training row lacks one; it counts as %s", in.Name, n, all,
				missingAs)
		}
		if n, words := in.unknown(e.length); n > 0 {
			add("column %s has a word that the model does not know in %d of %s (%s); it counts as %s", in.Name, n, all,
				wording.Some(words), unknownAs)
		}
	}
	if e.recipe == nil {
		return notes
	}
	distant, unknown := e.oddSparse()
	if distant != nil {
		add("%d of %s have numbers more than %d times their column's root mean square in training (%s): predictions "+
			"there extrapolate", len(distant), all, far, wording.Some(distant))
	}
	if unknown != nil {
		add("%d of %s: numbers in columns that were 0 in all training rows, such as %s, count as 0", len(unknown), all,
			unknown[0])
	}
	return notes
}

// Bounded returns a note on the rows whose prediction of counts is the largest possible one; "" if
// there are none. values are the predictions.
func (e *Encoder) Bounded(t Target, values []float64) string {
	var where []string
	for row, v := range values {
		if t.Most > 0 && v == t.Most && e.bad[row] == "" {
			where = append(where, e.place(row))
		}
	}
	if where == nil {
		return ""
	}
	return fmt.Sprintf("%d of %s have the largest prediction there is, %.4g, by the counts of training rows (%s): the "+
		"model extrapolates there", len(where), wording.Count(e.length, "row"), t.Most, wording.Some(where))
}

// far is the distance from the mean, in deviations, beyond which a number is unlike the training
// rows: at most 1 % of them are so far, whatever their distribution (Chebyshev's inequality).
const far = 10

// farRows returns the rows in which an input's number is far from training rows.
func (e *Encoder) farRows(in *encodedInput) (where []string) {
	if in.Kind == tables.Word || in.column.Kind == tables.Word {
		return nil
	}
	for row := range e.length {
		if v := float64(in.column.Number(row) * in.scale); math.Abs(v-in.Mean) > far*in.Deviation {
			text := fmt.Sprintf("%.6g", v)
			if in.Kind == tables.Time {
				text = in.dayOf(v)
			}
			where = append(where, e.place(row)+": "+text)
		}
	}
	return where
}

// dayOf returns the day of a time in the input's unit.
func (in *encodedInput) dayOf(v float64) string {
	return time.Unix(int64(math.Floor(v*UnitScale(in.Unit, tables.Days)))*24*60*60, 0).UTC().Format(time.DateOnly)
}

// oddSparse returns the rows of a sparse table with a number more than far times its column's
// scale, each with the first such column. unknown has, for each row with a number in a column that
// is no feature, the first such column. Scales are root mean squares, as sparse columns are not
// centred.
func (e *Encoder) oddSparse() (where, unknown []string) {
	for row := range e.length {
		first, other := -1, int32(-1) // of the row: a feature that is far, and a column without feature
		for k := e.sparse.Starts[row]; k < e.sparse.Starts[row+1]; k++ {
			column := e.sparse.Indices[k]
			switch place := e.recipe.featureOf(column); {
			case place < 0 && other < 0:
				other = column
			case place >= 0 && first < 0 && math.Abs(float64(e.sparse.Values[k])/e.recipe.Scales[place]) > far:
				first = place
			}
		}
		if first >= 0 {
			where = append(where, e.place(row)+": "+sparseName(e.recipe.Indices[first]))
		}
		if other >= 0 {
			unknown = append(unknown, sparseName(int(other)+1))
		}
	}
	return where, unknown
}

// place returns where a row is.
func (e *Encoder) place(row int) string {
	at := e.table.Fail(row, "", "")
	if at.Line > 0 {
		return fmt.Sprintf("line %d", at.Line)
	}
	return fmt.Sprintf("row %d", at.Row)
}

// missingRows returns how many rows have no value, and a prediction all the same.
func (e *Encoder) missingRows(in *encodedInput) (n int) {
	for row := range e.length {
		if in.column.Missing(row) && e.bad[row] == "" {
			n++
		}
	}
	return n
}

// unknown returns which words the recipe does not have, in the order in which they appear, and how
// many of the first rows have one of them. A row without a value has code -1 and does not count.
func (in *encodedInput) unknown(rows int) (n int, words []string) {
	if in.column.Kind != tables.Word {
		return 0, nil
	}
	unknown := make([]bool, len(in.column.Words))
	for code, w := range in.column.Words {
		if !slices.Contains(in.Words, w) {
			unknown[code], words = true, append(words, w)
		}
	}
	for row := range rows {
		if code := in.column.Code(row); code >= 0 && unknown[code] {
			n++
		}
	}
	return n, words
}
