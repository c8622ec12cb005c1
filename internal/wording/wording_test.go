package wording_test

import (
	"math"
	"testing"

	"dsbo/internal/wording"
)

func TestCount(t *testing.T) {
	for _, c := range []struct {
		n    int
		one  string
		want string
	}{
		{1, "penalty", "1 penalty"}, {2, "penalty", "2 penalties"}, {0, "class", "0 classes"}, {3, "day", "3 days"},
		{12, "validation example", "12 validation examples"}, {2, "box", "2 boxes"}, {2, "match", "2 matches"},
		{-1, "seed", "-1 seeds"},
	} {
		if got := wording.Count(c.n, c.one); got != c.want {
			t.Errorf("%d, %q: %q, want %q", c.n, c.one, got, c.want)
		}
	}
}

func TestRanges(t *testing.T) {
	for _, c := range []struct {
		numbers []int
		want    string
	}{
		{nil, ""}, {[]int{4}, "4"}, {[]int{0, 1}, "0, 1"}, {[]int{0, 1, 2, 3, 5}, "0–3, 5"},
		{[]int{0, 2, 3, 4, 7, 8}, "0, 2–4, 7, 8"},
	} {
		if got := wording.Ranges(c.numbers); got != c.want {
			t.Errorf("%v: %q, want %q", c.numbers, got, c.want)
		}
	}
}

// TestSome: five names are listed, the others are counted, and none ends the line.
func TestSome(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{nil, ""}, {[]string{"a\nb", "c"}, `a\nb, c`}, {[]string{"a", "b", "c", "d", "e"}, "a, b, c, d, e"},
		{[]string{"a", "b", "c", "d", "e", "f", "g"}, "a, b, c, d, e and 2 more"},
	} {
		if got := wording.Some(c.names); got != c.want {
			t.Errorf("%q: %q, want %q", c.names, got, c.want)
		}
	}
}

// TestMinus: numbers below 0 have a minus, and nothing else has.
func TestMinus(t *testing.T) {
	for text, want := range map[string]string{
		"-0.3 ± 0.06 (-1.5e-05 to -2), λ = -3: -4": "−0.3 ± 0.06 (−1.5e-05 to −2), λ = −3: −4",
		"-refit none, 2026-01-02, 3-4, a-1, --1":   "-refit none, 2026-01-02, 3-4, a-1, --1",
		"":                                         "",
	} {
		if got := wording.Minus(text); got != want || wording.Minus(got) != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestDigits: digits are more where values lie close beside their distance from 0.
func TestDigits(t *testing.T) {
	for _, c := range []struct {
		least         int
		value, spread float64
		want          int
	}{{9, 100, 20, 9}, {9, 1e5, 1.1, 9}, {9, 1e5, .9, 10}, {4, 110, 1, 5}, {4, -1e8, 1.5, 10}, {9, 0, 1, 9},
		{9, 5, 0, 9}, {9, 1e20, 1, 17}, {9, math.NaN(), 1, 9}} {
		if got := wording.Digits(c.least, c.value, c.spread); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}
