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
	most    int // words
	missing map[string]bool
	numbers []float64 // the last values, not in the column yet
	codes   []int32
	text    []byte
	bad     badRows // of the table
}

// newMaker begins a column of a kind, with a unit if it is one of times.
func newMaker(name string, kind Kind, unit string, o Options) *maker {
	c := &Column{Name: name, Kind: kind, Unit: unit}
	return &maker{column: c, most: o.maxWords(), missing: o.missingWords(name)}
}

// skip appends a missing value for an unreadable one, and returns "" if that is allowed, else the
// reason.
func (m *maker) skip(reason string) string {
	if reason == "" || m.bad == nil {
		return reason
	}
	m.bad.add(m.rows(), m.column.Name, reason)
	return m.number(notANumber)
}

// number appends a number, NaN where it is missing; in a column of words, its text. The reason of
// an error is "" where there is none.
func (m *maker) number(v float64) (reason string) {
	missing := math.IsNaN(v)
	if m.column.Kind == Word {
		if missing {
			return m.word(nil)
		}
		m.text = strconv.AppendFloat(m.text[:0], v, 'f', -1, 64)
		return m.word(m.text)
	}
	if math.IsInf(float64(float32(v)), 0) {
		return fmt.Sprintf("a number must be finite and at most 3.4e38; it is %g", v)
	}
	m.numbers = append(m.numbers, v)
	m.flush(false)
	return ""
}

// word appends a word without the space around it; in a column of numbers, its value.
func (m *maker) word(text []byte) (reason string) {
	text = bytes.TrimSpace(text)
	missing := m.missing[string(text)]
	if m.column.Kind == Number {
		v, f := notANumber, textForm
		if !missing {
			if v, f = numberOf(text, '.'); f != numberForm {
				return fmt.Sprintf("a value must be a finite number; it is %.40q", text)
			}
		}
		m.numbers = append(m.numbers, v)
		m.flush(false)
		return ""
	}
	code := int32(-1)
	if !missing {
		var fits bool
		if code, fits = m.words.wordPlace(text, m.most); !fits {
			return wordLimitText(m.most, string(text))
		}
	}
	m.codes = append(m.codes, code)
	m.flush(false)
	return ""
}

// flush puts the last values into the column: all, or none if they are few.
func (m *maker) flush(all bool) {
	const few = 4096
	if all || max(len(m.numbers), len(m.codes)) >= few {
		m.column.numbers, m.numbers = extend(m.column.numbers, m.numbers), m.numbers[:0]
		m.column.codes, m.codes = extend(m.column.codes, m.codes), m.codes[:0]
	}
}

// done returns the column.
func (m *maker) done() *Column {
	m.flush(true)
	m.column.Words = m.words.words
	return m.column
}

// rows returns how many values there are.
func (m *maker) rows() int { return m.column.rows() + max(len(m.numbers), len(m.codes)) }
