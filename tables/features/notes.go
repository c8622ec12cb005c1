package features

import (
	"fmt"
	"math"
	"slices"

	"dsbo/internal/wording"
	"dsbo/tables"
)

// Notes returns a sentence for each column with values that no training row had, and how they are
// encoded.
func (e *Encoder) Notes() []string {
	var notes []string
	for i := range e.inputs {
		in := &e.inputs[i]
		if n, where := e.farRows(in); n > 0 {
			notes = append(notes, fmt.Sprintf("column %s is more than %d deviations from the mean of training rows "+
				"(%.4g ± %.4g) in %d of %s (%s): predictions there extrapolate", in.Name, far, in.Mean, in.Deviation,
				n, wording.Count(e.length, "row"), wording.Some(where)))
		}
		if n := e.missingRows(in); n > 0 && !in.Indicator {
			as := "the mean"
			if in.Kind == tables.Word {
				as = "none of its words"
			}
			notes = append(notes, fmt.Sprintf(
				"column %s has no value in %d of %s, where no training row lacks one; it counts as %s", in.Name, n,
				wording.Count(e.length, "row"), as))
		}
		if n, words := in.unknown(e.length); n > 0 {
			as := "none of its words"
			if in.Rare {
				as = "a rare one"
			}
			notes = append(notes, fmt.Sprintf(
				"column %s has a word that the model does not know in %d of %s (%s); it counts as %s", in.Name, n,
				wording.Count(e.length, "row"), wording.Some(words), as))
		}
	}
	if n, where := e.farSparse(); n > 0 {
		notes = append(notes, fmt.Sprintf("%d of %s have numbers more than %d times their column's root mean "+
			"square in training (%s): predictions there extrapolate", n, wording.Count(e.length, "row"), far,
			wording.Some(where)))
	}
	if n, first := e.unknownSparse(); n > 0 {
		notes = append(notes, fmt.Sprintf(
			"%d of %s: numbers in columns that were 0 in all training rows, such as %s, count as 0", n,
			wording.Count(e.length, "row"), first))
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

// unknownSparse returns how many rows have a number in a sparse column that is no feature, and the
// first such column.
func (e *Encoder) unknownSparse() (n int, first string) {
	if e.recipe == nil {
		return 0, ""
	}
	for row := range e.length {
		for _, column := range e.sparse.Indices[e.sparse.Starts[row]:e.sparse.Starts[row+1]] {
			if e.recipe.featureOf(column) < 0 {
				if n++; n == 1 {
					first = sparseName(int(column) + 1)
				}
				break
			}
		}
	}
	return n, first
}

// far is how many deviations from the mean a number is far from training rows: whatever their
// distribution, at most 1 of 100 training rows is (Chebyshev's inequality).
const far = 10

// farRows returns in how many rows an input's number is far from training rows, and where.
func (e *Encoder) farRows(in *encodedInput) (n int, where []string) {
	if in.Kind == tables.Word || in.column.Kind == tables.Word {
		return 0, nil
	}
	for row := range e.length {
		v := float64(in.column.Number(row) * in.scale)
		if !(math.Abs(v-in.Mean) > far*in.Deviation) {
			continue
		}
		n++
		where = append(where, fmt.Sprintf("%s: %.6g", e.place(row), v))
	}
	return n, where
}

// farSparse is farRows of all sparse columns, whose numbers have mean 0 and deviation 1 in training
// rows, as far as they are not 0.
func (e *Encoder) farSparse() (n int, where []string) {
	if e.recipe == nil {
		return 0, nil
	}
	for row := range e.length {
		first := -1
		eachFeature(e.recipe, e.sparse, row, func(place int, v float64) {
			if first < 0 && math.Abs(v) > far {
				first = place
			}
		})
		if first >= 0 {
			n++
			where = append(where, e.place(row)+": "+sparseName(e.recipe.Indices[first]))
		}
	}
	return n, where
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
// many rows have one of them.
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
