package modelfile

import (
	"fmt"
	"slices"
	"strings"

	"dsbo/features"
	"dsbo/table"
)

// Inputs are the columns of a table from which a model predicts.
type Inputs struct {
	columns []column // of the recipe's inputs but those that are dropped, in their order
	rows    int
}

// A column is an input of a recipe in a table.
type column struct {
	features.Input
	values *table.Column
	scale  float64 // from the table's unit of time to the recipe's; 1 for numbers
}

// unitSeconds are the units of times, in seconds.
var unitSeconds = map[string]float64{"day": 24 * 60 * 60, "s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}

// Options returns how to read a table so that a model of this recipe can predict from it: the columns that it needs, of the kinds that
// they had, whatever the values look like.
func Options(r features.Recipe) table.Options {
	o := table.Options{Kinds: map[string]table.Kind{}}
	for _, in := range used(r) {
		o.Keep, o.Kinds[in.Name] = append(o.Keep, in.Name), in.Kind
	}
	return o
}

// used returns the inputs of a recipe that become features.
func used(r features.Recipe) []features.Input {
	return slices.DeleteFunc(slices.Clone(r.Inputs), func(in features.Input) bool { return in.Dropped != "" })
}

// Bind finds the columns of a recipe in a table, by their names. Further columns of the table, the target among them, say nothing. Errors
// are [*table.FileError]: a column that is not there, or of another kind.
func Bind(r features.Recipe, t *table.Table) (*Inputs, error) {
	bound := &Inputs{rows: t.Rows()}
	for _, in := range used(r) {
		at := slices.IndexFunc(t.Columns, func(c *table.Column) bool { return c.Name == in.Name })
		if at < 0 {
			return nil, &table.FileError{File: t.Name, Column: in.Name, Reason: "it must be there, as the model needs it"}
		}
		c := column{in, t.Columns[at], 1}
		if c.values.Kind != in.Kind {
			return nil, &table.FileError{File: t.Name, Column: in.Name,
				Reason: "it must have values of the kind " + string(in.Kind) + ", as in training; it has those of the kind " + string(c.values.Kind)}
		}
		if in.Kind == table.Time {
			c.scale = unitSeconds[c.values.Unit] / unitSeconds[in.Unit]
		}
		bound.columns = append(bound.columns, c)
	}
	return bound, nil
}

// Rows returns the number of rows.
func (b *Inputs) Rows() int { return b.rows }

// number returns the number in a row, in the recipe's unit; NaN: it is missing.
func (c *column) number(row int) float32 { return float32(float64(c.values.Number(row)) * c.scale) }

// word returns the word in a row; "": it is missing.
func (c *column) word(row int) string {
	if code := c.values.Code(row); code >= 0 {
		return c.values.Words[code]
	}
	return ""
}

// Notes says what stands in the table as in no training row, and what it counts as, a sentence for each column.
func (b *Inputs) Notes() []string {
	var notes []string
	for _, c := range b.columns {
		if n := c.missing(b.rows); n > 0 && !c.Indicator {
			as := "the mean"
			if c.Kind == table.Word {
				as = "none of its words"
			}
			notes = append(notes, fmt.Sprintf("column %s: %d of %d rows have no value, as no training row had; it counts as %s", c.Name, n, b.rows, as))
		}
		if n, words := c.unknown(b.rows); n > 0 {
			as := "none of its words"
			if c.Rare {
				as = "a rare one"
			}
			const most = 5
			list := strings.Join(words[:min(most, len(words))], ", ")
			if len(words) > most {
				list += fmt.Sprintf(" and %d more", len(words)-most)
			}
			notes = append(notes, fmt.Sprintf("column %s: %d of %d rows have a word that the model does not know (%s); it counts as %s", c.Name, n, b.rows, list, as))
		}
	}
	return notes
}

// missing returns how many rows have no value.
func (c *column) missing(rows int) (n int) {
	for row := range rows {
		if c.values.Missing(row) {
			n++
		}
	}
	return n
}

// unknown returns which words the recipe does not have, in the order in which they appear, and how many rows have one of them.
func (c *column) unknown(rows int) (n int, words []string) {
	if c.Kind != table.Word {
		return 0, nil
	}
	places, unknown := placesOf(c.Input), make([]bool, len(c.values.Words))
	for code, w := range c.values.Words {
		if _, known := places[w]; !known {
			unknown[code], words = true, append(words, w)
		}
	}
	for row := range rows {
		if code := c.values.Code(row); code >= 0 && unknown[code] {
			n++
		}
	}
	return n, words
}

// placesOf returns the place of each word of an input among its features.
func placesOf(in features.Input) map[string]int {
	places := make(map[string]int, len(in.Words))
	for i, w := range in.Words {
		places[w] = i
	}
	return places
}

// other returns the place of rare words and of missing ones among the features of an input of words, -1 where they have none, and the
// number of features.
func other(in features.Input) (rare, missing, count int) {
	rare, missing, count = -1, -1, len(in.Words)
	if in.Rare {
		rare, count = count, count+1
	}
	if in.Indicator {
		missing, count = count, count+1
	}
	return rare, missing, count
}
