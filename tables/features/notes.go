package features

import (
	"fmt"
	"slices"

	"dsbo/internal/wording"
	"dsbo/tables"
)

// Notes says what stands in the table as in no training row, and what it counts as, a sentence for
// each column.
func (e *Encoder) Notes() []string {
	var notes []string
	for i := range e.inputs {
		in := &e.inputs[i]
		if n := in.missingRows(e.length); n > 0 && !in.Indicator {
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
	if n, first := e.unknownSparse(); n > 0 {
		notes = append(notes, fmt.Sprintf(
			"%d of %s: numbers in columns that were 0 in all training rows, such as %s, count as 0", n,
			wording.Count(e.length, "row"), first))
	}
	return notes
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

// missingRows returns how many rows have no value.
func (in *encodedInput) missingRows(rows int) (n int) {
	for row := range rows {
		if in.column.Missing(row) {
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
