package tables

import (
	"bytes"
	"errors"
	"math"
	"regexp"
	"strconv"
)

// exactWhole is the number up to which float64 represents all whole numbers.
const exactWhole = 1 << 53

// leadingNumber is a fast parser of the decimal number at the beginning of text. It returns the
// value and the length in bytes, or length 0 for what it cannot read: exponents, more than 19
// digits, or digits beyond 2^53.
//
// The value equals strconv.ParseFloat's, the nearest float64: the digits as a whole number and the
// power of ten are exact, so the division rounds once. A value is at most 19 digits, which fit in
// uint64.
func leadingNumber(text []byte, decimal byte) (v float64, length int) {
	i := 0
	if i < len(text) && (text[i] == '-' || text[i] == '+') {
		i++
	}
	first := i
	var digits uint64
	for i < len(text) && text[i]-'0' < 10 {
		digits = 10*digits + uint64(text[i]-'0')
		i++
	}
	count, fraction := i-first, 0
	if i < len(text) && text[i] == decimal {
		i++
		point := i
		for i < len(text) && text[i]-'0' < 10 {
			digits = 10*digits + uint64(text[i]-'0')
			i++
		}
		fraction = i - point
		count += fraction
	}
	if count == 0 || count > 19 || digits > exactWhole { // no number, perhaps overflowed, or not exact
		return 0, 0
	}
	if v = float64(digits) / math.Pow10(fraction); text[0] == '-' {
		v = -v
	}
	return v, i
}

// A form is what a value of a text file looks like.
type form int

const (
	textForm form = iota
	numberForm
	hugeForm // infinite, or too large for float32, in which features are kept
)

// numberOf returns the number that a text without surrounding space is, and its form: textForm if
// it is none. A decimal number may have an exponent. Hexadecimal numbers and digits with marks
// between them are text. So are whole numbers that float64 cannot represent, such as identifiers of
// more than 15 digits: two different ones might become equal.
func numberOf(text []byte, decimal byte) (float64, form) {
	if v, n := leadingNumber(text, decimal); n == len(text) && n > 0 {
		return v, numberForm
	}
	var buf [64]byte
	plain, whole := append(buf[:0], text...), true
	for i, b := range plain { // reject what only ParseFloat takes, such as 0x1p3, 1_000 and nan
		switch {
		case b == decimal:
			plain[i] = '.'
		case b-'0' < 10 || b == '-' || b == '+' || b == 'e' || b == 'E':
		default:
			if infinite.Match(text) {
				return 0, hugeForm
			}
			return 0, textForm
		}
		whole = whole && (plain[i]-'0' < 10 || i == 0)
	}
	v, err := strconv.ParseFloat(string(plain), 64)
	switch {
	case errors.Is(err, strconv.ErrRange) || math.IsInf(float64(float32(v)), 0):
		return 0, hugeForm
	case err != nil || whole && !isExact(plain, v):
		return 0, textForm
	}
	return v, numberForm
}

// isExact reports whether a whole number is v.
func isExact(plain []byte, v float64) bool {
	digits := bytes.TrimLeft(plain, "+-0")
	return v == 0 || string(digits) == strconv.FormatFloat(math.Abs(v), 'f', 0, 64)
}

// infinite is the name of an infinite number.
var infinite = regexp.MustCompile(`^(?i)[-+]*inf(inity)?$`)
