package tables

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dsbo/internal/wording"
)

// A column is read as numbers or times if more than mostlyShare of its values can be: the rest are
// an error, which quotes them. If only more than notedShare can be, the column is words, with a
// note.
const (
	mostlyShare = 0.5
	notedShare  = 0.05
)

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

// wordCounts are how often each of a few words is there.
type wordCounts []wordCount

type wordCount struct {
	word string
	n    int
}

// add counts a word n times. Lists are short, so it searches them in order.
func (w *wordCounts) add(word string, n int) {
	for k := range *w {
		if (*w)[k].word == word {
			(*w)[k].n += n
			return
		}
	}
	*w = append(*w, wordCount{word, n})
}

// A tally counts the values of a column that are not what they should be.
type tally struct {
	missing  wordCounts
	bad      int
	certain  bool // a value has no other reading
	first    mark // of those that are bad
	huge     mark // infinite, or too large
	overflow mark // a word that was one too many; its line does not count
}

// note counts a value that does not fit its column's reading, and keeps the first one that is too
// large.
func (t *tally) note(f form, line int, text []byte) {
	switch f {
	case hugeForm:
		t.huge.set(line, text)
	case textForm:
		t.bad++
		t.first.set(line, text)
	}
}

// add adds the tally of later rows.
func (t *tally) add(later tally) {
	for _, w := range later.missing {
		t.missing.add(w.word, w.n)
	}
	t.bad += later.bad
	t.certain = t.certain || later.certain
	t.first, t.huge = cmp.Or(t.first, later.first), cmp.Or(t.huge, later.huge)
	t.overflow = cmp.Or(t.overflow, later.overflow)
}

// decideReadings checks, after a pass over all values, whether each column's reading fits them. If
// some do not fit, it sets other readings and returns true: another pass is needed. Values without
// any reading are an error.
func (p *pass) decideReadings() (again bool, err error) {
	for j, made := range p.made {
		if made == nil {
			continue
		}
		r, err := p.decide(j)
		if err != nil {
			return false, err
		}
		if r != p.columns[j].reading {
			p.columns[j].reading, again = r, true
		}
	}
	return again, nil
}

// decide returns the reading of column j, given the tally of all of its values. A guess that some
// values do not fit becomes words, by which the next pass counts how many fit each reading; if the
// reading is settled already, such values are errors. With spare they are bad rows instead.
func (p *pass) decide(j int) (*reading, error) {
	c, t := &p.columns[j], p.tallies[j]
	if p.spare {
		if t.huge = (mark{}); c.settled {
			t.bad = 0
		}
	}
	switch {
	case c.kind == Word:
		return p.decideWords(j)
	case t.bad == 0 && t.huge.line > 0:
		return nil, p.in.Fail(t.huge.line, c.name, "%s", hugeReason([]byte(t.huge.text)))
	case t.bad == 0 && c.order != "" && !t.certain && slices.ContainsFunc(c.can, c.reverses):
		words := ""
		if !c.forced {
			words = fmt.Sprintf(", -words %s takes them as words", c.name)
		}
		return nil, p.in.Fail(0, c.name, "dates must have a day after the twelfth in some row, to show whether the "+
			"day or the month comes first (-dates dmy or -dates mdy says so%s)", words)
	case t.bad == 0:
		return c.reading, nil
	case !c.settled:
		return words, nil // for decideWords
	}
	why := c.others
	if c.kind == Number && !isNumber(t.first.text, p.decimal) && isNumber(t.first.text, '.'+','-p.decimal) {
		why += fmt.Sprintf(", with the decimal %q of the file", p.decimal)
	}
	return nil, p.in.Fail(t.first.line, c.name, "a value must be a %s, %s; it is %q", c.what, why, t.first.text)
}

// hugeReason returns the fault of a number that is too large.
func hugeReason(text []byte) string {
	return fmt.Sprintf("a number must be finite and at most 3.4e38; it is %.40q", text)
}

// reverses reports whether another reading takes the day for the month.
func (r *reading) reverses(other *reading) bool {
	return other.kind == r.kind && other.order != "" && other.order != r.order
}

// decideWords returns the reading of a column that was read as words. If more than mostlyShare of
// its values fit another reading, or Options force the kind, that reading is settled: the values
// that do not fit it are errors. Else the column remains words.
func (p *pass) decideWords(j int) (*reading, error) {
	c, made, overflow := &p.columns[j], p.made[j], p.tallies[j].overflow
	best, most, all := made.bestReading(c.can, p.decimal)
	share := float64(most) / float64(max(1, all))
	if c.forced && len(c.can) > 0 || share > mostlyShare {
		if best == words { // no value fits the forced kind
			best = c.can[0]
		}
		c.settled, c.others = true, c.whyNotWords(best, made.Words, p.decimal, most, all)
		return best, nil
	}
	if overflow.line > 0 {
		return nil, p.in.Fail(0, c.name, "%s", wordLimitText(overflow.text))
	}
	p.notes = append(p.notes, made.wordNotes(best, most, all)...)
	return words, nil
}

// bestReading returns the reading in can that fits the most rows of a column of words, the number
// of these rows, and the number of all rows with a value. Of equally good readings the first one is
// taken, as can is in order of preference. If no value fits any, the result is words.
func (c *Column) bestReading(can []*reading, decimal byte) (best *reading, most, all int) {
	counts, all := c.rowsOfWords()
	best = words
	for _, r := range can {
		alike := 0
		for i, word := range c.Words {
			if r.fits(word, decimal) {
				alike += counts[i]
			}
		}
		if alike > most {
			best, most = r, alike
		}
	}
	return best, most, all
}

// wordNotes returns a note on a column of words many of whose values have a reading.
func (c *Column) wordNotes(r *reading, most, all int) (notes []string) {
	if float64(most) > notedShare*float64(all) {
		notes = append(notes, fmt.Sprintf("column %s is taken for words; %d of its %d values could be a %s", c.Name,
			most, all, r.what))
	}
	return notes
}

// whyNotWords returns a part of an error: why a column is read by r although some values do not
// fit, with the options that change this, and these values. distinct are the column's values, each
// once; most of all its values fit.
func (c *layoutColumn) whyNotWords(r *reading, distinct []string, decimal byte, most, all int) string {
	var list []string
	for _, word := range distinct {
		if !r.fits(word, decimal) {
			list = append(list, fmt.Sprintf("%.40q", word))
		}
	}
	why := "as this column's values are to be"
	if !c.forced {
		why = fmt.Sprintf("as %d of this column's %d are (-missing %s=WORD takes WORD as missing, -words %s all as "+
			"words)", most, all, c.name, c.name)
	}
	if len(list) > 1 {
		why += ", and not " + wording.Some(list)
	}
	return why
}

// rowsOfWords returns how many rows have each of the words, and any of them.
func (c *Column) rowsOfWords() (counts []int, all int) {
	counts = make([]int, len(c.Words))
	for _, block := range c.codes {
		for _, code := range block {
			if code >= 0 {
				counts[code]++
				all++
			}
		}
	}
	return counts, all
}

// missingNotes returns a note on each word that counted as a missing value, with the columns in
// which it occurs; empty fields need none.
func (p *pass) missingNotes() (notes []string) {
	var order wordCounts
	where := map[string][]string{}
	for j, t := range p.tallies {
		for _, w := range t.missing {
			if w.word != "" {
				order.add(w.word, 0)
				where[w.word] = append(where[w.word], fmt.Sprintf("%s (%s)", p.columns[j].name,
					wording.Count(w.n, "row")))
			}
		}
	}
	for _, w := range order {
		list := where[w.word]
		const most = 5
		if len(list) > most {
			list = append(list[:most:most], fmt.Sprintf("%d more columns", len(list)-most))
		}
		notes = append(notes, fmt.Sprintf("%q counts as missing in %s (-missing sets the words that do)", w.word,
			strings.Join(list, ", ")))
	}
	return notes
}
