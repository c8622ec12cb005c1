package assess

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dsbo/internal/testkit"
)

// TestEffectiveRows: of rows that weigh unlike as many count as tell as much with one weight:
// (Σ v)²/Σ v², in all bounds, also in the number of weights, 9 of four classes with d = 3.
func TestEffectiveRows(t *testing.T) {
	four := targets(40, 0)
	for r := range four {
		four[r] = float64(r % 4)
	}
	for _, c := range []struct {
		kind       Kind
		classes, p int
		y          []float64
		weights    []float64 // of the first rows and of the others
		first      int
		refused    bool
	}{
		{Number, 0, 9, targets(24, 12), []float64{1, 3}, 12, false}, // 19.2 for 1.3 d + 5 = 18
		{Number, 0, 9, targets(22, 11), []float64{1, 3}, 11, true},  // 17.6
		{Class, 4, 2, four, []float64{1, 0}, 14, false},
		{Class, 4, 2, four, []float64{1, 0}, 13, true},
	} {
		tables := simple(c.kind, c.classes, c.p, 1, c.y)
		tables.Sites[0].Weight = slices.Concat(slices.Repeat(c.weights[:1], c.first),
			slices.Repeat(c.weights[1:], len(c.y)-c.first))
		if got := testkit.Get(NewEffects(tables)).refusal(); strings.HasPrefix(got, "too few rows") != c.refused {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// TestWithoutLevel: a site whose rows all weigh 0, and one that has left and is in no sum, have no
// level: all is as without them.
func TestWithoutLevel(t *testing.T) {
	y := make([]float64, 120)
	for k := range y {
		y[k] = float64(k * k % 7 % 2)
	}
	for kind, classes := range map[Kind]int{Number: 0, Class: 2, Count: 0} {
		var found [3]*Fit
		var chances [3]float64
		for k := range found {
			tables := simple(kind, classes, 4, 3, y)
			sum, all := tables.Sum, tables.Sites
			for i := range all {
				all[i].Weight = slices.Repeat([]float64{1, 2}, all[i].Rows/2)
			}
			switch k {
			case 0:
				all[2] = Site{}
			case 1:
				clear(all[2].Weight)
			case 2:
				tables.Sum = func(name string, dst []float64, fill func(i int, part []float64) error) error {
					return sum(name, dst, func(i int, part []float64) error {
						if i == 2 {
							return nil
						}
						return fill(i, part)
					})
				}
			}
			e := testkit.Get(NewEffects(tables))
			found[k], chances[k] = testkit.Get(e.Fit()), testkit.Get(e.Chance(1))
			if f := found[k]; f.Refused != "" || f.Rows != 80 || f.Freedom != found[0].Freedom ||
				f.Effect(1, 1) != found[0].Effect(1, 1) || chances[k] != chances[0] {
				t.Errorf("kind %d, case %d: refused %q, %d rows, %+v by chance %g; want %+v, %g", kind, k, f.Refused,
					f.Rows, f.weights, chances[k], found[0].weights, chances[0])
			}
		}
	}
}

// countSites has look see of each sum how many sites give something to each number.
func countSites(tables *Tables, look func(sites []int)) {
	sum := tables.Sum
	tables.Sum = func(name string, dst []float64, fill func(i int, part []float64) error) error {
		sites := make([]int, len(dst))
		err := sum(name, dst, func(i int, part []float64) error {
			err := fill(i, part)
			for k, v := range part {
				if v != 0 {
					sites[k]++
				}
			}
			return err
		})
		look(sites)
		return err
	}
}

// TestSums: Sums returns the lengths of all sums over the sites, each taken at most Most times.
// Here no two sums are equally long. No number of a sum is of one site alone, such as its level.
func TestSums(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	var x [][]float64
	var y []float64
	var site []int
	for i := range 200 {
		row := []float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), 0}
		if i%7 == 0 {
			row[2], row[3] = 0, 1
		}
		x, y, site = append(x, row), append(y, float64(r.IntN(3))), append(site, i%2)
	}
	columns := append(numbers(3), Column{Name: "x2=", Group: 2, Blank: true})
	tables, times := inMemory(Class, 3, columns, x, y, nil, site), map[int]float64{}
	countSites(&tables, func(sites []int) {
		times[len(sites)]++
		if k := slices.Index(sites, 1); k >= 0 {
			t.Errorf("number %d of %d is of one site alone", k, len(sites))
		}
	})
	e := testkit.Get(NewEffects(tables))
	testkit.Get(e.Fit())
	testkit.Get(e.Chance(1))
	list := e.Sums()
	for _, s := range list {
		if n := times[s.Length]; n < 1 || n > s.Most {
			t.Errorf("%s: %d numbers are summed %g times, want 1 to %g", s.Name, s.Length, n, s.Most)
		}
		delete(times, s.Length)
	}
	if len(list) != 7 || len(times) > 0 {
		t.Errorf("%d sums; numbers that none of them tells of, and how often: %v", len(list), times)
	}
}

// TestSumsOfManyColumns: a fit of 400 weights without levels is made, and has sums of its own; one
// of more is refused, and its columns are measured and tested alone.
func TestSumsOfManyColumns(t *testing.T) {
	for _, c := range []struct {
		kind             Kind
		classes, columns int
		want             int
	}{{Number, 0, 400, 6}, {Number, 0, 401, 2}, {Class, 3, 200, 6}, {Class, 3, 201, 2}, {Hazard, 0, 400, 4},
		{Hazard, 0, 401, 2}} {
		tables := Tables{Kind: c.kind, Classes: c.classes, Columns: numbers(c.columns)}
		if got := len(tables.Sums()); got != c.want {
			t.Errorf("kind %v, %d columns, %d classes: %d sums, want %d", c.kind, c.columns, c.classes, got, c.want)
		}
	}
}

// TestSumsOfUnlikeSites: where one site alone has a word, the numbers that are of that site alone
// are the ones of the word's column, in all sums; where it has a level of its own, most of the
// rows, or numbers of another size, there is no other.
func TestSumsOfUnlikeSites(t *testing.T) {
	const own = 3 // column of the word; the reference is the one after it
	for kind, classes := range map[Kind]int{Number: 0, Class: 3, Count: 0} {
		for _, has := range []bool{true, false} {
			r := rand.New(rand.NewPCG(9, uint64(kind)))
			var x [][]float64
			var y []float64
			var site []int
			for i := range 400 {
				row, of := []float64{r.NormFloat64(), r.NormFloat64(), 0, 0, 1, 0}, min(i%5, 2)
				row[0] *= math.Pow(100, float64(of))
				if i%11 == 0 {
					row[1], row[2] = 0, 1
				}
				switch {
				case of == 1 && has && i%2 == 0:
					row[own], row[4] = 1, 0
				case i%3 == 0:
					row[4], row[5] = 0, 1
				}
				x, y, site = append(x, row), append(y, float64((r.IntN(5)+of)%3)), append(site, of)
			}
			columns := append(numbers(2), Column{Name: "x1=", Group: 1, Blank: true})
			tables := inMemory(kind, classes, words(columns, 3), x, y, nil, site)
			var e *Effects
			found := 0
			countSites(&tables, func(sites []int) {
				for k, n := range sites {
					if is := has && e.ofColumn(own, len(sites), k); n == 1 && !is {
						t.Errorf("kind %d: number %d of %d is of one site alone", kind, k, len(sites))
					} else if n == 1 {
						found++
					}
				}
			})
			e = Unmeasured(tables)
			measured := testkit.Get(NewEffects(tables))
			*e = *measured
			if f := testkit.Get(e.Fit()); f.Refused != "" || slices.Contains(f.use, own) != has {
				t.Fatalf("kind %d: refused %q, columns %v", kind, f.Refused, f.use)
			}
			testkit.Get(e.Chance(1))
			if has != (found > 0) {
				t.Errorf("kind %d: %d numbers are of one site alone; it has a word of its own: %t", kind, found, has)
			}
		}
	}
}

// ofColumn reports whether number k of a sum of some length is of a column.
func (e *Effects) ofColumn(column, length, k int) bool {
	place, p, m := slices.Index(e.use, column), len(e.use), e.outputs()
	triangular := func(q int) bool { // of rows and columns of the lower triangle
		row := 0
		for triangle(row+1) <= k {
			row++
		}
		return k < triangle(q) && (row%p == place || (k-triangle(row))%p == place)
	}
	switch length {
	case e.measured():
		return k >= 5+e.Classes && (k-5-e.Classes)/columnNumbers == column
	case p * (p + 1): // products where both are known, and their number
		row := 0
		for (row+1)*(row+2) <= k {
			row++
		}
		return row == place || (k-row*(row+1))/2 == place
	case triangle(p) + 2:
		return triangular(p)
	case triangle(m*p) + 2, triangle(m*p) + 1:
		return triangular(m * p)
	}
	return k%p == place && k < length-m // slopes, permuted or not
}

// TestEffectsOfCounts: a row that counts k is k rows in all that is told: coefficients, errors,
// degrees of freedom, and how likely all is by chance, also of columns with blanks. Sums differ by
// their order.
func TestEffectsOfCounts(t *testing.T) {
	for kind, classes := range map[Kind]int{Number: 0, Class: 3, Count: 0} {
		r := rand.New(rand.NewPCG(3, uint64(kind)))
		var x, repeatedX [][]float64
		var y, repeatedY, counts []float64
		var site, repeatedSite []int
		for i := range 90 {
			row, k := []float64{r.NormFloat64(), r.NormFloat64(), 0}, 1+r.IntN(3)
			if i%9 == 0 {
				row[1], row[2] = 0, 1
			}
			x, y, site = append(x, row), append(y, float64(r.IntN(3))), append(site, i%2)
			counts = append(counts, float64(k))
			for range k {
				repeatedX, repeatedY = append(repeatedX, row), append(repeatedY, y[i])
				repeatedSite = append(repeatedSite, i%2)
			}
		}
		columns := append(numbers(2), Column{Name: "x1=", Group: 1, Blank: true})
		counted := inMemory(kind, classes, columns, x, y, nil, site)
		for i, k := range counts {
			counted.Sites[site[i]].Count = append(counted.Sites[site[i]].Count, k)
		}
		var found [2]*Fit
		var chance [2]float64
		for k, of := range []Tables{counted,
			inMemory(kind, classes, columns, repeatedX, repeatedY, nil, repeatedSite)} {
			e := testkit.Get(NewEffects(of))
			found[k], chance[k] = testkit.Get(e.Fit()), testkit.Get(e.Chance(1))
		}
		got, want := found[0], found[1]
		if got.Refused != "" || got.Rows != want.Rows || got.Freedom != want.Freedom || chance[0] != chance[1] {
			t.Fatalf("kind %d: %q, %d rows, %d degrees of freedom, %g by chance; want %d, %d, %g", kind, got.Refused,
				got.Rows, got.Freedom, chance[0], want.Rows, want.Freedom, chance[1])
		}
		for j := range columns {
			for _, k := range want.Others() {
				a, b := got.Effect(j, k), want.Effect(j, k)
				if math.Abs(a.Value-b.Value)+math.Abs(a.Error-b.Error) > 1e-6*b.Error { // the fit ends at 1e-6 errors
					t.Errorf("kind %d, column %d, class %d: %+v, want %+v", kind, j, k, a, b)
				}
			}
		}
	}
}

// TestMixture: a mixture names the columns whose weight is a thousandth of a deviation or more.
func TestMixture(t *testing.T) {
	e := &Effects{Tables: Tables{Columns: []Column{{Name: "a"}, {Name: "b"}, {Name: "c"}}}}
	factor := [][]float64{{2}, {1, 4}, {0, 0, 1}}
	for want, weights := range map[string][3]float64{
		"a, b": {1.1e-3, -1.1e-3, .9e-3}, "c": {0, .9e-3, 1}, "the sites": {.9e-3, 0, 0},
	} {
		b := make([]float64, 3) // the row of the factor of a column with these weights
		for k, w := range weights {
			for j, f := range factor[k] {
				b[j] += w * f
			}
		}
		if got := e.mixture([]int{0, 1, 2}, factor, b); got != want {
			t.Errorf("weights %v: %q, want %q", weights, got, want)
		}
	}
}

// TestFarthestMove: a step of a fit is halved until no row's prediction moves by more than 3, up or
// down; one of numbers, which ends the fit, is whole. Of 20 rows the one apart has √19 deviations.
func TestFarthestMove(t *testing.T) {
	for _, c := range []struct {
		kind       Kind
		far        float64 // value of one row; .1 of the others
		move, want float64 // of its prediction
	}{{Class, 1, 2.9, 2.9}, {Class, 1, 3.1, 1.55}, {Class, -1, 3.1, 1.55}, {Class, 1, -13, -1.625},
		{Count, -1, 5.9, 2.95}, {Count, -1, -6.2, -1.55}, {Number, -1, 13, 13}} {
		x := slices.Repeat([][]float64{{.1}}, 20)
		x[7] = []float64{c.far}
		classes := map[Kind]int{Class: 2}[c.kind]
		tables := inMemory(c.kind, classes, numbers(1), x, targets(20, 10), nil, make([]int, 20))
		e := testkit.Get(NewEffects(tables))
		e.begin()
		at := point{weights: []float64{0}}
		testkit.Get(e.advance(&at, at.weights))
		if ok := testkit.Get(e.advance(&at, []float64{c.move / math.Sqrt(19)})); !ok ||
			!(math.Abs(at.weights[0]*math.Sqrt(19)-c.want) < 1e-9) {
			t.Errorf("%+v: the step is %g, %t", c, at.weights[0]*math.Sqrt(19), ok)
		}
	}
}
