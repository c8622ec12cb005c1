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

// raised returns by how much an error is larger than the sandwich's, as a fit draws rows to itself.
func raised(f *Fit) float64 { return math.Sqrt(f.events / (f.events - float64(len(f.use)))) }

// TestHazardReference: ratios of hazards and both errors equal R's survival with strata,
// by both rules for ties, and with weights, of which the error is the sandwich's. The sandwich is
// E/(E − q) of R's.
func TestHazardReference(t *testing.T) {
	type fit struct {
		Coefficients, SE []float64
		Robust           []float64 `json:"robust_se"`
		Weighted         struct {
			Coefficients []float64
			Robust       []float64 `json:"robust_se"`
		}
	}
	for _, name := range []string{"lung", "veteran"} {
		var of struct {
			Time, Status, Deviation []float64
			Site                    []int
			X                       [][]float64
			Breslow, Efron          fit
		}
		testkit.OK(json.Unmarshal(testkit.Get(os.ReadFile("../../models/testdata/survival_"+name+".json")), &of))
		times, weights := make([]float64, len(of.Time)), make([]float64, len(of.Time))
		for row, v := range of.Time {
			times[row], weights[row] = v*(2*of.Status[row]-1), 1.5+float64(row%3)
		}
		for _, breslow := range []bool{false, true} {
			want := of.Efron
			if breslow {
				want = of.Breslow
			}
			tables := inMemory(Hazard, 0, numbers(len(of.Deviation)), of.X, times, nil, of.Site)
			tables.Breslow = breslow
			f := fitted(tables)
			tables = inMemory(Hazard, 0, tables.Columns, of.X, times, weights, of.Site)
			tables.Breslow = breslow
			weighted := fitted(tables)
			for j, d := range of.Deviation {
				e, w := f.Effect(j, 0), weighted.Effect(j, 0)
				for what, v := range map[string][2]float64{
					"estimate": {e.Value * d, want.Coefficients[j]},
					"error":    {e.Error * d, max(want.SE[j], want.Robust[j]*raised(f))},
					"weighted": {w.Value * d, want.Weighted.Coefficients[j]},
					"its":      {w.Error * d, want.Weighted.Robust[j] * raised(weighted)},
				} {
					if !(math.Abs(v[0]-v[1]) <= 1e-6) {
						t.Errorf("%s, Breslow %t, %s of column %d: %.9f, want %.9f", name, breslow, what, j, v[0], v[1])
					}
				}
			}
			if f.Freedom != int(f.events)-len(of.Deviation) || weighted.events >= f.events {
				t.Errorf("%s: %d degrees of freedom of %g events, weighted %g", name, f.Freedom, f.events,
					weighted.events)
			}
		}
	}
}

// hazards returns n rows of p columns at some sites whose times have hazards that grow with the
// first column, some of which end with an event.
func hazards(n, p, sites, events int) Tables {
	r := rand.New(rand.NewPCG(9, uint64(n)))
	y := make([]float64, n)
	t := simple(Hazard, 0, p, sites, y)
	x := make([]float64, p)
	for k, other := range r.Perm(n) {
		s, row := t.Sites[k%sites], k/sites
		s.Read(row, row+1, x)
		if s.Target[row] = r.ExpFloat64() * math.Exp(-x[0]); other >= events {
			s.Target[row] *= -1
		}
	}
	return t
}

// TestCountedHazards: a row that counts k is k rows, by Breslow's rule, in the fit, its errors, its
// degrees of freedom, and the test by permutation, whose sums are as many.
func TestCountedHazards(t *testing.T) {
	some, all := hazards(90, 3, 3, 60), hazards(90, 3, 3, 60)
	some.Breslow, all.Breslow = true, true
	for i := range some.Sites {
		s, a := &some.Sites[i], &all.Sites[i]
		var of []int
		for row := range s.Rows {
			s.Count = append(s.Count, float64(row%3))
			of = append(of, slices.Repeat([]int{row}, row%3)...)
		}
		read, target := a.Read, a.Target
		a.Rows, a.Target = len(of), nil
		for _, row := range of {
			a.Target = append(a.Target, target[row])
		}
		a.Read = func(from, to int, x []float64) {
			for k, row := range of[from:to] {
				read(row, row+1, x[3*k:])
			}
		}
	}
	one, other := testkit.Get(NewEffects(some)), testkit.Get(NewEffects(all))
	a, b := testkit.Get(one.Fit()), testkit.Get(other.Fit())
	for j := range 3 {
		x, y := a.Effect(j, 0), b.Effect(j, 0)
		if a.Freedom != b.Freedom || math.Abs(x.Value-y.Value)+math.Abs(x.Error-y.Error) > 1e-9 {
			t.Errorf("column %d by counts %+v, by rows %+v", j, x, y)
		}
	}
	if p, q := testkit.Get(one.Chance(3)), testkit.Get(other.Chance(3)); p != .01 || q != .01 {
		t.Errorf("by chance %g and %g, want .01", p, q)
	}
}

// TestHazardRefusals: 3 events for each column that is no mixture, and 5 more than columns; what
// has no end is named, and others have their estimates, which are as if it were infinite.
func TestHazardRefusals(t *testing.T) {
	for _, c := range []struct {
		columns, events int
		says            string
	}{{4, 12, ""}, {4, 11, "too few events (11) to say how sure the coefficients are (80 rows, 4 columns"},
		{1, 6, ""}, {1, 5, "too few events (5)"}} {
		got := fitted(hazards(80, c.columns, 3, c.events)).Refused
		if !strings.HasPrefix(got, c.says) || c.says == "" && got != "" {
			t.Errorf("%d events of %d columns: %q", c.events, c.columns, got)
		}
	}
	tables := hazards(90, 4, 3, 60)
	for i, s := range tables.Sites {
		x := make([]float64, 4*s.Rows)
		s.Read(0, s.Rows, x)
		for row, v := range s.Target {
			x[4*row+1] = 0 // the second column is 1 for some rows without an event
			if v < 0 && row%2 == 0 {
				x[4*row+1] = 1
			}
			x[4*row+2] = float64(i) // a site has one value
		}
		tables.Sites[i].Read = func(from, to int, dst []float64) { copy(dst, x[4*from:4*to]) }
	}
	f := fitted(tables)
	if !slices.Equal(f.Why, []string{"", noEstimate, "cannot be told apart from the sites", ""}) || f.Refused != "" ||
		!slices.Equal(f.Told(), []int{0, 3}) {
		t.Errorf("%q, refused %q", f.Why, f.Refused)
	}
	for i, s := range tables.Sites { // as if it were infinite: its rows are no more at risk
		for row := range s.Rows {
			tables.Sites[i].Count = append(tables.Sites[i].Count, 1)
			x := make([]float64, 4)
			if s.Read(row, row+1, x); x[1] == 1 {
				tables.Sites[i].Count[row] = 0
			}
		}
	}
	without := fitted(tables)
	for _, j := range []int{0, 3} {
		a, b := f.Effect(j, 0), without.Effect(j, 0)
		if math.Abs(a.Value-b.Value)+math.Abs(a.Error-b.Error) > 1e-4*b.Error {
			t.Errorf("column %d: %+v, without the rows %+v", j, a, b)
		}
	}
}

// TestCensoredByColumn: that no column counts is found in 95 % of tables, also where the columns
// decide who is lost sight of.
func TestCensoredByColumn(t *testing.T) {
	tables := max(*simulated, 40)
	for _, c := range []struct {
		share         float64 // of rows of which a column is 1
		far           float64 // by which their logarithms of times without events are above others'
		columns, rows int
	}{{.5, 0, 2, 150}, {.5, -2, 2, 150}, {.1, -3, 2, 150}, {.1, 3, 2, 150}, {.9, -2, 2, 150}, {.5, 0, 20, 160},
		{.5, 0, 40, 300}, {.1, -2, 12, 120}} {
		below := 0.0
		for set := range tables {
			r := rand.New(rand.NewPCG(*firstSeed+uint64(set), 77))
			y, x, site := make([]float64, c.rows), make([][]float64, c.rows), make([]int, c.rows)
			for row := range y {
				x[row], site[row] = make([]float64, c.columns), row%3
				for j := range x[row][1:] {
					x[row][1+j] = r.NormFloat64()
				}
				if r.Float64() < c.share {
					x[row][0] = 1
				}
				y[row] = r.ExpFloat64()
				if end := r.ExpFloat64() * math.Exp(c.far*x[row][0]); end < y[row] {
					y[row] = -end
				}
			}
			e := testkit.Get(NewEffects(inMemory(Hazard, 0, numbers(c.columns), x, y, nil, site)))
			if p := testkit.Get(e.Chance(uint64(set))); 0 < p && p <= .05 {
				below++
			}
		}
		if *simulated > 0 {
			fmt.Printf("censored by column %+v: %.3f of %d\n", c, below/float64(tables), tables)
		}
		if n := float64(tables); below > .05*n+4*math.Sqrt(.05*.95*n) {
			t.Errorf("%+v: %g of %d", c, below, tables)
		}
	}
}

// TestFillWithoutMixture: blanks are filled by the columns that are left, once a mixture is out.
func TestFillWithoutMixture(t *testing.T) {
	columns := []Column{{Name: "a", Group: 0}, {Name: "a missing", Group: 0, Blank: true}, {Name: "b", Group: 1},
		{Name: "2b", Group: 2}, {Name: "c", Group: 3}}
	r := rand.New(rand.NewPCG(8, 9))
	var x, with [][]float64
	var y []float64
	for row := range 200 {
		b := r.NormFloat64()
		a := b + r.NormFloat64()/4
		one := []float64{a, 0, b, 2 * b, r.NormFloat64() + a}
		if row%4 == 0 {
			one[0], one[1] = 0, 1
		}
		x, with, y = append(x, one), append(with, slices.Delete(slices.Clone(one), 3, 4)), append(y, a+r.NormFloat64())
	}
	f := fitted(inMemory(Number, 0, columns, x, y, nil, make([]int, 200)))
	g := fitted(inMemory(Number, 0, slices.Delete(slices.Clone(columns), 3, 4), with, y, nil, make([]int, 200)))
	if a, b := f.Effect(0, 0), g.Effect(0, 0); math.Abs(a.Value-b.Value)+math.Abs(a.Error-b.Error) > 1e-9 {
		t.Errorf("with a mixture %+v, without %+v", a, b)
	}
}

// TestHazardPoint: the slopes and second derivatives are the loss's, minus the logarithm of the
// partial likelihood, which at 0 is of the numbers at risk; a point is near where no row's score
// moves by more than 3.
func TestHazardPoint(t *testing.T) {
	e := testkit.Get(NewEffects(hazards(40, 2, 2, 25)))
	at := func(move float64, weights ...float64) (hazardPoint, bool) {
		p, near, err := e.hazardsAt(weights, []float64{move, 0})
		testkit.OK(err)
		return p, near
	}
	loss := 0.
	for _, s := range e.Sites {
		for _, t := range s.Target {
			risk := 0.
			for _, other := range s.Target {
				if math.Abs(other) >= t {
					risk++
				}
			}
			if t > 0 {
				loss += math.Log(risk)
			}
		}
	}
	if p, _ := at(0, 0, 0); !(math.Abs(p.loss-loss) <= 1e-9) {
		t.Errorf("at 0 the loss is %g, want %g", p.loss, loss)
	}
	const step = 1e-4
	here, _ := at(0, .3, -.2)
	for j := range 2 {
		ends := [2]hazardPoint{}
		for side := range ends {
			w := []float64{.3, -.2}
			w[j] += step * float64(2*side-1)
			ends[side], _ = at(0, w...)
		}
		slope, bend := (ends[0].loss-ends[1].loss)/(2*step), (ends[0].slope[j]-ends[1].slope[j])/(2*step)
		if !(math.Abs(here.slope[j]-slope) <= 1e-5) || !(math.Abs(here.bends[3*j]-bend) <= 1e-5) {
			t.Errorf("column %d: slope %g and curvature %g, want %g and %g", j, here.slope[j], here.bends[3*j], slope,
				bend)
		}
	}
	largest := 0.
	for _, s := range e.sites {
		e.each(s, func(_, n int, x []float64) {
			for r := range n {
				largest = max(largest, math.Abs(x[2*r]))
			}
		})
	}
	for far, want := range map[float64]bool{2.99: true, -2.99: true, 3.01: false, -3.01: false} {
		if _, near := at(far/largest, 0, 0); near != want {
			t.Errorf("where a score moves by %g the point is near: %t", far, near)
		}
	}
	for _, c := range []struct {
		from, to float64
		curved   bool
		want     bool
	}{{8, 7, true, true}, {8, 8 * (1 + 9e-13), true, true}, {8, 8 * (1 + 1.1e-12), true, false}, {8, 7, false, false},
		{-8, -8 * (1 - 9e-13), true, true}, {-8, -8 * (1 - 1.1e-12), true, false}} {
		to := hazardPoint{loss: c.to}
		if c.curved {
			to.inverse = []float64{1}
		}
		if got := (hazardPoint{loss: c.from}).risesTo(to); got != c.want {
			t.Errorf("%+v: taken %t", c, got)
		}
	}
}
