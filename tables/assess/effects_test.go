package assess

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"dsbo/internal/testkit"
)

// reference is what an independent program found, with explicit columns for the levels of sites.
type reference struct {
	Name, Kind                string
	Classes, Levels, Ref      int
	X                         [][]float64
	Y                         []float64
	Site, Use                 []int
	Estimate, Model, Sandwich [][]float64
	Df                        float64
	Importance                []float64
}

// inMemory returns tables whose rows are in memory, dealt to sites.
func inMemory(kind Kind, classes int, columns []Column, x [][]float64, y, weight []float64, site []int) Tables {
	t := Tables{Kind: kind, Classes: classes, Columns: columns}
	rows := make([][]int, 1+slices.Max(site))
	for r, i := range site {
		rows[i] = append(rows[i], r)
	}
	for _, of := range rows {
		s := Site{Rows: len(of), Read: func(from, to int, dst []float64) {
			for k, r := range of[from:to] {
				copy(dst[k*len(columns):], x[r])
			}
		}}
		for _, r := range of {
			s.Target = append(s.Target, y[r])
			if weight != nil {
				s.Weight = append(s.Weight, weight[r])
			}
		}
		t.Sites = append(t.Sites, s)
	}
	t.Sum = func(_ string, dst []float64, fill func(i int, part []float64) error) error {
		clear(dst)
		for i := range t.Sites {
			part := make([]float64, len(dst))
			if err := fill(i, part); err != nil {
				return err
			}
			for k, v := range part {
				dst[k] += v
			}
		}
		return nil
	}
	return t
}

// numbers returns p columns of numbers.
func numbers(p int) (list []Column) {
	for j := range p {
		list = append(list, Column{Name: fmt.Sprintf("x%d", j), Group: j})
	}
	return list
}

// words adds a column of words with some levels.
func words(list []Column, levels int) []Column {
	group := len(list)
	for l := range levels {
		list = append(list, Column{Name: fmt.Sprintf("w%d=%d", group, l), Group: group, Level: true})
	}
	return list
}

// fitted fits tables.
func fitted(t Tables) *Fit {
	return testkit.Get(testkit.Get(NewEffects(t)).Fit())
}

// kinds are the kinds by their names in testdata.
var kinds = map[string]Kind{"reg": Number, "bin": Class, "multi": Class, "count": Count}

// TestReference: estimates, both errors, degrees of freedom and importances equal an independent
// program's, whose sites' levels are columns like others: eliminating them changes nothing.
func TestReference(t *testing.T) {
	var all []reference
	testkit.OK(json.Unmarshal(testkit.Get(os.ReadFile("testdata/reference.json")), &all))
	for _, c := range all {
		p := len(c.X[0])
		f := fitted(inMemory(kinds[c.Kind], c.Classes, words(numbers(p-c.Levels), c.Levels), c.X, c.Y, nil, c.Site))
		if f.Refused != "" || float64(f.Freedom) != c.Df || f.Class != c.Ref || !slices.Equal(f.use, c.Use) {
			t.Errorf("%s: refused %q, %d degrees of freedom, class %d, columns %v", c.Name, f.Refused, f.Freedom,
				f.Class, f.use)
			continue
		}
		near := func(what string, j int, got, want float64) {
			if !(math.Abs(got-want) <= 1e-6*(1+math.Abs(want))) {
				t.Errorf("%s: %s of column %d is %.9g, want %.9g", c.Name, what, j, got, want)
			}
		}
		for k := range max(1, c.Classes) {
			for at, j := range c.Use {
				out := f.output(k)
				if out < 0 {
					continue
				}
				e := f.Effect(j, k)
				near("estimate", j, e.Value, c.Estimate[out][at])
				near("error", j, e.Error, max(c.Model[out][at], c.Sandwich[out][at]))
				i := (out*len(f.use) + at) * (len(f.weights) + 1)
				near("the model's error", j, math.Sqrt(f.model[i])/f.Deviation[j], c.Model[out][at])
				near("the sandwich's error", j, math.Sqrt(f.sandwich[i])/f.Deviation[j], c.Sandwich[out][at])
			}
		}
		if c.Importance != nil {
			v, low, high := f.Importance(p-c.Levels, f.Quantile(1, 1))
			for k, got := range []float64{v, low, high} {
				// G over n in place of n − 1
				if !(math.Abs(got-c.Importance[k]) <= c.Importance[k]/float64(len(c.Y))) {
					t.Errorf("%s: importance %g, want %v", c.Name, got, c.Importance)
				}
			}
		}
	}
}

// TestQuantile: of 10 intervals chosen among 40 each misses in a quarter of 5 %, by Student's
// distribution; where all are shown, or more than there are, in 5 %. Numbers are of scipy.
func TestQuantile(t *testing.T) {
	f := &Fit{Freedom: 20}
	for _, c := range []struct {
		shown, all int
		want       float64
	}{{10, 40, 2.744376}, {40, 40, 2.085963}, {50, 40, 2.085963}} {
		if got := f.Quantile(c.shown, c.all); !(math.Abs(got-c.want) <= 1e-6) {
			t.Errorf("%d of %d: %.7f errors, want %.6f", c.shown, c.all, got, c.want)
		}
	}
	if got := f.Chance(Effect{-5, 2}); !(math.Abs(got-0.0212335) <= 1e-7) {
		t.Errorf("an effect of 2.5 errors has chance %.7f", got)
	}
}

// TestBeyondChance: the k-th least of n probabilities is marked up to 5 %/(n − k + 1), as long as
// all before it are.
func TestBeyondChance(t *testing.T) {
	for _, c := range []struct {
		p    []float64
		want []bool
	}{
		{[]float64{.2, .0124, .0166}, []bool{false, true, true}},
		{[]float64{.0126, .2, .0124, .3}, []bool{true, false, true, false}},
		{[]float64{.0126, .0126, .0126, .0126}, make([]bool, 4)},
		{[]float64{.04, .0249, .0499}, make([]bool, 3)},
		{[]float64{.0166, .0249, .0499}, []bool{true, true, true}},
		{[]float64{.0166, .0251, .04}, []bool{true, false, false}},
		{[]float64{.05}, []bool{true}}, {[]float64{.05, .025}, []bool{true, true}},
	} {
		if !slices.Equal(BeyondChance(c.p), c.want) {
			t.Errorf("%v: marked %v, want %v", c.p, BeyondChance(c.p), c.want)
		}
	}
}

// simple returns tables of n rows of p numbers at some sites, whose rows have the given targets.
func simple(kind Kind, classes, p, sites int, y []float64) Tables {
	r := rand.New(rand.NewPCG(5, uint64(p)))
	x, site := make([][]float64, len(y)), make([]int, len(y))
	for i := range y {
		site[i] = i % sites
		for range p {
			x[i] = append(x[i], r.NormFloat64())
		}
	}
	return inMemory(kind, classes, numbers(p), x, y, nil, site)
}

// targets returns n targets, of which some are 1 and the others 0.
func targets(n, ones int) []float64 {
	y := make([]float64, n)
	for k := range ones {
		y[k*n/max(1, ones)] = 1
	}
	return y
}

// TestRefusals: each bound, and one row or column beyond it. d is 10 with the sites' levels.
func TestRefusals(t *testing.T) {
	const few = "too few rows to say how sure the coefficients are (%d rows, 10 columns and levels of sites)"
	for _, c := range []struct {
		kind    Kind
		classes int
		y       []float64
		refused bool
	}{
		{Number, 0, targets(18, 9), false}, {Number, 0, targets(17, 9), true}, // 1.3 d + 5
		{Class, 2, targets(30, 13), false}, {Class, 2, targets(29, 14), true}, // 3 d
		{Class, 2, targets(60, 13), false}, {Class, 2, targets(60, 12), true}, // the rarest class: 1.3 d
		{Class, 2, targets(60, 47), false}, {Class, 2, targets(60, 48), true},
		{Count, 0, targets(40, 20), false}, {Count, 0, targets(39, 20), true}, // 4 d
	} {
		e := testkit.Get(NewEffects(simple(c.kind, c.classes, 7, 3, c.y)))
		want := ""
		if c.refused {
			want = fmt.Sprintf(few, len(c.y))
		}
		if got := e.refusal(); got != want {
			t.Errorf("kind %d, %d rows: %q, want %q", c.kind, len(c.y), got, want)
		}
	}
	for n, want := range map[int]string{10: "", 9: "too few rows to say"} { // of the rarest class, with d = 4
		got := fitted(simple(Class, 2, 3, 1, targets(60, n))).Refused
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%d of a class: %q", n, got)
		}
	}
	for p, want := range map[int]string{399: "", 400: "too many columns to say"} {
		got := testkit.Get(NewEffects(simple(Number, 0, p, 1, targets(600, 300)))).refusal()
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%d columns: %q", p, got)
		}
	}
}

// TestDispersion: counts that spread less than Poisson's have his errors: the variance of a slope
// is 1/(n μ) for a mean count μ, 3 of the data and 1/n of the prior.
func TestDispersion(t *testing.T) {
	y := slices.Repeat([]float64{3}, 100)
	f := fitted(simple(Count, 0, 1, 1, y))
	if got := f.model[0] * 100 * 3.01; !(math.Abs(got-1) <= .01) {
		t.Errorf("the variance is %g of Poisson's", got)
	}
}

// TestCorrections: 1 − h is .001 at least, also of several outputs, and W V is taken as it is.
func TestCorrections(t *testing.T) {
	for _, c := range []struct{ residual, curvature, v, want []float64 }{
		{[]float64{2}, []float64{.25}, []float64{2}, []float64{4}},
		{[]float64{2}, []float64{1}, []float64{1}, []float64{2000}},
		{[]float64{2}, []float64{1}, []float64{.9995}, []float64{2000}},
		{[]float64{1, 3}, []float64{1, 0, 0, 1}, []float64{1, 0, 0, .5}, []float64{1000, 3 / .501}},
	} {
		for k, got := range corrections(c.residual, c.curvature, c.v) {
			if !(math.Abs(got/c.want[k]-1) <= 1e-9) {
				t.Errorf("%+v: %g", c, got)
			}
		}
	}
}

// TestColumns: references are the commonest ones, ties the first; what cannot be told is named.
func TestColumns(t *testing.T) {
	const n = 120
	r := rand.New(rand.NewPCG(1, 2))
	columns := words(words(words(numbers(5), 3), 2), 2)
	columns[len(columns)-2].Name = "rare"
	var x [][]float64
	var y []float64
	var site []int
	for i := range n {
		a, b := r.NormFloat64(), r.NormFloat64()
		row := []float64{a, b, a - 2*b, float64(i % 3), 1, 0, 0, 0, 0, 1, 0, 1}
		row[5+min(i%4, 2)] = 1 // the third is the commonest
		if i%4 == 0 {
			row[8], row[9] = 1, 0
		}
		if i >= 20 && i < 24 {
			row[10], row[11] = 1, 0
		}
		x, y, site = append(x, row), append(y, float64(i%5%3)), append(site, i%3)
	}
	f := fitted(inMemory(Class, 3, columns, x, y, nil, site))
	want := []string{"", "", "cannot be told apart from x0, x1", "cannot be told apart from the sites",
		"one value in all rows", "", "", "", "cannot be told apart from w5=0", "", "too few rows", ""}
	if !slices.Equal(f.Why, want) || !slices.Equal(f.Reference, []int{-1, -1, -1, -1, -1, 7, 7, 7, 9, 9, 11, 11}) {
		t.Errorf("%q, references %v", f.Why, f.Reference)
	}
	if f.Class != 0 || !slices.Equal(f.Others(), []int{1, 2}) || f.Refused != "" {
		t.Errorf("class %d, %q", f.Class, f.Refused)
	}
	for i := range y {
		y[i] = 2 - y[i]
	}
	f = fitted(inMemory(Class, 3, columns, x, y, nil, site))
	if f.Class != 1 || !slices.Equal(f.Others(), []int{0, 2}) {
		t.Errorf("class %d", f.Class)
	}
	for i := range y { // of two classes the first one, though the second is commoner
		y[i] = min(1, float64(i%3))
	}
	if f := fitted(inMemory(Class, 2, columns, x, y, nil, site)); f.Class != 0 {
		t.Errorf("of two classes %d", f.Class)
	}
	for i := range n { // a fifth row of the rare word
		x[i][10], x[i][11] = 0, 1
		if i >= 20 && i < 25 {
			x[i][10], x[i][11] = 1, 0
		}
	}
	if f := fitted(inMemory(Class, 3, columns, x, y, nil, site)); f.Why[10] != "" {
		t.Errorf("a word in five rows: %q", f.Why[10])
	}
}

// TestWeights: of rows that weigh unlike the error is the sandwich's alone, with the squares of the
// weights, computed by hand for one column. A unit of weights changes nothing; weights that are all
// alike are none.
func TestWeights(t *testing.T) {
	const n = 40
	r := rand.New(rand.NewPCG(3, 4))
	var x [][]float64
	var y, w, plain []float64
	for range n {
		v := r.NormFloat64()
		x, y = append(x, []float64{v}), append(y, v+r.NormFloat64())
		w, plain = append(w, 5*math.Exp(.7*r.NormFloat64())), append(plain, 7)
	}
	w[3] = 0
	var sum, mean, square, cross float64
	for i, v := range x {
		sum, mean, square, cross = sum+w[i], mean+w[i]*v[0], square+w[i]*v[0]*v[0], cross+w[i]*v[0]*y[i]
	}
	mean /= sum
	square -= sum * mean * mean
	meanY := 0.
	for i := range y {
		meanY += w[i] * y[i] / sum
	}
	slope := (cross - sum*mean*meanY) / square
	variance := 0.
	for i, v := range x {
		e, d := y[i]-meanY-slope*(v[0]-mean), v[0]-mean
		variance += w[i] * w[i] * e * e * d * d / (1 - w[i]*(1/sum+d*d/square)) / square / square
	}
	got := fitted(inMemory(Number, 0, numbers(1), x, y, w, make([]int, n))).Effect(0, 0)
	if !(math.Abs(got.Value/slope-1) <= 1e-9) || !(math.Abs(got.Error/math.Sqrt(variance)-1) <= 1e-9) {
		t.Errorf("%+v, want %g ± %g", got, slope, math.Sqrt(variance))
	}
	alike := fitted(inMemory(Number, 0, numbers(1), x, y, plain, make([]int, n))).Effect(0, 0)
	if none := fitted(inMemory(Number, 0, numbers(1), x, y, nil, make([]int, n))).Effect(0, 0); alike != none {
		t.Errorf("with one weight %+v, without %+v", alike, none)
	}
}

// TestSeparated: where a column separates the classes the estimates are finite, and as far from 0
// as Jeffreys' prior has it: with one column and no level log-odds of (n₁ + ½)/(n₀ + ½) in each
// half.
func TestSeparated(t *testing.T) {
	const n = 40
	var x [][]float64
	y := make([]float64, n)
	for i := range n {
		x = append(x, []float64{float64(i % 2), float64(1 - i%2)})
		y[i] = float64(i % 2)
	}
	f := fitted(inMemory(Class, 2, words(nil, 2), x, y, nil, make([]int, n)))
	if got, want := f.Effect(1, 1).Value, -2*math.Log(20.5/.5); !(math.Abs(got-want) <= 1e-5) {
		t.Errorf("%+v, want %g", got, want)
	}
}
