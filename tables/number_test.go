package tables

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// TestNumbers: each number is the float64 nearest to its text, those next to the middle between two
// float64 too.
func TestNumbers(t *testing.T) {
	check := func(text string) {
		t.Helper()
		want, err := strconv.ParseFloat(text, 64)
		got, f := numberOf([]byte(text), '.')
		if f != numberForm || err != nil || math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("%s: %g of form %d, want %g, %v", text, got, f, want, err)
		}
		comma, f := numberOf([]byte(strings.ReplaceAll(text, ".", ",")), ',')
		if f != numberForm || comma != got {
			t.Errorf("%s with a comma: %g of form %d", text, comma, f)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 5_000 {
		v := r.NormFloat64() * math.Pow(10, float64(r.IntN(20)-10))
		for _, digits := range []int{1, 3, 6, 9, 12, 17} {
			check(strconv.FormatFloat(v, "efg"[r.IntN(3)], digits, 64))
		}
		middle := new(big.Float).SetPrec(60)
		middle.Add(big.NewFloat(v), big.NewFloat(math.Nextafter(v, math.Inf(1)))).Quo(middle, big.NewFloat(2))
		check(middle.Text('e', 50))
	}
	for _, text := range []string{"0", "-0", "+5", ".5", "5.", "9007199254740993.5", "123456789012345680",
		"1.9999999999999999999", "1e-50", "3.4028235e38",
		"340282350000000000000000000000000000000.0", "0.000000000000000000000000000001", "00012",
		"00000000000000000000000"} {
		check(text)
	}
	for _, text := range []string{"", "-", ".", "+-1", "1-2", "e5", "1e", "1 2", "0x1p3", "1_0", "1,5",
		"infinit", "nan",
		"9007199254740993", "9999999999999999999", "-18446744073709551617"} {
		if v, f := numberOf([]byte(text), '.'); f != textForm {
			t.Errorf("%q: %g of form %d", text, v, f)
		}
	}
	for _, text := range []string{"1e39", "-1e400", "inf", "+Inf", "-Infinity",
		"340282356779733661637539395458142568448"} {
		if v, f := numberOf([]byte(text), '.'); f != hugeForm {
			t.Errorf("%q: %g of form %d", text, v, f)
		}
	}
}

// TestGroups: groups have three digits but for the first, which has one to three and no leading 0,
// and one sign between them; an amount in parentheses is below 0.
func TestGroups(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		text, mark string
		decimal    byte
		want       float64 // NaN: text
	}{
		{"1,234", "", '.', 1234}, {"-1,234", "", '.', -1234}, {"+999,999.5", "", '.', 999999.5}, {"1,000", "", ',', 1},
		{"12.345.678,9", "", ',', 12345678.9}, {"1,23", "", '.', nan}, {"1234,567", "", '.', nan},
		{"1,2345", "", '.', nan},
		{"1,23,456", "", '.', nan}, {"1,2345,678", "", '.', nan}, {",234", "", '.', nan}, {"1,234,5", "", '.', nan},
		{"1,234'567", "", '.', nan}, {"1,-234", "", '.', nan}, {"0,125", "", '.', nan}, {"-0,125", "", '.', nan},
		{"1,234,", "", '.', nan}, {"9 900", "", '.', 9900}, {"1;234", "", '.', nan}, {"1,2:4", "", '.', nan},
		{"−1,234", "", '.', -1234}, {"−", "", '.', nan}, {"−-5", "", '.', nan}, {"−+5", "", '.', nan},
		{"($5)", "$", '.', -5}, {"(5 $)", "$", '.', -5}, {"($5", "$", '.', nan}, {"$5)", "$", '.', nan},
		{"x$5)", "$", '.', nan},
		{"()", "$", '.', nan},
		{"-$1,234.5", "$", '.', -1234.5}, {"$-5", "$", '.', -5}, {"5 €", "$", '.', nan},
		{"1.234,5 €", "€", ',', 1234.5},
	} {
		v, f := groupedNumber([]byte(c.text), c.decimal)
		if c.mark != "" {
			v, f = markedNumber([]byte(c.text), c.mark, c.decimal)
		}
		if (f == numberForm) != (c.want == c.want) || f == numberForm && v != c.want {
			t.Errorf("%q with the decimal %q: %g of form %d, want %g", c.text, c.decimal, v, f, c.want)
		}
	}
}

func FuzzNumber(f *testing.F) {
	for _, seed := range []string{"1", "-2.5", "1e10", "0.1000000000000000055", "16777217",
		"1.00000005960464477539", "x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, form := numberOf([]byte(text), '.')
		want, err := strconv.ParseFloat(text, 64)
		if form == numberForm && (err != nil || math.Float64bits(got) != math.Float64bits(want)) {
			t.Fatalf("%q: %g, want %g, %v", text, got, want, err)
		}
		if plain := strings.Trim(text, "0123456789+-.eE") == ""; form == textForm && plain && err == nil &&
			strings.ContainsAny(text, ".eE") {
			t.Fatalf("%q is the number %g", text, want)
		}
	})
}

func ExampleNumberColumn() {
	t, err := New("made", NumberColumn("age", []float32{41, float32(math.NaN())}),
		WordColumn("colour", []string{"red", ""}))
	fmt.Println(t.Rows(), t.Columns[0].Missing(1), t.Columns[1].Missing(1), err)
	// Output: 2 true true <nil>
}
