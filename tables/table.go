// Package tables has tables as people keep them: named columns of numbers, words and times, read
// from files of several formats. What a file holds is found by its content, never by its name.
// Package features makes examples of a table.
//
// [Open] reads a file, [Read] anything else, by [Options]; [NumberColumn], [WordColumn] and [New]
// make a table of values, for tests and for a [Format] of a program of its own, which [Register]
// adds.
//
// # Why not encoding/csv alone
//
// Sites have tables of other dialects, kinds and words, and must come to the same columns without
// showing their rows. encoding/csv and a library for Parquet give cells; this package finds the
// kinds of columns, the words for missing values and the places of errors, in memory of the numbers
// alone.
package tables

import "math"

// A Kind is the kind of a column's values.
type Kind string

// The kinds of columns.
const (
	Number Kind = "number"
	Word   Kind = "word" // text, such as the name of a category
	Time   Kind = "time" // a number of [Column.Unit] since 1970 in UTC
)

// A Table is rows of named columns. Its columns have the same length.
type Table struct {
	Name    string // of the file, for errors; "" where it is not known
	Columns []*Column
	// Sparse are further columns of numbers, most of which are 0, as of LIBSVM files; the zero
	// value: none.
	Sparse Sparse
	// Notes are what is unusual about the values of a text file, a sentence each.
	Notes []string
	// Bad are the rows with a value that cannot be read, and the first reason of each; nil: of a
	// table that was read without [Options.Spare].
	Bad   map[int]string
	rows  int
	lines lines // of text files; nil: of others
	byRow bool  // whether lines are rows of the file, from 1, of which these were picked
}

// Rows returns the number of rows.
func (t *Table) Rows() int { return t.rows }

// Column returns the column of a name; nil: there is none.
func (t *Table) Column(name string) *Column {
	for _, c := range t.Columns {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// BlockRows is the number of rows in a block, the unit in which columns take and free memory.
const BlockRows = 1 << 12

// A Column is a name and a value for each row, some of which may be missing.
type Column struct {
	Name string
	Kind Kind
	Unit string // of a time: "day" or "s"; else ""
	// Words are the distinct words of a column of words, in the order in which they appear in
	// the file.
	Words []string

	numbers [][]float64 // of numbers and times, in blocks; NaN: missing
	codes   [][]int32   // of words, in blocks: places in Words; -1: missing
}

// Number returns the number in a row of a column of numbers or times, NaN where it is missing.
func (c *Column) Number(row int) float64 { return c.numbers[row/BlockRows][row%BlockRows] }

// Code returns the place in Words of the word in a row, -1 where it is missing.
func (c *Column) Code(row int) int32 { return c.codes[row/BlockRows][row%BlockRows] }

// Free gives up the values of a block, from 0, and their memory: nothing may ask for
// them afterwards.
func (c *Column) Free(block int) {
	if c.Kind == Word {
		c.codes[block] = nil
	} else {
		c.numbers[block] = nil
	}
}

// Missing reports whether the value in a row is missing.
func (c *Column) Missing(row int) bool {
	if c.Kind == Word {
		return c.Code(row) < 0
	}
	return math.IsNaN(c.Number(row))
}

// Sparse is a matrix by its numbers that are not 0, row by row. The zero value has no columns.
type Sparse struct {
	Cols    int
	Starts  []int     // where each row begins in Indices and Values; the last entry is their length
	Indices []int32   // columns, from 0, ascending in a row
	Values  []float32 // the numbers
}
