package tables

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
)

// A maker makes a column, value by value.
type maker struct {
	column  *Column
	words   vocabulary
	missing map[string]bool
	bad     badRows // of the table
	rows    int
}

// newMaker begins a column of a kind, with a unit if it is one of times, of a table with bad rows.
func newMaker(name string, kind Kind, unit string, o Options, bad badRows) *maker {
	return &maker{column: &Column{Name: name, Kind: kind, Unit: unit}, missing: o.missingWords(name), bad: bad}
}

// skip appends a missing value for an unreadable one, and returns "" if that is allowed, else the
// reason.
func (m *maker) skip(reason string) string {
	if reason == "" || m.bad == nil {
		return reason
	}
	m.bad.add(m.rows, m.column.Name, reason)
	return m.number(notANumber)
}

// number appends a number, NaN for a missing one; in a column of words it appends the number's
// text. It returns why the number cannot be represented, or "".
func (m *maker) number(v float64) (reason string) {
	switch {
	case m.column.Kind == Word && math.IsNaN(v):
		return m.word(nil)
	case m.column.Kind == Word:
		return m.word(strconv.AppendFloat(nil, v, 'f', -1, 64))
	case math.IsInf(float64(float32(v)), 0): // features are float32
		return fmt.Sprintf("a number must be finite and at most 3.4e38; it is %g", v)
	}
	m.rows++
	m.column.numbers = extend(m.column.numbers, []float64{v})
	return ""
}

// word appends a word without surrounding space; in a column of numbers it appends the word's
// value. It returns why the word cannot be represented, or "".
func (m *maker) word(text []byte) (reason string) {
	text = bytes.TrimSpace(text)
	missing, code := m.missing[string(text)], int32(-1)
	switch {
	case m.column.Kind == Number && missing:
		return m.number(notANumber)
	case m.column.Kind == Number:
		v, f := numberOf(text, '.')
		if f != numberForm {
			return fmt.Sprintf("a value must be a finite number, at most 3.4e38; it is %.40q", text)
		}
		return m.number(v)
	case !missing:
		var fits bool
		if code, fits = m.words.wordPlace(text); !fits {
			return wordLimitText(string(text))
		}
	}
	m.rows++
	m.column.codes, m.column.Words = extend(m.column.codes, []int32{code}), m.words.words
	return ""
}
