package tables

import (
	"fmt"
	"slices"
)

// mostlyShare is the share of values that make a column one of numbers, or of times: where more
// are, the others are errors; where less are, it is a column of words.
const mostlyShare = 0.95

// A mark is the first of some values.
type mark struct {
	line int // 0: there is none
	text string
}

func (m *mark) set(line int, text []byte) {
	const most = 40
	if m.line == 0 {
		*m = mark{line, string(text[:min(most, len(text))])}
	}
}

// A tally counts the values of a column that are not what they should be.
type tally struct {
	missing, bad int
	first        mark // of those that are bad
	huge         mark // infinite, or too large
	overflow     mark // a word that was one too many; its line does not count
}

// note counts a value that is no number or time of its column, and keeps the first one that is too
// large. A missing value has been counted by appendValue.
func (t *tally) note(missing bool, f form, line int, text []byte) {
	switch {
	case missing || f == numberForm:
	case f == hugeForm:
		t.huge.set(line, text)
	default:
		t.bad++
		t.first.set(line, text)
	}
}

// add adds the tally of later rows.
func (t *tally) add(later tally) {
	t.missing += later.missing
	t.bad += later.bad
	for _, m := range []struct {
		mine  *mark
		later mark
	}{{&t.first, later.first}, {&t.huge, later.huge}, {&t.overflow, later.overflow}} {
		if m.mine.line == 0 {
			*m.mine = m.later
		}
	}
}

// decideKinds decides whether the columns are of the kinds that they were read with. Where not, it
// sets others and returns true, or an error for values that are none of their column's kind.
func (p *pass) decideKinds() (again bool, err error) {
	for j, made := range p.made {
		if made == nil {
			continue
		}
		kind, err := p.decide(j)
		if err != nil {
			return false, err
		}
		if kind != p.columns[j].valueKind {
			p.columns[j].valueKind, again = kind, true
		}
	}
	return again, nil
}

// decide returns the kind that a column has by all of its values.
func (p *pass) decide(j int) (valueKind, error) {
	c, t := p.columns[j], p.tallies[j]
	if c.kind == Word {
		return p.decideWords(j)
	}
	present := p.rows - t.missing
	switch {
	case t.bad == 0 && t.huge.line > 0:
		return c.valueKind, p.in.Fail(t.huge.line, c.name, "a number must be finite and at most 3.4e38; it is %q",
			t.huge.text)
	case t.bad == 0:
		return c.valueKind, nil
	case c.kind == Time && c.unit == days && !c.forced:
		return valueKind{Time, seconds}, nil // dates are times as well
	case c.forced || float64(present-t.bad) > mostlyShare*float64(present):
		why := fmt.Sprintf("as more than 95 %% of this column's values (-words %s takes them as words)", c.name)
		if c.forced {
			why = "as this column's values are to be"
		}
		if c.kind == Number && isOtherDecimal(t.first.text, p.decimal) {
			why += fmt.Sprintf(", with the decimal %q of the file", p.decimal)
		}
		what := "number"
		if c.kind == Time {
			what = "time such as 2006-01-02 or 2006-01-02 15:04:05"
		}
		return c.valueKind, p.in.Fail(t.first.line, c.name, "a value must be a %s, %s; it is %q", what,
			why, t.first.text)
	}
	p.columns[j].not = append(p.columns[j].not, c.kind)
	return valueKind{kind: Word}, nil
}

// isOtherDecimal reports whether a text would be a number with the other of the two decimal signs
// than a file's.
func isOtherDecimal(text string, decimal byte) bool {
	other := byte(',')
	if decimal == other {
		other = '.'
	}
	_, f := numberOf([]byte(text), other)
	return f == numberForm
}

// decideWords returns the kind of a column that was read as words: another one if most of its
// values are numbers or times.
func (p *pass) decideWords(j int) (valueKind, error) {
	c, made, overflow := &p.columns[j], p.made[j], p.tallies[j].overflow
	if !c.forced {
		counts := made.wordCounts()
		all := 0
		for _, n := range counts {
			all += n
		}
		for _, other := range typedKinds {
			alike := 0
			for i, word := range made.Words {
				if other.accepts([]byte(word), p.decimal) {
					alike += counts[i]
				}
			}
			// Dates and times of day together are times of day, so that only all dates are dates.
			if !slices.Contains(c.not, other.kind) && float64(alike) > mostlyShare*float64(all) &&
				(other.unit != days || alike == all) {
				return other, nil
			}
		}
	}
	if overflow.line > 0 {
		return c.valueKind, p.in.Fail(0, c.name, "%s", wordLimitText(p.most, overflow.text))
	}
	return c.valueKind, nil
}

// accepts reports whether a text can be a value of this kind.
func (k valueKind) accepts(text []byte, decimal byte) bool {
	if k.kind == Number {
		_, f := numberOf(text, decimal)
		return f != textForm
	}
	_, ok := timeOf(text, k.unit)
	return ok
}

// wordCounts returns how many rows have each of the words.
func (c *Column) wordCounts() []int {
	counts := make([]int, len(c.Words))
	for _, block := range c.codes {
		for _, code := range block {
			if code >= 0 {
				counts[code]++
			}
		}
	}
	return counts
}
