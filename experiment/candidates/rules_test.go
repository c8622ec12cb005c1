package candidates

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/models"
	"dsbo/network"
	"dsbo/runs"
	"dsbo/train"
	"dsbo/train/exact"
)

// solved returns a model with a Φ and its error, solved to a tolerance.
func solved(lambda, phi, phiError, slope, tol float64) *Model {
	m := NewModel("", runs.Number(lambda), nil)
	m.Phi, m.Converged, m.phiError, m.slope, m.tol = runs.Number(phi), true, phiError, slope, tol
	return m
}

// TestObjective: models are compared by Φ where it is exact or reached, else, where there is none,
// by the validation loss; a Φ that is not exact tells nothing.
func TestObjective(t *testing.T) {
	model := func(phi, loss runs.Number, converged, reached bool) *Model {
		m := NewModel("", runs.Unknown(), nil)
		m.Phi, m.ValLoss, m.Converged, m.Reached = phi, loss, converged, reached
		return m
	}
	for name, c := range map[string]struct {
		m    *Model
		want float64
	}{
		"exact":          {model(3, 1, true, false), 3},
		"exact, below 0": {model(-3, 1, true, false), -3},
		"reached":        {model(3, 1, false, true), 3},
		"neither":        {model(3, 1, false, false), math.Inf(1)},
		"no Φ":           {model(runs.Unknown(), 1, false, false), 1},
		"nothing":        {model(runs.Unknown(), runs.Unknown(), true, true), math.Inf(1)},
	} {
		if got := c.m.objective(); got != c.want {
			t.Errorf("%s: %g, want %g", name, got, c.want)
		}
	}
}

// TestLosesTo: a tuned model loses by a higher Φ, or by a loss on held-out examples that is higher
// by more than one standard error; other examples have no say.
func TestLosesTo(t *testing.T) {
	gain := func(set string, change, deviation runs.Number) []runs.Gain {
		return []runs.Gain{{Set: runs.Test, LossChange: -1, LossError: .01},
			{Set: set, LossChange: change, LossError: deviation}}
	}
	lower, higher := solved(0, .9, 0, 0, 0), solved(0, 1.1, 0, 0, 0)
	below, unsolved, foreign := solved(0, -1, 0, 0, 0), NewModel("", runs.Unknown(), nil), solved(0, .5, 0, 0, 0)
	foreign.Finder = new(Finder)
	for name, c := range map[string]struct {
		tuned, rival *Model
		gains        []runs.Gain
		want         bool
	}{
		"lower Φ":                       {lower, higher, nil, false},
		"the same Φ":                    {lower, lower, nil, false},
		"higher Φ":                      {higher, lower, nil, true},
		"higher Φ, both below 0":        {below, solved(0, -1.01, 0, 0, 0), nil, true},
		"lower Φ, below 0":              {below, lower, nil, false},
		"higher Φ, lower held-out":      {higher, lower, gain(runs.HeldOut, -.1, .01), true},
		"held-out, 0.9 errors higher":   {lower, higher, gain(runs.HeldOut, .018, .02), false},
		"held-out, an error higher":     {lower, higher, gain(runs.HeldOut, .02, .02), false},
		"held-out, 1.1 errors higher":   {lower, higher, gain(runs.HeldOut, .022, .02), true},
		"held-out, not known how sure":  {lower, higher, gain(runs.HeldOut, .1, runs.Unknown()), false},
		"validation, higher":            {lower, higher, gain(runs.Validation, .1, .02), false},
		"test, higher":                  {lower, higher, gain(runs.Test, .1, .02), false},
		"not solved":                    {unsolved, higher, nil, true},
		"rival not solved":              {lower, unsolved, nil, false},
		"higher Φ than another model's": {lower, foreign, gain(runs.HeldOut, .1, .02), false},
	} {
		if got := c.tuned.LosesTo(c.rival, c.gains); got != c.want {
			t.Errorf("%s: it loses: %t, want %t", name, got, c.want)
		}
	}
}

// TestContender: a constant that is solved roughly may be the best one as long as its Φ less its
// error is at most the best Φ and that one's error; also where Φ is below 0.
func TestContender(t *testing.T) {
	for name, c := range map[string]struct {
		best, bestError, phi, phiError float64
		want                           bool
	}{
		"by both errors":           {1, .02, 1.05, .031, true},
		"beyond both errors":       {1, .02, 1.05, .029, false},
		"by its own error":         {1, 0, 1.05, .051, true},
		"beyond its own error":     {1, 0, 1.05, .049, false},
		"by the error of the best": {1, .051, 1.05, 0, true},
		"beyond that":              {1, .049, 1.05, 0, false},
		"below 0":                  {-1, .02, -.95, .031, true},
		"below 0, beyond":          {-1, .02, -.95, .029, false},
		"just by both errors":      {1, .25, 2, .75, true},
	} {
		f := &Finder{fineTol: 1e-4}
		best, rough := solved(0, c.best, c.bestError, 0, f.fineTol), solved(1, c.phi, c.phiError, 0, 2e-2)
		f.constants = map[int]*Model{0: best, 1: rough, 2: solved(2, c.best, 1, 0, f.fineTol)}
		if got := f.contender(best); (got == rough) != c.want || !c.want && got != nil {
			t.Errorf("%s: the contender is %+v", name, got)
		}
		best.tol, f.constants[-1] = 2e-2, rough
		if f.contender(best) != best {
			t.Errorf("%s: a best one that is solved roughly must come first", name)
		}
	}
}

// TestFiner: the best constant is solved to the tolerance of what is shown at once, another one to
// a quarter of its own, and none to less than what is shown.
func TestFiner(t *testing.T) {
	f, best := &Finder{fineTol: 1e-3}, solved(0, 1, 0, 0, 2e-2)
	for tol, want := range map[float64]float64{2e-2: 5e-3, 4e-3: 1e-3, 2e-3: 1e-3} {
		if got := f.finer(solved(1, 1, 0, 0, tol), best); !(math.Abs(got-want) <= 1e-18) {
			t.Errorf("a contender of tolerance %g is solved to %g, want %g", tol, got, want)
		}
	}
	if got := f.finer(best, best); got != 1e-3 {
		t.Errorf("the best constant is solved to %g", got)
	}
}

// TestAddTried: of each constant the last Φ is kept, once, and none that is not known.
func TestAddTried(t *testing.T) {
	f := new(Finder)
	for _, m := range []*Model{solved(0, 3, 0, 0, 0), solved(1, 2, 0, 0, 0), solved(-1, 5, 0, 0, 0),
		solved(1, 1.5, 0, 0, 0), NewModel("", 7, nil)} {
		f.addTried(m)
	}
	if want := []runs.Constant{{Lambda: 0, Phi: 3}, {Lambda: 1, Phi: 1.5}, {Lambda: -1, Phi: 5}}; !slices.Equal(f.Tried,
		want) {
		t.Errorf("constants %v, want %v", f.Tried, want)
	}
}

// TestNearest: a constant begins at the model of the one next to it, of two at the smaller one's;
// the first one has none.
func TestNearest(t *testing.T) {
	f := &Finder{constants: map[int]*Model{}}
	if m := f.nearest(3); m.Y != nil || m.z != nil {
		t.Errorf("the first constant begins at %v", m.Y)
	}
	for _, c := range []int{-2, 0, 4} {
		f.constants[c] = solved(float64(c), 1, 0, 0, 0)
		f.constants[c].X = []float64{float64(c)}
	}
	for c, want := range map[int]float64{-9: -2, -2: -2, -1: -2, 1: 0, 2: 0, 3: 4, 14: 4} {
		if got := f.nearest(c); float64(got.Lambda) != want {
			t.Errorf("constant %d begins at the model of %g, want %g", c, got.Lambda, want)
		}
		if known := f.constants[c]; known != nil { // it is not solved again, for which there is no solver
			if got, err := f.constant(t.Context(), c, 0); err != nil || got != known {
				t.Errorf("constant %d is %+v, %v", c, got, err)
			}
		}
	}
}

// TestBestSolved: the best constant has the least Φ, of equal ones it is the nearest to 0.
func TestBestSolved(t *testing.T) {
	for name, c := range map[string]struct {
		phi  map[int]float64
		want float64
	}{
		"the least":          {map[int]float64{-1: 3, 0: 2, 1: 1, 2: 1.5}, 1},
		"the least, below 0": {map[int]float64{-1: -3, 0: -2, 1: 1}, -1},
		"as near to 0":       {map[int]float64{-2: 1, 2: 1, 3: 1}, -2},
		"of equal ones":      {map[int]float64{-3: 1, -2: 1, 4: 1, 1: 2}, -2},
	} {
		f := &Finder{constants: map[int]*Model{}}
		for at, phi := range c.phi {
			f.constants[at] = solved(float64(at), phi, 0, 0, 0)
		}
		if got := f.bestSolved(); float64(got.Lambda) != c.want {
			t.Errorf("%s: %g, want %g", name, got.Lambda, c.want)
		}
	}
}

// TestNextConstant: the next constant lies where Φ falls by more than 1e-4 of its size, within the
// farthest, and on either side where the slope is not known; where Φ is flat only if another one
// could not be solved; where none could be, twice as far up.
func TestNextConstant(t *testing.T) {
	for name, c := range map[string]struct {
		at, phi, slope  float64
		known, unsolved []int
		want            int
		ok              bool
	}{
		"falls upwards":                   {3, 1, -.5, nil, nil, 4, true},
		"falls downwards":                 {3, 1, .5, nil, nil, 2, true},
		"falls where all is known":        {3, 1, -.5, []int{4}, nil, 0, false},
		"falls enough":                    {3, 10, -1.01e-3, nil, nil, 4, true},
		"falls by next to nothing":        {3, 10, -.99e-3, nil, nil, 0, false},
		"below 0, falls enough":           {3, -10, -1.01e-3, nil, nil, 4, true},
		"below 0, next to nothing":        {3, -10, -.99e-3, nil, nil, 0, false},
		"slope not known":                 {3, 1, 0, nil, nil, 4, true},
		"slope not known, one is":         {3, 1, 0, []int{4}, nil, 2, true},
		"near the farthest":               {13, 1, -.5, nil, nil, 14, true},
		"the farthest":                    {14, 1, -.5, nil, nil, 0, false},
		"the farthest, falls back":        {14, 1, .5, nil, nil, 13, true},
		"the farthest on the other":       {-14, 1, .5, nil, nil, 0, false},
		"beyond the farthest, falls back": {19, 1, .5, nil, nil, 18, true},
		"flat, 0 not solved":              {19, 10, .99e-3, nil, []int{0}, 18, true},
		"flat, one not solved of many":    {19, 10, .99e-3, []int{9, 10, 11, 12, 13}, []int{0}, 18, true},
		"flat, next to one not solved":    {1, 10, .99e-3, nil, []int{0}, 0, false},
		"not flat, 0 not solved":          {1, 10, .5, nil, []int{0}, 0, false},
		"none solved":                     {0, math.NaN(), 0, nil, nil, 1, true},
		"none solved, up to 3":            {3, math.NaN(), -.5, nil, []int{0}, 6, true},
		"none solved, up to 7":            {7, math.NaN(), -.5, nil, []int{4}, 14, true},
		"none solved, up to 8":            {8, math.NaN(), -.5, nil, []int{4}, 0, false},
	} {
		f, m := &Finder{constants: map[int]*Model{}}, solved(c.at, c.phi, 0, c.slope, 0)
		f.constants[int(c.at)] = m
		for _, at := range c.known {
			f.constants[at] = solved(float64(at), 2, 0, 0, 0)
		}
		for _, at := range c.unsolved {
			f.constants[at] = NewModel("", runs.Number(at), nil)
		}
		if got, ok := f.nextConstant(m); ok != c.ok || ok && got != c.want {
			t.Errorf("%s: %d, %t, want %d, %t", name, got, ok, c.want, c.ok)
		}
	}
}

// TestBeyondNotes: a note appears if Φ falls beyond the farthest constant.
func TestBeyondNotes(t *testing.T) {
	for _, c := range []struct {
		at, slope float64
		want      bool
	}{{14, -.1, true}, {14, .1, false}, {13, -.1, false}, {-14, .1, true}, {-14, -.1, false}, {14, 0, false},
		{math.NaN(), -.1, false}} {
		m := solved(c.at, 1, 0, c.slope, 0)
		m.Finder = &Finder{Symbol: "λ"}
		if notes := strings.Join(m.BeyondNotes(), ""); strings.Contains(notes, "λ = ") != c.want {
			t.Errorf("at %g with slope %g: %q", c.at, c.slope, notes)
		}
	}
}

// TestStrengthRules: strengths are compared by their loss and one standard error.
func TestStrengthRules(t *testing.T) {
	of := func(loss, error float64) trial { return trial{loss: loss, error: error} }
	for name, c := range map[string]struct {
		tried map[float64]trial
		want  float64
	}{
		"a lower loss, less certain by more":  {map[float64]trial{0: of(1, .1), 1: of(1.05, .049)}, 1},
		"a lower loss, less certain by less":  {map[float64]trial{0: of(1, .1), 1: of(1.05, .051)}, 0},
		"two alike, the smaller penalties":    {map[float64]trial{0: of(1, .1), 1: of(1, .1)}, 0},
		"a lower loss, less certain, below 0": {map[float64]trial{0: of(-1, .1), 1: of(-.95, .049)}, 1},
	} {
		if got := (&strengthSearch{tried: c.tried}).best(); got != c.want {
			t.Errorf("%s: %g, want %g", name, got, c.want)
		}
	}
}

// TestPointsFrom: constants are tried from another one than 0 on unless Φ rises from 0 to there.
func TestPointsFrom(t *testing.T) {
	for _, c := range []struct {
		near  int
		slope float64
		want  bool
	}{{3, -1, false}, {3, 1, true}, {-3, 1, false}, {-3, -1, true}, {3, 0, false}, {3, math.NaN(), true},
		{1, .5, true}} {
		if got := solved(0, 1, 0, c.slope, 0).pointsFrom(c.near); got != c.want {
			t.Errorf("%+v: points away %t", c, got)
		}
	}
	unsolved := NewModel("", 0, nil)
	if unsolved.slope = 1; unsolved.pointsFrom(3) {
		t.Error("a model that tells nothing points away")
	}
}

// TestLowerOf: of two solutions the model is the finite one of the lower loss, the first of equal
// ones; an error that is no divergence ends the search.
func TestLowerOf(t *testing.T) {
	of := func(loss, y float64) exact.Solution { return exact.Solution{LowerLoss: loss, Y: []float64{y}} }
	one, two, none, other := of(1, 1), of(2, 2), of(0, math.NaN()), errors.New("other")
	diverged := &dsbo.DivergedError{}
	for name, c := range map[string]struct {
		first, second  exact.Solution
		err, secondErr error
		want, other    float64 // loss; 0: none
		wantErr        error
	}{
		"first":                         {one, two, nil, nil, 1, 2, nil},
		"second":                        {two, one, nil, nil, 1, 2, nil},
		"second not finite":             {one, none, nil, nil, 1, 0, nil},
		"second diverged":               {one, none, nil, diverged, 1, 0, nil},
		"first not finite":              {none, two, nil, nil, 2, 0, nil},
		"first diverged":                {one, two, diverged, nil, 2, 0, nil},
		"both diverged":                 {one, two, diverged, diverged, 1, 0, diverged},
		"first diverged, second is NaN": {one, none, diverged, nil, 1, 0, diverged},
		"second failed":                 {one, two, nil, other, 2, 0, other},
		"second failed, not finite":     {one, none, nil, other, 0, 0, other},
	} {
		sol, second, err := lowerOf(c.first, c.second, c.err, c.secondErr)
		if sol.LowerLoss != c.want || second.LowerLoss != c.other || err != c.wantErr {
			t.Errorf("%s: losses %g and %g, %v", name, sol.LowerLoss, second.LowerLoss, err)
		}
	}
}

// TestEffort: a larger network has half of the gradients, and steps to larger penalties alone; λ
// and α of a lasso follow from their logarithms, α from the flag where it is given.
func TestEffort(t *testing.T) {
	most, steps := networkEffort(false)
	half, up := networkEffort(true)
	if most != 400 || half != 200 || len(steps) != 2 || steps[0] != -steps[1] || !slices.Equal(up, steps[:1]) ||
		!(up[0] > 0) {
		t.Errorf("%d gradients by steps %v, of a larger one %d by %v", most, steps, half, up)
	}
	for loss, lost := range map[float64]bool{1.51: true, 1.5: false, .9: false} {
		if (trial{loss: loss, error: 9}).isLost(trial{loss: 1, error: .5}) != lost {
			t.Errorf("a loss of %g beside 1 ± 0.5: lost %t", loss, !lost)
		}
	}
	if pathLength(10, 10) != longestPath || pathLength(10.1, 10) != shortPath || !(shortPath < longestPath) {
		t.Errorf("paths of %g and %g", pathLength(10, 10), pathLength(10.1, 10))
	}
	for given, want := range map[float64]float64{0: .8, .3: .3, 1: 1} {
		s := &lassoSearch{crossFit: &crossFit{}}
		s.Lasso = &Lasso{Ratio: given}
		strength, ratio := s.valuesOf([]float64{math.Log(2), math.Log(4)})
		if !(math.Abs(strength-2) <= 1e-12) || !(math.Abs(ratio-want) <= 1e-12) {
			t.Errorf("α given as %g: λ %g, α %g", given, strength, ratio)
		}
	}
}

// TestTolerances: Φ is right to 1e-4 where it is shown, or to what narrow wires let through, and on
// the way to the best constant to 2e-2 where the lower problem is convex.
func TestTolerances(t *testing.T) {
	for _, c := range []struct {
		nonconvex   bool
		wire        network.Wire
		rough, fine float64
	}{{false, network.Float64, 2e-2, 1e-4}, {false, network.Float32, 2e-2, 1e-4}, {false, network.Int8, 2e-2, 1e-3},
		{true, network.Int8, 1e-4, 1e-4}} {
		p := train.Problem{Nonconvex: c.nonconvex}
		p.Average.Wire = c.wire
		if f := New(p, "λ", 1, nil, nil, nil); f.roughTol != c.rough || f.fineTol != c.fine {
			t.Errorf("%+v: %g and %g", c, f.roughTol, f.fineTol)
		}
	}
}

// TestWeakestCounts: only the penalty of the feature of the largest weight counts, of any class.
func TestWeakestCounts(t *testing.T) {
	f := &crossFit{features: 2, least: -3}
	f.Model.Of = models.Linear{Features: 2, Outputs: 2}
	for _, c := range []struct {
		y    []float64 // of two classes, then their intercepts
		want bool
	}{{[]float64{5, 1, 2, 3, 9, 9}, true}, {[]float64{1, -5, 2, 3, 9, 9}, false}, {[]float64{1, 2, -5, 3, 9, 9}, true},
		{make([]float64, 6), false}, {[]float64{.05, .01, .02, .03, 9, 9}, true}, {nil, false}} {
		if got := f.weakestCounts(whole{Penalties: []float64{-3, 0}, Y: c.y}); got != c.want {
			t.Errorf("weights %v: %t, want %t", c.y, got, c.want)
		}
	}
}

// TestThresholds: weights have λα, intercepts none; what can have no weight has an infinite one, as
// features without a deviation, and intercepts of a joint loss.
func TestThresholds(t *testing.T) {
	for _, joint := range []bool{false, true} {
		s := &SparseProblem{entries: []entry{{feature: 0, unit: 2}, {feature: 1}, {feature: -1}}}
		s.Thresholds, s.of.Of.Loss = make([]float64, 3), models.Squared{}
		want := []float64{.6, math.Inf(1), 0}
		if joint {
			s.of.Of.Loss, want[2] = models.Cox{}, math.Inf(1)
		}
		if s.set(3, .2); !(math.Abs(s.Thresholds[0]-want[0]) < 1e-15) || !slices.Equal(s.Thresholds[1:], want[1:]) {
			t.Errorf("joint %t: thresholds %v, want %v", joint, s.Thresholds, want)
		}
	}
}
