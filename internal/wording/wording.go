// Count, Ranges, List and Some write numbers and names of things in sentences for people.

package wording

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"dsbo/internal/num"
)

// Count writes a number of things whose English singular is one: "1 penalty", "2 penalties", "0
// classes".
func Count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, plural(one))
}

// plural returns the plural of a regular noun, the last word of a text.
func plural(one string) string {
	stem, y := strings.CutSuffix(one, "y")
	switch {
	case y && !strings.ContainsAny(stem[max(0, len(stem)-1):], "aeiou"):
		return stem + "ies"
	case strings.HasSuffix(one, "s") || strings.HasSuffix(one, "x") || strings.HasSuffix(one, "ch") ||
		strings.HasSuffix(one, "sh"):
		return one + "es"
	}
	return one + "s"
}

// Ranges writes ascending numbers: "0–3, 5".
func Ranges(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		end := i
		for end+1 < len(numbers) && numbers[end+1] == numbers[end]+1 {
			end++
		}
		part := strconv.Itoa(numbers[i])
		switch {
		case end == i+1:
			part += ", " + strconv.Itoa(numbers[end])
		case end > i:
			part += "–" + strconv.Itoa(numbers[end])
		}
		parts, i = append(parts, part), end+1
	}
	return strings.Join(parts, ", ")
}

// List writes numbers with commas between them.
func List(numbers []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(numbers), " ", ", "), "[]")
}

// Some lists names, each [Plain], not all if there are many.
func Some(names []string) string { return First(5, names) }

// First lists the first names, at most a number of them, each [Plain], and counts the others.
func First(most int, names []string) string {
	text := Plain(strings.Join(names[:min(most, len(names))], ", "))
	if len(names) > most {
		text += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return text
}

// Twins returns the pairs of names that differ in capitals alone, such as "Yes and yes".
func Twins(names []string) (pairs []string) {
	first := map[string]string{}
	for _, name := range names {
		small := strings.ToLower(name)
		if other, twice := first[small]; twice {
			pairs = append(pairs, other+" and "+name)
		} else {
			first[small] = name
		}
	}
	return pairs
}

// negative is a number below 0 in a text: no date, range, exponent or name has such a hyphen.
var negative = regexp.MustCompile(`(^|[\s(=:])-(\d)`)

// Minus writes the sign of numbers below 0 in a text as reports do, by a minus for a hyphen.
func Minus(text string) string { return negative.ReplaceAllString(text, "$1−$2") }

// Digits returns how many digits of a value tell as much as least of one near 0, where values lie
// apart by a spread.
func Digits(least int, value, spread float64) int {
	apart := num.Log(math.Abs(value)/spread) / math.Ln10
	if !(apart > float64(least-least/2) && spread > 0) {
		return least
	}
	return min(17, least/2+int(math.Ceil(apart)))
}
