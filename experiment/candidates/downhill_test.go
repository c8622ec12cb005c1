package candidates

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// TestDownhill: within the solutions that a descent may take, the search comes near the least Φ of
// bowls whose curvatures are far apart, of valleys that are bent, and of slopes that lead out of
// the box.
func TestDownhill(t *testing.T) {
	bowl := func(curvature ...float64) func(x, g []float64) float64 {
		return func(x, g []float64) float64 {
			phi := 0.0
			for r, c := range curvature {
				d := x[r] - float64(r+1)
				g[r] = c * d
				phi += c * d * d / 2
			}
			return phi
		}
	}
	for name, c := range map[string]struct {
		p     int
		phi   func(x, g []float64) float64
		least float64
	}{
		"one entry": {1, bowl(0.3), 0},
		"steep":     {1, bowl(400), 0},
		"far apart": {3, bowl(0.1, 1, 10), 0},
		"out of the box": {2, func(x, g []float64) float64 { g[0], g[1] = 1, -2; return x[0] - 2*x[1] + 50 },
			50 - 3*farthestConstant},
		"bent": {2, func(x, g []float64) float64 { // y = x²/4 at its bottom
			bend := x[1] - x[0]*x[0]/4
			g[0], g[1] = -bend*x[0]+0.2*(x[0]-3), 2*bend
			return bend*bend + 0.1*(x[0]-3)*(x[0]-3)
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			at := func(x []float64) *Model {
				m := NewModel("", runs.Unknown(), x)
				m.gradient, m.Converged = make([]float64, c.p), true
				m.Phi = runs.Number(c.phi(x, m.gradient))
				return m
			}
			first := at(make([]float64, c.p))
			search := newDownhill(first)
			for range Descents {
				before := search.best
				search.accept(at(search.trial()))
				if before.Below(search.best) {
					t.Fatalf("Φ rose from %g to %g", before.Phi, search.best.Phi)
				}
			}
			if got, all := float64(search.best.Phi)-c.least, float64(first.Phi)-c.least; !(got <= 0.02*all) {
				t.Errorf("Φ is %g above the least one at %v, of %g at the start", got, fmt.Sprint(search.best.X), all)
			}
		})
	}
}

// TestDownhillFarOff: from a constant beyond all others no entry goes farther, and what leads on
// there is no way down.
func TestDownhillFarOff(t *testing.T) {
	const far = farthestConstant + 2
	first := NewModel("", runs.Unknown(), []float64{-far, -far})
	first.gradient, first.Phi, first.Converged = []float64{1, -1}, 1, true
	if x := newDownhill(first).trial(); x[0] != -far || !(x[1] > -far) {
		t.Errorf("it goes on at %v", x)
	}
	first.gradient = []float64{-.01, -.01}
	if s := newDownhill(first); !(s.trial()[0] > -far) || !(s.slope < 0) {
		t.Errorf("a small slope back from there leads to %v", s.trial())
	}
	first.gradient = []float64{1, 1}
	if s := newDownhill(first); s.slope != 0 || s.promise() != 0 {
		t.Errorf("it promises %g", s.promise())
	}
}

// TestDownhillKeepsTheStart: where nothing is lower, or Φ is not known, the search stays where it
// began and promises less and less.
func TestDownhillKeepsTheStart(t *testing.T) {
	first := NewModel("", runs.Unknown(), []float64{0, 0})
	first.gradient, first.Phi, first.Converged = []float64{1, 1}, 1, true
	search := newDownhill(first)
	for range Descents {
		worse := NewModel("", runs.Unknown(), search.trial())
		worse.Phi = runs.Unknown()
		before := search.promise()
		if search.accept(worse); !(search.promise() < before) {
			t.Fatalf("it promised %g, and then %g", before, search.promise())
		}
	}
	if search.best != first || !(search.promise() < 1e-9) || math.IsNaN(search.share) {
		t.Errorf("it ends at %v and promises %g", search.best.X, search.promise())
	}
}

// TestDownhillSteps: the first step changes an entry by 1 at most, later ones by twice as much
// each, and none by more than 4; half of the fall that the slope tells is promised.
func TestDownhillSteps(t *testing.T) {
	for _, c := range []float64{0, .03} { // the curvature of a line down, or of a wide bowl
		at := func(x float64) *Model {
			m := NewModel("", runs.Unknown(), []float64{x})
			m.gradient, m.Phi, m.Converged = []float64{c*x - 3}, runs.Number(c*x*x/2-3*x), true
			return m
		}
		search := newDownhill(at(0))
		for _, want := range []float64{1, 2, 4, 4} {
			before := search.best.X[0]
			next := search.trial()
			if got := next[0] - before; !(math.Abs(got-want) <= 1e-12) {
				t.Errorf("from %g an entry changes by %g, want %g", before, got, want)
			}
			if got, fall := search.promise(), (3-c*before)*want/2; !(math.Abs(got-fall) <= 1e-12) {
				t.Errorf("from %g Φ is to fall by %g, want %g", before, got, fall)
			}
			search.accept(at(next[0]))
		}
	}
}

// TestDownhillNearer: after a trial that is no lower the next one is where a parabola through both
// values and the slope is least, but from a tenth to half of the way.
func TestDownhillNearer(t *testing.T) {
	for _, c := range []struct{ phi, want float64 }{
		{0, 0.5},    // the parabola −s + s²
		{1, 0.25},   // −s + 2 s²
		{3, 0.125},  // −s + 4 s²
		{5.25, 0.1}, // −s + 6.25 s² is least at 0.08
		{9, 0.1},    // −s + 10 s² is least at 0.05
		{-0.2, 0.5}, // −s + 0.8 s² is least at 0.625; lower, but without a gradient
		{math.NaN(), 0.1},
	} {
		first := NewModel("", runs.Unknown(), []float64{0})
		first.gradient, first.Phi, first.Converged = []float64{-1}, 8, true
		search := newDownhill(first)
		next := NewModel("", runs.Unknown(), search.trial())
		next.Phi, next.Converged = runs.Number(8+c.phi), true
		search.accept(next)
		if got := search.trial()[0]; !(math.Abs(got-c.want) <= 1e-6) || search.best != first {
			t.Errorf("after Φ = %g at the end of a step of 1, %g of it is tried, want %g", c.phi, got, c.want)
		}
	}
}

// TestDescentGoesOn: a further solution is worth it up to the most, where as many products as the
// last one took are left, and where Φ is to fall by a hundred thousandth.
func TestDescentGoesOn(t *testing.T) {
	first := NewModel("", runs.Unknown(), []float64{0})
	first.Converged = true
	for _, c := range []struct {
		solved, likely, effort int
		fall, phi              float64 // promised, and Φ
		want                   bool
	}{
		{1, 0, 0, 1, 1, true}, {12, 50, 50, 1, 1, true}, {13, 0, 50, 1, 1, false}, {2, 51, 50, 1, 1, false},
		{2, 1, 9, 1.1e-5, 1, true}, {2, 1, 9, 0.9e-5, 1, false}, {2, 1, 9, 1.1e-3, -100, true},
		{2, 1, 9, 0.9e-3, -100, false},
	} {
		first.gradient, first.Phi = []float64{2 * c.fall}, runs.Number(c.phi)
		if got := goesOn(newDownhill(first), c.solved, c.likely, c.effort); got != c.want {
			t.Errorf("%+v: goes on %t", c, got)
		}
	}
}

// TestOfPart: the weighted mean of the examples of a part is the mean over all with the part's
// weights, and examples of which none is in the part have one that weighs nothing.
func TestOfPart(t *testing.T) {
	x := []float64{1, 2, 3, 4, 5}
	weights := []float64{0, 2, 0, 1, 0, 0, 1.5, 0, 0, 4} // of parts 0 and 1, by rows
	e := data.Examples{X: testkit.Get(ad.FloatTable(5, 1, x)), Weight: testkit.Get(ad.FloatTable(5, 2, weights))}
	for k, count := range []int{1, 3} {
		want := 0.0
		for row, v := range x {
			want += v * weights[2*row+k] / float64(len(x))
		}
		part := testkit.Get(ofPart(e, k))
		got := 0.0
		for row := range part.Len() {
			got += part.X.At(row, 0) * part.Weight.At(row, 0) / float64(part.Len())
		}
		if part.Len() != count || !(math.Abs(got-want) <= 1e-6) { // weights are in float32
			t.Errorf("part %d: %d examples of mean %g, want %d of %g", k, part.Len(), got, count, want)
		}
	}
	e.Weight = testkit.Get(ad.FloatTable(5, 1, make([]float64, 5)))
	if part := testkit.Get(ofPart(e, 0)); part.Len() != 1 || part.Weight.At(0, 0) != 0 {
		t.Errorf("of a part without examples there are %d, of weight %g", part.Len(), part.Weight.At(0, 0))
	}
}

// TestDownhillRules: a trial stays in the box, one that is not lower is not accepted with a
// gradient either, the parabola follows from the share of the way that was tried, and once it is
// known how Φ bends, a step has its own length.
func TestDownhillRules(t *testing.T) {
	at := func(phi float64, x, gradient []float64) *Model {
		m := NewModel("", runs.Unknown(), x)
		m.gradient, m.Phi, m.Converged = gradient, runs.Number(phi), true
		return m
	}
	first := at(8, []float64{13.5, -13.5}, []float64{-1, 1})
	search := newDownhill(first)
	if x := search.trial(); x[0] != 14 || x[1] != -14 {
		t.Errorf("it leaves the box to %v", x)
	}
	if search.accept(at(8.5, search.trial(), []float64{9, 9})); search.best != first {
		t.Error("it goes on from what is not lower")
	}
	first = at(8, []float64{0}, []float64{-1})
	search = newDownhill(first)
	search.share = .5
	search.accept(at(8+.25, search.trial(), nil)) // −s + 3 s², least at a sixth, a third of .5
	if got := search.trial()[0]; !(math.Abs(got-1./6) <= 1e-12) {
		t.Errorf("a parabola leads to %g", got)
	}
	first = at(1.25, []float64{0, 0}, []float64{-.5, -2})
	search = newDownhill(first)
	search.accept(at(.5, []float64{.25, 1}, []float64{-.25, -1}))
	if x := search.trial(); !(math.Abs(x[0]-.5) <= 1e-9) || !(math.Abs(x[1]-2) <= 1e-9) {
		t.Errorf("where Φ is known to bend by 1 it goes on to %v", x)
	}
	first = at(8, []float64{0, 0}, []float64{-4, -1}) // the first entry is the largest
	if x := newDownhill(first).trial(); !(math.Abs(x[0]-1) <= 1e-12) || !(math.Abs(x[1]-.25) <= 1e-12) {
		t.Errorf("the first step is %v", x)
	}
	for _, c := range []struct {
		solved int
		share  float64
		want   bool
	}{{25, .265, true}, {26, .265, false}, {1, .266, false}} { // half of the slope of 4 + 1/4 is promised, of 8
		if got := newDownhill(first).worth(c.solved, 25, c.share); got != c.want {
			t.Errorf("%+v: it is worth it %t", c, got)
		}
	}
}

// TestDescentStays: where the search finds nothing, the tuned model stays, and a note says so but
// where Φ falls beyond the farthest constant. Where the tuned one is below, nothing is said.
func TestDescentStays(t *testing.T) {
	find := &Finder{Symbol: "λ", watch: unwatched{}, constants: map[int]*Model{1: {}, 3: {}}, Spent: -1000}
	find.constants[1].Steps, find.constants[3].Steps = 20, 300
	tuned, rival := solved(0, 2, 0, 0, 0), solved(14, 1, 0, .5, 0)
	tuned.Lambda, tuned.Steps, rival.Name = runs.Unknown(), 4, "the constant"
	if got := find.products(tuned); got != 324 {
		t.Errorf("the models have taken %d products", got)
	}
	rival.Finder, rival.X, rival.gradient = find, []float64{14}, []float64{.5}
	for name, c := range map[string]struct {
		change func()
		note   string
	}{
		"no effort left": {func() {}, "is 2, not below that of the constant, 1, and was not found to fall from there."},
		"the tuned one is not solved": {func() { tuned.Converged = false }, "is not known, as its model has not " +
			"converged; at the constant it is 1, and was not found to fall from there."},
		"falls beyond the box":   {func() { rival.slope = -.5 }, ""},
		"no gradient":            {func() { rival.gradient, rival.slope = nil, .5 }, ""},
		"the tuned one is below": {func() { tuned.Phi = .5 }, ""},
	} {
		before, was := *rival, *tuned
		c.change()
		got, notes, err := find.Descent(t.Context(), tuned, rival)
		if got != tuned || got.FoundBy != "" || !strings.HasSuffix(strings.Join(notes, " "), c.note) ||
			len(notes) != min(1, len(c.note)) || err != nil {
			t.Errorf("%s: notes %q, error %v", name, notes, err)
		}
		*rival, *tuned = before, was
	}
}
