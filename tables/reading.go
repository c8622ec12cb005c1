package tables

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A reading is a way to read the values of a column of a text file. Columns of words have words.
type reading struct {
	kind Kind
	unit string // of a column that is read so
	what string // a value that can be read is, for errors
	// value returns the value of a text that is not missing, of any form but numberForm where it
	// cannot be read so.
	value func(text []byte, decimal byte) (float64, form)
	// certain reports that a text which can be read so has one reading alone; nil: all have.
	certain func(text []byte) bool
	order   string // of dates that may have another one: "dmy" or "mdy"; "": of others
	decimal byte   // sign; 0: the file's
}

// Units of times.
const (
	Days    = "day" // of a [Column] of dates
	seconds = "s"
)

var words = &reading{kind: Word}

// numbers are the ways to read numbers with the decimal sign of the file, first those without
// a mark.
var (
	numbers     = numbersWith(0)
	plainNumber = numbers[0]
)

// readings are the ways to read values other than as text. The first one that fits is taken:
// numbers with another decimal sign than the file's last.
var readings = slices.Concat(numbers, datesWritten("2006-01-02", "", "2006-1-2"),
	datesWritten("2006/01/02", "", "2006/1/2"), datesWritten("2006.01.02", "", "2006.1.2"),
	datesWritten("31.12.2006", "", "2.1.2006"),
	datesWritten("31/12/2006", "dmy", "2/1/2006"), datesWritten("12/31/2006", "mdy", "1/2/2006"),
	datesWritten("31-12-2006", "dmy", "2-1-2006"), datesWritten("12-31-2006", "mdy", "1-2-2006"),
	datesWritten("2 Jan 2006", "", "2 Jan 2006", "2-Jan-2006", "Jan 2, 2006", "2 January 2006", "January 2, 2006"),
	numbersWith(','), numbersWith('.'))

// numbersWith returns the readings of numbers with a decimal sign, 0 for the file's own: plain
// numbers first, then numbers with each mark, a per cent sign or a currency, which becomes the
// unit.
func numbersWith(decimal byte) []*reading {
	list := []*reading{{kind: Number, what: "number", value: groupedNumber}}
	for _, mark := range strings.Fields("% $ € £ ¥ ₹ ₩ ₺ ₽ ₪ ฿ ₫ ₴ R$ CHF EUR USD GBP zł kr Kč Ft ‰") {
		list = append(list, &reading{kind: Number, unit: mark, what: "number with " + mark,
			value: func(text []byte, decimal byte) (float64, form) { return markedNumber(text, mark, decimal) }})
	}
	for _, r := range list {
		r.decimal = decimal
		r.what += map[byte]string{',': " in which a comma is the decimal sign", '.': " in which a point is the " +
			"decimal sign"}[decimal]
	}
	return list
}

// groupedNumber reads a number whose digits before the decimal sign may be in groups of three. It
// also takes the Unicode minus sign, which spreadsheets write.
func groupedNumber(text []byte, decimal byte) (float64, form) {
	v, f := numberOf(text, decimal)
	if f != textForm {
		return v, f
	}
	if rest, ok := bytes.CutPrefix(text, []byte("−")); ok && len(rest) > 0 && rest[0] != '-' && rest[0] != '+' {
		v, f := groupedNumber(rest, decimal)
		return -v, f
	}
	var buf [64]byte
	plain, ok := withoutGroups(buf[:0], text, decimal)
	if !ok {
		return 0, textForm
	}
	return numberOf(plain, decimal)
}

// withoutGroups appends a number to plain without the separators between groups of its digits: a
// comma or point that is not the decimal sign, an apostrophe, or a space. ok is false unless all
// separators are equal, all groups but the first have three digits, and the first has one to three
// and does not begin with 0.
func withoutGroups(plain, text []byte, decimal byte) (_ []byte, ok bool) {
	whole, rest := text, []byte(nil)
	if i := bytes.IndexByte(text, decimal); i >= 0 {
		whole, rest = text[:i], text[i:]
	}
	between, digits, groups := rune(0), 0, 0
	for i := 0; i < len(whole); {
		r, n := utf8.DecodeRune(whole[i:])
		switch {
		case r >= '0' && r <= '9':
			digits++
			plain = append(plain, byte(r))
		case i == 0 && (r == '-' || r == '+'):
			plain = append(plain, byte(r))
		case digits == 0 || digits > 3 || groups > 0 && (digits != 3 || r != between) ||
			!strings.ContainsRune(",.' \u00a0\u2009\u202f’", r):
			return nil, false
		default:
			between, digits, groups = r, 0, groups+1
		}
		i += n
	}
	return append(plain, rest...), groups > 0 && digits == 3 && bytes.TrimLeft(plain, "+-")[0] != '0'
}

// markedNumber reads a number with a mark, such as a currency sign, before or after it. Accountants
// write a negative amount in parentheses, or with the minus sign before the mark.
func markedNumber(text []byte, mark string, decimal byte) (float64, form) {
	sign := 1.0
	if n := len(text); n > 2 && text[0] == '(' && text[n-1] == ')' {
		text, sign = text[1:n-1], -1
	}
	rest, ok := bytes.CutSuffix(text, []byte(mark))
	if !ok {
		if text, ok = bytes.CutPrefix(text, []byte{'-'}); ok {
			sign = -sign
		}
		if rest, ok = bytes.CutPrefix(text, []byte(mark)); !ok {
			return 0, textForm
		}
	}
	v, f := groupedNumber(bytes.Trim(rest, " \u00a0\u202f"), decimal)
	return sign * v, f
}

// clocks are the times of day that may follow a date, behind a space or a T. A fraction of a second
// may follow the seconds.
var clocks = []string{"15:04:05Z07:00", "15:04:05Z0700", "15:04:05", "15:04", "3:04 PM", "3:04:05 PM"}

// datesWritten returns two readings of dates in some layouts (of package time): one of dates alone,
// in days, and one that also allows a time of day, in seconds. Times without a zone are taken as
// UTC. example and order describe the layouts to users.
func datesWritten(example, order string, layouts ...string) []*reading {
	var withClocks []string
	for _, layout := range layouts {
		for _, clock := range clocks {
			withClocks = append(withClocks, layout+" "+clock)
		}
	}
	moment := func(text []byte, unit string) (float64, form) {
		if n := len(text); n < len("1/2/2006") || n > 64 {
			return 0, textForm
		}
		s, allowed := string(text), layouts
		// The time of day begins at the last space or T before the first colon.
		if at := strings.LastIndexAny(s[:max(0, strings.IndexByte(s, ':'))], " T"); at >= 0 && unit == seconds {
			s, allowed = s[:at]+" "+s[at+1:], withClocks
		}
		for _, layout := range allowed {
			if t, err := time.Parse(layout, s); err == nil {
				if unit == Days {
					return float64(t.Unix() / (24 * 60 * 60)), numberForm
				}
				return float64(t.Unix()) + float64(t.Nanosecond())/1e9, numberForm
			}
		}
		return 0, textForm
	}
	list := []*reading{}
	for _, unit := range []string{Days, seconds} {
		r := &reading{kind: Time, unit: unit, order: order,
			what:  "time such as " + example + " or " + example + " 15:04:05",
			value: func(text []byte, _ byte) (float64, form) { return moment(text, unit) }}
		if order != "" {
			r.certain = hasLateDay
		}
		list = append(list, r)
	}
	return list
}

// hasLateDay reports whether one of the first two numbers of a date is no month.
func hasLateDay(text []byte) bool {
	numbers := bytes.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	return slices.ContainsFunc(numbers[:2], func(number []byte) bool {
		n, _ := strconv.Atoi(string(number))
		return n > 12
	})
}

// fits reports whether a text can be a value of this reading, in a file with a decimal sign.
func (r *reading) fits(text string, decimal byte) bool {
	_, f := r.read([]byte(text), decimal)
	return f != textForm
}

// read returns the value of a text, NaN where it has none.
func (r *reading) read(text []byte, decimal byte) (float64, form) {
	v, f := r.value(text, cmp.Or(r.decimal, decimal))
	if f != numberForm {
		v = math.NaN()
	}
	return v, f
}
