package assess

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dsbo/internal/testkit"
)

// TestAsLarge: the sum and the largest of squares of slopes, each in its unit, count how many draws
// are as large as the first; twice the less likely one is told, and 1 at most.
func TestAsLarge(t *testing.T) {
	same := func(n int, slopes ...float64) (list [][]float64) { return slices.Repeat([][]float64{slopes}, n) }
	for name, c := range map[string]struct {
		kind    Kind
		classes int
		truth   []float64
		draws   [][]float64 // the first ones; others are 0
		units   []float64
		want    float64
	}{
		"none":                 {Number, 0, []float64{3, 0}, same(199, 1, 1), []float64{1}, .01},
		"five":                 {Number, 0, []float64{3, 0}, same(5, 3.1, 0), []float64{1}, .06},
		"five as large":        {Number, 0, []float64{-3, 0}, same(5, 0, 3), []float64{1}, .06},
		"all":                  {Number, 0, []float64{3, 0}, same(199, 4, 4), []float64{1}, 1},
		"half of all":          {Number, 0, []float64{3, 0}, same(99, 4, 4), []float64{1}, 1},
		"less than half":       {Number, 0, []float64{3, 0}, same(98, 4, 4), []float64{1}, .99},
		"larger only together": {Number, 0, []float64{3, 0}, same(9, 2.5, 2.5), []float64{1}, .01},
		"larger only alone":    {Number, 0, []float64{2, 2}, same(9, 2.5, 0), []float64{1}, .01},
		"alone, the other one": {Number, 0, []float64{2, 2}, same(9, 0, 2.5), []float64{1}, .01},
		"some alone, some together": {Number, 0, []float64{2, 2}, append(same(9, 2.5, 0), same(4, 2.1, 2.1)...),
			[]float64{1}, .05},
		// of two outputs, whose slopes are in units of 1 and 4
		"outputs": {Class, 3, []float64{2, 2, 2, 2}, same(7, 1, 4, 1, 0), []float64{1, 4}, .08},
		"units":   {Class, 3, []float64{4, 0, 0, 0}, same(7, 0, 0, 0, 7.9), []float64{1, 4}, .01},
		"no unit": {Number, 0, []float64{0, 0}, nil, []float64{0}, 1},
		// of hazards: the truth in its units 1 and 4, others in 4 and 1
		"hazards":               {Hazard, 0, []float64{3, 1}, same(7, 6.1, 1), []float64{1, 4, 4, 1}, .08},
		"hazards, less by unit": {Hazard, 0, []float64{3, 1}, same(7, 5.9, 0), []float64{1, 4, 4, 1}, .01},
	} {
		e := &Effects{Tables: Tables{Kind: c.kind, Classes: c.classes}, use: []int{0, 1}}
		n := len(c.truth)
		sum := make([]float64, 200*n, 200*n+len(c.units))
		copy(sum, c.truth)
		for k, draw := range c.draws {
			copy(sum[(k+1)*n:], draw)
		}
		if got := e.asLarge(append(sum, c.units...)); !(math.Abs(got-c.want) <= 1e-12) {
			t.Errorf("%s: %g, want %g", name, got, c.want)
		}
	}
}

// TestPermutedSums: how many sums the test takes, and where it is not made.
func TestPermutedSums(t *testing.T) {
	if e := testkit.Get(NewEffects(hazards(80, 4, 3, 40))); e.permuted() != 202*4 {
		t.Errorf("%d sums of hazards", e.permuted())
	}
	many := testkit.Get(NewEffects(simple(Number, 0, 2, 1, targets(20, 10))))
	for _, n := range []int{0, 2001} {
		if many.use = make([]int, n); many.permuted() != 0 || testkit.Get(many.Chance(1)) != 0 {
			t.Errorf("%d columns are tested by %d sums", n, many.permuted())
		}
	}
	for events, want := range map[int]bool{11: false, 12: true, 13: true} { // 3 for each column
		if p := testkit.Get(testkit.Get(NewEffects(hazards(80, 4, 3, events))).Chance(1)); (p > 0) != want {
			t.Errorf("with %d events of 4 columns the probability is %g", events, p)
		}
	}
}

// TestCentred: targets less the means over the rows that rows stand for, and their squares.
func TestCentred(t *testing.T) {
	for _, c := range []struct {
		kind          Kind
		classes       int
		y, n          []float64
		want, squares []float64
	}{
		{Number, 0, []float64{1, 5, 3}, []float64{2, 1, 1}, []float64{-1.5, 2.5, .5}, []float64{11}},
		{Class, 2, []float64{0, 1, 1}, []float64{2, 1, 1}, []float64{-.5, .5, .5}, []float64{1}},
		// of three, told against the first: means are .25 and .5
		{Class, 3, []float64{0, 1, 2}, []float64{1, 1, 2}, []float64{-.25, -.5, .75, -.5, -.25, .5},
			[]float64{.0625*3 + .5625, 1}},
	} {
		e := &Effects{Tables: Tables{Kind: c.kind, Classes: c.classes}}
		squares := make([]float64, len(c.squares))
		got := e.centred(&rows{Site: Site{Rows: 3, Target: c.y, Count: c.n}}, squares)
		for k, v := range append(got, squares...) {
			if want := append(slices.Clone(c.want), c.squares...)[k]; !(math.Abs(v-want) <= 1e-15) {
				t.Errorf("kind %d, %d classes: %v and %v, want %v and %v", c.kind, c.classes, got, squares, c.want,
					c.squares)
				break
			}
		}
	}
}

// TestSigned: the first slopes have no signs, the variance of signs is of the rows' parts, less by
// the rows that a row stands for, and a draw is a sum of signed parts.
func TestSigned(t *testing.T) {
	tables := hazards(12, 2, 1, 9)
	s := &tables.Sites[0]
	for row := range s.Rows {
		s.Count = append(s.Count, float64(row%3))
	}
	e := testkit.Get(NewEffects(tables))
	part, want := make([]float64, e.permuted()), make([]float64, 4)
	e.addSigned(e.sites[0], part, rand.New(rand.NewPCG(1, 2)))
	slope := e.riskOf(e.sites[0], make([]float64, 2)).slope
	for row := range s.Rows {
		if n := s.Count[row]; n > 0 {
			for j := range 2 {
				v := slope[2*row+j]
				want[j], want[2+j] = want[j]+v, want[2+j]+v*v/n
			}
		}
	}
	for j := range 2 {
		var squares float64
		for b := 1; b < 200; b++ {
			squares += part[2*b+j] * part[2*b+j] / 199
		}
		got := part[200*2+2+j]
		// the mean of 199 squares is off by less than √(2/199) of the variance in 4 deviations
		if !(math.Abs(part[j]-want[j]) <= 1e-12) || !(math.Abs(got-want[2+j]) <= 1e-12) ||
			!(math.Abs(squares/got-1) <= .4) {
			t.Errorf("column %d: slope %g, want %g; variance %g, want %g, of draws %g", j, part[j], want[j], got,
				want[2+j], squares)
		}
	}
}

// TestSumsAre: the sums that are told, by their lengths and how often they are taken.
func TestSumsAre(t *testing.T) {
	columns := append(words(words(numbers(2), 3), 2), Column{Name: "blank", Group: 2, Level: true, Blank: true})
	for _, c := range []struct {
		kind    Kind
		classes int
		columns []Column
		want    string
	}{ // 2 numbers, 2 and 1 levels beside references, and a blank: 6 columns
		{Number, 0, columns, "37 1, 1201 1, 42 2, 23 1, 23 120, 7 40, 22 1"},
		{Class, 3, columns[:7], "36 1, 2002 1, 17 1, 57 120, 11 40, 56 1"},
		{Hazard, 0, columns[:7], "33 1, 1010 1, 22 42, 15 1"},
		{Number, 0, numbers(401), "1609 1, 80201 1"},
	} {
		var got []string
		for _, s := range (Tables{Kind: c.kind, Classes: c.classes, Columns: c.columns}).Sums() {
			got = append(got, fmt.Sprintf("%d %g", s.Length, s.Most))
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("kind %d, %d columns: %s, want %s", c.kind, len(c.columns), text, c.want)
		}
	}
}

// TestMeasure: means, deviations and shares are of the rows that have a column, by their weights
// and the rows that each stands for; counts of levels are of these rows alone.
func TestMeasure(t *testing.T) {
	columns := []Column{{Group: 0}, {Group: 0, Blank: true}, {Group: 1}, {Group: 1, Blank: true}, {Group: 2},
		{Group: 2, Blank: true}}
	x := [][]float64{{2, 0, 1, 0, 0, 1}, {4, 0, 0, 1, 0, 1}, {0, 1, 5, 0, 0, 1}, {8, 0, 3, 0, 0, 1}}
	tables := inMemory(Count, 0, columns, x, []float64{1, 2, 3, 4}, []float64{1, 2, 1, 1}, make([]int, 4))
	tables.Sites[0].Count = []float64{1, 1, 1, 2}
	e := testkit.Get(NewEffects(tables)) // weights are 1, 2, 1 and 2, of 5 rows and 6 in all
	a, b := 26./5, 12./4
	for name, c := range map[string][2]float64{
		"mean": {e.sites[0].mean[0], a}, "mean of no row": {e.sites[0].mean[4], 0},
		"share": {e.Share[0], a}, "share of the other": {e.Share[2], b},
		"deviation": {e.Deviation[0], math.Sqrt((4+32+128)/5. - a*a)},
		"other":     {e.Deviation[2], math.Sqrt((1+25+18)/4. - b*b)},
		"blanks":    {e.Share[1], 1. / 6}, "others": {e.Share[3], 2. / 6},
		"count": {e.start, (1 + 4 + 3 + 8) / 6.}, "rows": {float64(e.Rows), 5}, "unit": {e.unit, 6. / 5},
		"as many": {e.effective, 36. / 8}, "sites": {float64(e.levels), 1},
	} {
		if !(math.Abs(c[0]-c[1]) <= 1e-12) {
			t.Errorf("%s: %g, want %g", name, c[0], c[1])
		}
	}
	if !slices.Equal(e.blankOf, []int{1, -1, 3, -1, 5, -1}) || !e.blanks || e.alike {
		t.Errorf("blanks of %v, %t; alike %t", e.blankOf, e.blanks, e.alike)
	}
}

// TestChoose: a column of one value is one whose deviation is a millionth of its mean at most, or
// next to 0; levels of less than five rows have no interval, numbers have; the reference is the
// commonest level of its group that is no blank.
func TestChoose(t *testing.T) {
	level, blank := Column{Group: 1, Level: true}, Column{Group: 1, Level: true, Blank: true}
	of := func(count, mean, deviation float64) []float64 {
		return []float64{count, 10, 10 * mean, 10 * (mean*mean + deviation*deviation)}
	}
	four, five, six, most := of(4, .1, .3), of(5, .1, .3), of(6, .2, .4), of(90, .9, .3)
	for name, c := range map[string]struct {
		columns    []Column
		of         [][]float64
		why        string // of the first
		references []int
	}{
		"a number":          {[]Column{{}}, [][]float64{of(3, 1, 1.1e-6)}, "", []int{-1}},
		"below a millionth": {[]Column{{}}, [][]float64{of(30, 1, .9e-6)}, "one value in all rows", []int{-1}},
		"below 0":           {[]Column{{}}, [][]float64{of(30, -1, .9e-6)}, "one value in all rows", []int{-1}},
		"below 0, beyond":   {[]Column{{}}, [][]float64{of(30, -1, 1.1e-6)}, "", []int{-1}},
		"small":             {[]Column{{}}, [][]float64{of(30, 0, 1.1e-9)}, "", []int{-1}},
		"next to 0":         {[]Column{{}}, [][]float64{of(30, 0, .9e-9)}, "one value in all rows", []int{-1}},
		"large":             {[]Column{{}}, [][]float64{of(30, 100, 1.1e-4)}, "", []int{-1}},
		"large, by less":    {[]Column{{}}, [][]float64{of(30, 100, .9e-4)}, "one value in all rows", []int{-1}},
		"no row":            {[]Column{{}}, [][]float64{{0, 0, 0, 0}}, "one value in all rows", []int{-1}},
		"four rows":         {[]Column{level, level}, [][]float64{four, most}, "too few rows", []int{1, 1}},
		"five rows":         {[]Column{level, level}, [][]float64{five, most}, "", []int{1, 1}},
		"alike":             {[]Column{level, level}, [][]float64{of(9, .5, .5), of(9, .5, .5)}, "", []int{0, 0}},
		"the blank is commoner": {[]Column{level, blank, level}, [][]float64{six, most, five}, "",
			[]int{0, -1, 0}},
		"another group": {[]Column{level, {Group: 2, Level: true}}, [][]float64{six, most}, "", []int{0, 1}},
		"no level":      {[]Column{level, {Group: 1}}, [][]float64{six, most}, "", []int{0, -1}},
	} {
		e := &Effects{Tables: Tables{Columns: c.columns}, Why: make([]string, len(c.columns))}
		e.choose(slices.Concat(c.of...))
		used := c.why != "one value in all rows" && e.Reference[0] != 0
		if e.Why[0] != c.why || !slices.Equal(e.Reference, c.references) || slices.Contains(e.use, 0) != used ||
			math.IsNaN(e.Share[0]) {
			t.Errorf("%s: %q, references %v, in use %v", name, e.Why[0], e.Reference, e.use)
		}
		if e.blanks != slices.Contains(c.columns, blank) {
			t.Errorf("%s: blanks %t", name, e.blanks)
		}
	}
}

// TestRefusalBounds: no column, and the most products and rows at risk.
func TestRefusalBounds(t *testing.T) {
	const none = "no columns, or too many rows,"
	for _, c := range []struct {
		kind          Kind
		columns, rows int
		want          string
	}{
		{Number, 0, 1000, none}, {Number, 1, 1000, ""}, {Number, 20, 1e7, ""}, {Number, 20, 1e7 + 1, none}, // 400 a row
		{Hazard, 4, 1e7, ""}, {Hazard, 4, 1e7 + 1, none}, {Hazard, 40, 1e6, ""}, {Hazard, 40, 1e6 + 1, none},
		{Number, 4, 1e8, ""},
	} {
		e := &Effects{Tables: Tables{Kind: c.kind}, use: make([]int, c.columns), Rows: c.rows, events: 1e4,
			effective: float64(c.rows)}
		if got := e.refusal(); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("kind %d, %d columns, %d rows: %q", c.kind, c.columns, c.rows, got)
		}
	}
}

// TestMixtures: a column is a mixture where all but 1e-8 of its variance is of the columns before
// it, and a column has a part in it from a thousandth on.
func TestMixtures(t *testing.T) {
	for own, why := range map[float64]string{.95e-4: "cannot be told apart from x0", 1.05e-4: ""} {
		for part, named := range map[float64]string{.9e-3: "", 1.1e-3: ", x1"} {
			var x [][]float64
			for k := range 64 { // orthogonal columns
				sign := func(bit int) float64 { return 1 - 2*float64(k>>bit&1) }
				x = append(x, []float64{sign(0), sign(1), sign(0) + part*sign(1) + own*sign(2)})
			}
			e := testkit.Get(NewEffects(inMemory(Number, 0, numbers(3), x, targets(64, 32), nil, make([]int, 64))))
			testkit.OK(e.fillAndDrop())
			if why != "" {
				why = "cannot be told apart from x0" + named
			}
			if e.Why[2] != why || len(e.use) != 3-min(1, len(why)) {
				t.Errorf("a part of %g and %g of its own: %q, want %q", part, own, e.Why[2], why)
			}
		}
	}
}

// TestImportanceOfOne: one weight has the interval of its size, down to 0, and the square of its
// error is taken off its own; a blank of the same column has no part in it.
func TestImportanceOfOne(t *testing.T) {
	e := &Effects{Tables: Tables{Columns: []Column{{Group: 1}, {Group: 2}, {Group: 2, Blank: true}}},
		use: []int{0, 1, 2}, Deviation: []float64{1, 2, 1}, Share: make([]float64, 3)}
	for _, c := range []struct{ weight, value, low, high float64 }{
		{-3, math.Sqrt(9 - .25), 2, 4}, {3, math.Sqrt(9 - .25), 2, 4}, {.4, 0, 0, 1.4},
	} {
		f := &Fit{Effects: e, weights: []float64{7, c.weight, 9}, model: make([]float64, 9),
			sandwich: make([]float64, 9)}
		f.model[4], f.sandwich[4] = .25, .16
		for range 2 {
			v, low, high := f.Importance(2, 2)
			for k, d := range []float64{v - c.value, low - c.low, high - c.high} {
				if !(math.Abs(d) <= 1e-12) {
					t.Errorf("weight %g: number %d of %g, %g to %g is %g off", c.weight, k, v, low, high, d)
				}
			}
			if got := f.Effect(1, 0); got != (Effect{c.weight / 2, .25}) {
				t.Errorf("weight %g: %+v", c.weight, got)
			}
			f.model, f.sandwich = f.sandwich, f.model // the larger one counts
		}
	}
	if got := e.Others(); !slices.Equal(got, []int{0}) {
		t.Errorf("without classes others are %v", got)
	}
	g := &Fit{Effects: &Effects{Tables: Tables{Classes: 3, Columns: numbers(1)}, use: []int{0}, Deviation: []float64{1},
		Share: []float64{0}}, weights: []float64{3, 4}, model: []float64{.5, 0, 0, .5}, sandwich: make([]float64, 4)}
	// 12.5 − .5; errors are √(4·9·.5 + 2·.25) and √(4·16·.5 + 2·.25), and twice their mean counts
	v, low, high := g.Importance(0, 2)
	half := math.Sqrt(18.5) + math.Sqrt(32.5)
	if !(math.Abs(v*v-12) <= 1e-12) || !(math.Abs(low*low-(12-half)) <= 1e-12) ||
		!(math.Abs(high*high-(12+half)) <= 1e-12) {
		t.Errorf("of three classes %g, %g to %g", v, low, high)
	}
}

// TestPredictions: counts are e^30 at most and e^−30 at least, and probabilities are right where
// e^z is too large for a number.
func TestPredictions(t *testing.T) {
	e := &Effects{Tables: Tables{Kind: Count, Columns: numbers(1)}, use: []int{0}, unit: 1}
	for score, want := range map[float64]float64{2: 2, 29: 29, 31: 30, 99: 30, -29: -29, -31: -30, -99: -30} {
		s := &rows{Site: Site{Rows: 1, Target: []float64{0}}}
		got := e.predict(s, 0, 1, []float64{score}, []float64{1}, []float64{0})
		if !(math.Abs(math.Log(got.mean[0])-want) <= 1e-12) || got.residual[0] != -got.mean[0] {
			t.Errorf("at %g a count is e^%g, want e^%g", score, math.Log(got.mean[0]), want)
		}
	}
	for _, c := range []struct{ z, want []float64 }{
		{[]float64{900, 0}, []float64{1, 0}}, {[]float64{-900, -900}, []float64{0, 0}},
		{[]float64{0, 900}, []float64{0, 1}}, {[]float64{math.Log(2), 0}, []float64{.5, .25}},
	} {
		z := slices.Clone(c.z)
		softmax(z)
		for k, v := range z {
			if !(math.Abs(v-c.want[k]) < 1e-12) {
				t.Errorf("log-odds %v: %v, want %v", c.z, z, c.want)
			}
		}
	}
}

// TestEndless: a weight has no end where its variance is a million times the one where nothing
// counts, by its own place.
func TestEndless(t *testing.T) {
	for _, c := range []struct {
		times []float64
		want  []string
	}{
		{[]float64{1, .99e6}, []string{"", "", ""}}, {[]float64{1, 1.01e6}, []string{"", "", noEstimate}},
		{[]float64{1.01e6, 1}, []string{noEstimate, "", ""}},
		{[]float64{2e6, 3e6}, []string{noEstimate, "", noEstimate}},
	} {
		start, at := []float64{2, 9e9, 9e9, 5}, []float64{2 * c.times[0], 9e20, 9e20, 5 * c.times[1]}
		f := &Fit{Effects: &Effects{Tables: Tables{Columns: numbers(3)}, Why: make([]string, 3), use: []int{0, 2}}}
		some := f.markEndless(point{inverse: start}, point{inverse: at})
		if !slices.Equal(f.Why, c.want) || some != slices.Contains(c.want, noEstimate) || f.IsEndless(1) ||
			f.IsEndless(2) != (c.want[2] != "") || f.IsEndless(0) != (c.want[0] != "") {
			t.Errorf("%v times: %q, some %t", c.times, f.Why, some)
		}
	}
}

// TestRefusedFits: what is refused has no weights, before or after mixtures are out, and a fit
// leaves what was measured as it is.
func TestRefusedFits(t *testing.T) {
	for name, tables := range map[string]Tables{"rows": simple(Number, 0, 7, 3, targets(17, 9)),
		"events": hazards(80, 4, 3, 11)} {
		if f := fitted(tables); !strings.HasPrefix(f.Refused, "too few") || f.weights != nil {
			t.Errorf("%s: refused %q, weights %v", name, f.Refused, f.weights)
		}
	}
	y := targets(200, 100)
	separable := simple(Class, 2, 2, 1, y)
	read := separable.Sites[0].Read
	separable.Sites[0].Read = func(from, to int, x []float64) {
		read(from, to, x)
		for r := range to - from {
			x[2*r] = (2*y[from+r] - 1) * (1 + .01*x[2*r+1]) // its sign is the class
		}
	}
	const apart = "the fit takes too many steps, as where classes separate, to say"
	if f := fitted(separable); !strings.HasPrefix(f.Refused, apart) || f.weights != nil {
		t.Errorf("classes apart: refused %q, weights %v", f.Refused, f.weights)
	}
	tables := simple(Number, 0, 3, 3, targets(90, 45))
	for i := range tables.Sites {
		read := tables.Sites[i].Read
		tables.Sites[i].Read = func(from, to int, x []float64) {
			read(from, to, x)
			for r := range to - from {
				x[3*r+1] = x[3*r] // a mixture
			}
		}
	}
	e := testkit.Get(NewEffects(tables))
	f := testkit.Get(e.Fit())
	if f.Why[1] == "" || e.Why[1] != "" || f.Refused != "" {
		t.Errorf("of a mixture %q, before %q, refused %q", f.Why, e.Why, f.Refused)
	}
}
