package assess

import (
	"math"
	"math/rand/v2"
	"testing"

	"dsbo/internal/testkit"
)

// TestFill: a blank is filled by its best linear prediction from the other columns, with their
// covariance drawn towards 0 by the share of columns in rows.
func TestFill(t *testing.T) {
	const n = 50
	r := rand.New(rand.NewPCG(8, 8))
	columns := []Column{{Name: "a", Group: 0}, {Name: "a missing", Group: 0, Blank: true}, {Name: "b", Group: 1}}
	var x [][]float64
	var aa, ab, b, bb float64
	for i := range n {
		v := r.NormFloat64()
		row := []float64{v, 0, v + .5*r.NormFloat64()}
		if i%5 == 0 {
			row[0], row[1] = 0, 1
		}
		x = append(x, row)
	}
	e := testkit.Get(NewEffects(inMemory(Number, 0, columns, x, targets(n, 25), nil, make([]int, n))))
	testkit.OK(e.findFill())
	for _, row := range x {
		v := (row[2] - e.sites[0].mean[2]) / e.Deviation[2]
		if b += v * v; row[1] == 0 {
			u := (row[0] - e.sites[0].mean[0]) / e.Deviation[0]
			aa, ab, bb = aa+u*u, ab+u*v, bb+v*v
		}
	}
	slope := (1 - 3./n) * (ab / (.8 * n)) / (b / n)
	e.each(e.sites[0], func(from, rows int, z []float64) {
		for k := range rows {
			if x[from+k][1] == 1 && !(math.Abs(z[3*k]-slope*z[3*k+2]) <= 1e-9) {
				t.Errorf("row %d is filled with %g, want %g", from+k, z[3*k], slope*z[3*k+2])
			}
		}
	})
}

// TestChance: where a column is the target, no permutation does as well, and twice the least
// probability of 199 of them is told; where it is noise, hardly a table of 60 is below 5 % (4
// deviations of a binomial share above). 200 slopes and a square are summed for each column and
// output.
func TestChance(t *testing.T) {
	tables := simple(Class, 3, 4, 2, make([]float64, 90))
	for i, s := range tables.Sites {
		for r := range s.Target {
			s.Target[r] = float64((r + i) % 3)
		}
	}
	e := testkit.Get(NewEffects(tables))
	if got := e.permuted(); got != 200*4*2+2 {
		t.Errorf("%d sums", got)
	}
	below := 0
	for seed := range uint64(60) {
		p := testkit.Get(e.Chance(seed))
		if k := p * 100; !(math.Abs(k-math.Round(k)) <= 1e-9) || p <= 0 || p > 1 {
			t.Errorf("p = %g", p)
		}
		y := make([]float64, 60)
		r := rand.New(rand.NewPCG(seed, 1))
		for k := range y {
			y[k] = r.NormFloat64()
		}
		if testkit.Get(testkit.Get(NewEffects(simple(Number, 0, 6, 3, y))).Chance(seed)) <= .05 {
			below++
		}
	}
	if below > 10 { // 3 + 4·√(60·.05·.95)
		t.Errorf("%d of 60 tables of noise", below)
	}
	for kind, of := range map[Kind]func(x float64) float64{
		Number: func(x float64) float64 { return x },
		Class: func(x float64) float64 { // the second of two where x is above 0
			if x > 0 {
				return 1
			}
			return 0
		},
	} {
		told := simple(kind, 2*int(kind), 5, 2, make([]float64, 60))
		x := make([]float64, 5*60)
		for _, s := range told.Sites {
			s.Read(0, s.Rows, x)
			for r := range s.Target {
				s.Target[r] = of(x[5*r+2])
			}
		}
		if p := testkit.Get(testkit.Get(NewEffects(told)).Chance(1)); p != .01 {
			t.Errorf("kind %d, the target among the columns: p = %g, want .01", kind, p)
		}
	}
}

// TestSiteWithoutRows: a site without rows, such as one that is elsewhere, changes no effect.
func TestSiteWithoutRows(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	var x [][]float64
	var y []float64
	var sites [2][]int
	for k := range 60 {
		x, y = append(x, []float64{r.NormFloat64(), r.NormFloat64()}), append(y, float64(r.IntN(2)))
		sites[0], sites[1] = append(sites[0], k%2), append(sites[1], 2*(k%2))
	}
	for _, kind := range []Kind{Number, Count, Class} {
		var effects [2]Effect
		for k, site := range sites {
			fit := testkit.Get(testkit.Get(NewEffects(inMemory(kind, 2, numbers(2), x, y, nil, site))).Fit())
			effects[k] = fit.Effect(1, fit.Others()[0])
		}
		if effects[0] != effects[1] || !(effects[0].Error > 0) {
			t.Errorf("kind %d: %+v, with a site without rows %+v", kind, effects[0], effects[1])
		}
	}
}

// TestPermutes: up to 2000 columns and outputs are tested by 200 slopes each, and few enough rows.
func TestPermutes(t *testing.T) {
	const rows = 2_000_000 // 4e9 products
	for _, c := range []struct {
		n, rows int
		want    bool
	}{{0, 9, false}, {1, 9, true}, {2000, 9, true}, {2001, 9, false}, {10, rows, true}, {10, rows + 1, false}} {
		if got := permutes(c.n, c.rows); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
	for kind, want := range map[Kind]string{Hazard: "slopes with random signs", Class: "slopes with permuted targets"} {
		if e := (&Effects{Tables: Tables{Kind: kind}}); e.slopesName() != want {
			t.Errorf("kind %d: a plan has %q, want %q", kind, e.slopesName(), want)
		}
	}
}
