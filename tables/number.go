package tables

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// powers are 10^0 to 10^22, all that float64 holds exactly.
var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
	1e17, 1e18, 1e19, 1e20,
	1e21, 1e22}

// leadingNumber reads the decimal number that text begins with, of at most 19 digits and without an
// exponent, and returns what it is rounded to float32 and how many bytes it has; 0 where it is not
// that easy.
//
// The value is the nearest float32, as of strconv.ParseFloat: the float64 on the way is off by less
// than 2 units of its last place (one half each for the digits and the division, whose divisor is
// exact), and where these could decide on which side of the middle between two float32 it is, the
// number is not easy.
func leadingNumber(text []byte, decimal byte) (v float32, length int) {
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
	if count == 0 || count > 19 {
		return 0, 0
	}
	wide := float64(digits) / powers[fraction]
	const half = 1 << 28 // float64 has 29 bits more than float32
	if rest := math.Float64bits(wide) & (2*half - 1); half-2 <= rest && rest <= half+2 {
		return 0, 0
	}
	if v = float32(wide); text[0] == '-' {
		v = -v
	}
	return v, i
}

// A form is what a value of a text file looks like.
type form int

const (
	textForm form = iota
	numberForm
	hugeForm // infinite, or too large for float32
)

// numberOf returns the number that a whole text without space around is, and whether it is one. A
// decimal number may have an exponent; numbers in base 16 and digits with marks between are text.
func numberOf(text []byte, decimal byte) (float32, form) {
	if v, n := leadingNumber(text, decimal); n == len(text) && n > 0 {
		return v, numberForm
	}
	var buf [64]byte
	plain := append(buf[:0], text...)
	for i, b := range plain {
		switch {
		case b == decimal:
			plain[i] = '.'
		case b-'0' < 10 || b == '-' || b == '+' || b == 'e' || b == 'E':
		default:
			if isInfinite(text) {
				return 0, hugeForm
			}
			return 0, textForm
		}
	}
	v, err := strconv.ParseFloat(string(plain), 32)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, hugeForm
	case err != nil:
		return 0, textForm
	}
	return float32(v), numberForm
}

// isInfinite reports whether text names an infinite number.
func isInfinite(text []byte) bool {
	if len(text) > len("-infinity") {
		return false
	}
	name := strings.ToLower(strings.TrimLeft(string(text), "+-"))
	return name == "inf" || name == "infinity"
}
