package report

import (
	"math"
	"strconv"
	"strings"
)

// none is shown in place of a missing number.
const none = "–"

// number writes four digits, with a power of ten where there would be many zeros.
func number(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return none
	case math.IsInf(v, 0):
		return withMinusSign(strings.TrimPrefix(strconv.FormatFloat(v, 'g', -1, 64), "+"))
	case a != 0 && (a < 1e-2 || a >= 1e6):
		mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', 2, 64), "e")
		e, _ := strconv.Atoi(exponent) // digits that FormatFloat wrote
		return withMinusSign(mantissa) + "×10" + superscript(e)
	case a >= 1e4 || a == math.Trunc(a):
		return wholeNumber(math.Round(v))
	case a < 1:
		return decimals(v, 4)
	default:
		return decimals(v, 3-int(math.Floor(math.Log10(a))))
	}
}

// superscript writes an exponent with the raised digits of Unicode, for text on the page.
func superscript(e int) string {
	raised := strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵",
		"6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")
	return raised.Replace(strconv.Itoa(e))
}

// wholeNumber writes a whole number with its thousands apart.
func wholeNumber(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return none
	}
	digits, sign := strconv.FormatFloat(math.Abs(v), 'f', 0, 64), ""
	if v < 0 {
		sign = "−"
	}
	if len(digits) > 4 {
		for i := len(digits) - 3; i > 0; i -= 3 {
			digits = digits[:i] + "\u202f" + digits[i:] // a narrow blank that does not break
		}
	}
	return sign + digits
}

// decimals writes a number with some digits after the point.
func decimals(v float64, digits int) string {
	return withMinusSign(strconv.FormatFloat(v, 'f', digits, 64))
}

// share writes a share in percent, with some digits after the point.
func share(v float64, digits int) string {
	if math.IsNaN(v) {
		return none
	}
	return decimals(100*v, digits) + "\u202f%"
}

// percentPoints writes a difference of shares.
func percentPoints(v float64) string { return strings.Replace(share(v, 2), "%", "pp", 1) }

// withSign writes a change with its sign.
func withSign(show func(float64) string) func(float64) string {
	return func(v float64) string {
		if v > 0 {
			return "+" + show(v)
		}
		return show(v)
	}
}

// withError writes a number with its standard error, both to two digits of that; the number alone
// where it is not known.
func withError(v, e float64) string {
	text := toDigitsOf(e)(v)
	if !math.IsNaN(v) && e > 0 && !math.IsInf(e, 0) {
		text += " ± " + toDigitsOf(e)(e)
	}
	return text
}

// toDigitsOf writes numbers to two digits of an error, as they are where that is not known.
func toDigitsOf(e float64) func(v float64) string {
	if !(e > 0) || math.IsInf(e, 0) {
		return number
	}
	places := min(max(1-int(math.Floor(math.Log10(e))), 0), 12)
	return func(v float64) string {
		if math.IsNaN(v) {
			return none
		}
		return decimals(v, places)
	}
}

// unitFormat writes a number in the unit that suits it, with three digits or all before the point.
func unitFormat(units []unit) func(float64) string {
	return func(v float64) string {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return none
		}
		u := unitFor(units, math.Abs(v))
		v /= u.size
		text := wholeNumber(v)
		if places := 2 - int(math.Floor(math.Log10(math.Abs(v)))); places > 0 && v != math.Trunc(v) {
			text = decimals(v, min(places, 3))
		}
		return text + "\u202f" + u.name
	}
}

// withMinusSign sets the minus sign in place of the hyphen.
func withMinusSign(s string) string { return strings.Replace(s, "-", "−", 1) }
