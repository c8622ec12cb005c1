package candidates

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"dsbo"
	"dsbo/algo/algotest"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/train"
)

// searchOf returns a search among strengths whose losses and errors are a function's, of rows
// validation examples.
func searchOf(rows float64, at func(a float64) (loss, error float64)) *strengthSearch {
	return &strengthSearch{&crossFit{rows: rows}, &Structure{}, nil, map[float64]trial{},
		func(a float64, _ []float64, _ float64) (trial, error) {
			loss, error := at(a)
			return trial{y: []float64{a}, loss: loss, error: error}, nil
		}}
}

// TestStrengthsTried: strengths are tried by ones, first up, then down where nothing is better
// there, as long as the loss with its error falls by more than a hundredth of the error; and last
// the least of a parabola, where it is a tenth away or more.
func TestStrengthsTried(t *testing.T) {
	bowl := func(least float64) func(a float64) (float64, float64) {
		return func(a float64) (float64, float64) { return 5 + (a-least)*(a-least), 0 }
	}
	table := func(at map[float64][2]float64) func(a float64) (float64, float64) {
		return func(a float64) (float64, float64) { return at[a][0], at[a][1] }
	}
	slope := func(fall float64) func(a float64) (float64, float64) {
		return func(a float64) (float64, float64) { return 100 - fall*a, 1 }
	}
	for name, c := range map[string]struct {
		at    func(a float64) (loss, error float64)
		near  float64
		tried []float64
		best  float64
	}{
		"up, and between two":      {bowl(2.3), 0, []float64{0, 1, 2, 2.3, 3}, 2.3},
		"down, and between two":    {bowl(-1.7), 0, []float64{-3, -2, -1.7, -1, 0, 1}, -1.7},
		"between two, near one":    {bowl(2.09), 0, []float64{0, 1, 2, 3}, 2},
		"between two, not so near": {bowl(2.11), 0, []float64{0, 1, 2, 2.11, 3}, 2.11},
		"between two, below":       {bowl(1.7), 0, []float64{0, 1, 1.7, 2, 3}, 1.7},
		"lower by more, downwards": {slope(-.011), -27, []float64{-29, -28, -27, -26}, -29},
		"at the first":             {bowl(4), 4, []float64{3, 4, 5}, 4},
		"lower with a larger error": {table(map[float64][2]float64{0: {1, .1}, 1: {.9, .3}, -1: {1, .2}}), 0,
			[]float64{-1, 0, 1}, 0},
		"lower with a little error": {table(map[float64][2]float64{0: {1, .1}, 1: {.9, .15}, 2: {.9, .2}}), 0,
			[]float64{0, 1, 2}, 1},
		"hardly lower": {slope(.009), 0, []float64{0, 1}, 1},
		"hardly lower, beside its error": {func(a float64) (float64, float64) { return 100 - .05*a, 10 }, 0,
			[]float64{0, 1}, 1},
		"lower by more, to the ends": {slope(.011), 27, []float64{27, 28, 29}, 29},
		"equal ones": {table(map[float64][2]float64{0: {1, 0}, 1: {1, 0}, -1: {1, 0}}), 0,
			[]float64{-1, 0, 1}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			s := searchOf(100, c.at)
			testkit.OK(s.descend(c.near))
			s.settleStrength()
			tried := slices.Sorted(maps.Keys(s.tried))
			for k := range tried { // a parabola is right to its rounding
				if len(tried) != len(c.tried) || !(math.Abs(tried[k]-c.tried[k]) <= 1e-9) {
					t.Fatalf("strengths %v are tried, want %v", tried, c.tried)
				}
			}
			loss, error := c.at(s.st.Strength)
			if !(math.Abs(s.st.Strength-c.best) <= 1e-9) || s.st.Loss != runs.Number(loss) ||
				s.st.Error != runs.Number(error) || s.st.y[0] != s.st.Strength {
				t.Errorf("the best is %g with loss %g ± %g and models %v, want %g", s.st.Strength, s.st.Loss,
					s.st.Error, s.st.y, c.best)
			}
		})
	}
}

// TestStrengthsBegin: the first strength begins where the search says and is solved well, later
// ones begin at the nearest that is known and are solved to what tells losses apart; none is
// solved twice.
func TestStrengthsBegin(t *testing.T) {
	s := searchOf(1e6, nil)
	var calls []string
	s.start = []float64{99}
	s.solve = func(a float64, start []float64, tol float64) (trial, error) {
		calls = append(calls, fmt.Sprintf("%g from %g to %g", a, start[0], tol))
		return trial{y: []float64{a}}, nil
	}
	for _, a := range []float64{0, 4, 3, 1, 3} {
		testkit.Get(s.at(a))
	}
	want := []string{"0 from 99 to 1e-05", "4 from 0 to 0.0001", "3 from 4 to 0.0001", "1 from 0 to 0.0001"}
	if !slices.Equal(calls, want) {
		t.Errorf("solutions %q, want %q", calls, want)
	}
	for rows, want := range map[float64]float64{100: 1e-3, 1e4: 1e-3, 4e4: 5e-4, 1e6: 1e-4} {
		if got := partsTol(rows); !(math.Abs(got-want) <= 1e-18) {
			t.Errorf("of %g rows parts are solved to %g, want %g", rows, got, want)
		}
	}
}

// TestChainEnds: a chain ends after two structures in a row that are not below the least one
// before, wherever they are, and after the most.
func TestChainEnds(t *testing.T) {
	for _, c := range []struct {
		losses []float64
		want   bool
	}{
		{nil, false}, {[]float64{3}, false}, {[]float64{3, 4}, false}, {[]float64{3, 3}, false},
		{[]float64{3, 4, 3}, true}, {[]float64{3, 5, 4}, true}, {[]float64{3, 4, 2}, false},
		{[]float64{3, 4, 2, 2.5}, false}, {[]float64{3, 4, 2, 2.5, 2.4}, true},
		{[]float64{5, 4, 3, 2, 1}, false}, {[]float64{6, 5, 4, 3, 2, 1}, true},
		{[]float64{math.NaN()}, false}, {[]float64{math.NaN(), math.Inf(1)}, true},
	} {
		if got := chainEnds(c.losses, 6); got != c.want {
			t.Errorf("a chain of losses %v, of 6 at most, ends: %t", c.losses, got)
		}
	}
}

// TestReweight: log-penalties by the closed form. A weight of the mean size keeps its penalty, one
// of 0 has the largest, and the exponent scales all.
func TestReweight(t *testing.T) {
	f := &crossFit{features: 3}
	weights := []float64{1, 0, 2, -1, 0, 0} // of two outputs; sums of squares 2, 0 and 4, with mean 2
	for _, kappa := range []float64{0.5, 1} {
		got := f.reweight(kappa, weights)
		for j, relative := range []float64{1, 0, 2} {
			want := -kappa * math.Log((relative+0.01)/1.01)
			if !(math.Abs(got[j]-want) <= 1e-12) {
				t.Errorf("exponent %g: the log-penalty of feature %d is %g, want %g", kappa, j, got[j], want)
			}
		}
	}
}

// TestChoose: the structure whose loss is least is kept where it surely beats all before it, else
// the first that it does not.
func TestChoose(t *testing.T) {
	for _, c := range []struct {
		losses []runs.Number
		surely runs.Number // by so much
		want   int
	}{
		{[]runs.Number{2, 2.2, .5, .1}, 1.8, 2}, // the second one's error is large, but so is its loss
		{[]runs.Number{2, 1, 3}, .9, 1},
		{[]runs.Number{2, 1, 3}, 1, 0},
		{[]runs.Number{2, 1.2, .5, .1}, 1.5, 1},
		{[]runs.Number{2, 2, 3}, 0, 0},
		{[]runs.Number{-1, -1.5, -2}, .4, 2},
		{[]runs.Number{1}, 0, 0},
	} {
		var list []*Structure
		for _, loss := range c.losses {
			list = append(list, &Structure{Structure: runs.Structure{Loss: loss}})
		}
		best, err := choose(list, func(float64) float64 { return 0 }, func(least, st *Structure) (bool, error) {
			if st == least {
				t.Errorf("of losses %v the least is compared with itself", c.losses)
			}
			return st.Loss-least.Loss > c.surely && st.Loss != 2.2, nil
		})
		if got := slices.Index(list, best); err != nil || got != c.want {
			t.Errorf("of losses %v structure %d is chosen, want %d", c.losses, got, c.want)
		}
	}
	list := []*Structure{{Structure: runs.Structure{Loss: 2, Strength: 1}}, // with the prior 3, 5, 2.5, 2.25
		{Structure: runs.Structure{Loss: 1, Strength: 4}}, {Structure: runs.Structure{Loss: 1.5, Strength: 1}},
		{Structure: runs.Structure{Loss: 2.25}}}
	prior := func(strength float64) float64 { return strength }
	best, err := choose(list, prior, func(least, st *Structure) (bool, error) {
		return least == list[2], nil
	})
	if err != nil || best != list[2] {
		t.Errorf("an unlikely strength, or a loss above the first one's, is kept: %v, %v", best, err)
	}
	_, err = choose(list, prior, func(_, _ *Structure) (bool, error) { return true, dsbo.ErrDiverged })
	if err == nil {
		t.Error("a comparison that fails has chosen")
	}
}

// TestSurelyBeats: a structure beats another one where its loss on validation examples is lower by
// more than two errors of the difference, with what their strengths are unlikely by.
func TestSurelyBeats(t *testing.T) {
	const n = 102
	f := &crossFit{ctx: t.Context(), rows: 100}
	f.Model.Of = models.Linear{Features: 1, Outputs: 2}
	f.Problem = train.Problem{Oracles: []dsbo.Oracle{algotest.NewQuadratics(1, 1, 1, 1)[0]},
		Each: func(_ int, set train.Set, m train.Fit) (e train.Each, err error) {
			for k := range n { // of mean and error m.Y; other sets tell the contrary
				v := m.Y[0] + m.Y[1]*math.Sqrt(n-1)*float64(1-2*(k%2))
				if set != train.ValSet {
					v = -9 * m.Y[0]
				}
				e.Losses = append(e.Losses, v)
			}
			return e, nil
		}}
	likely := math.Log(100)
	unlikely := likely - math.Sqrt(3*(math.E-1)) // by 4·1/2 of a row
	for _, c := range []struct {
		change, error   float64
		least, strength float64
		want            bool
	}{
		{-.21, .1, likely, likely, true}, {-.19, .1, likely, likely, false}, {.21, .1, likely, likely, false},
		{.19, .1, likely, likely, false}, {-.01, 0, likely, likely, true}, {.01, 0, likely, likely, false},
		{-.21, .1, unlikely, likely, false}, {-.23, .1, unlikely, likely, true}, {-.19, .1, likely, unlikely, true},
		{-.17, .1, likely, unlikely, false}, {-.19, .1, unlikely, unlikely, false},
		{-.21, .1, unlikely, unlikely, true}, {0, 0, likely, likely, false},
	} {
		least, st := &Structure{y: []float64{c.change, c.error}}, &Structure{y: []float64{0, 0}}
		least.Strength, st.Strength = c.least, c.strength
		if got, err := f.beats(least, st); err != nil || got != c.want {
			t.Errorf("%+v: it surely beats the other one: %t, %v", c, got, err)
		}
	}
	f.Problem.Each = nil
	if got, err := f.beats(&Structure{}, &Structure{}); got || err != nil {
		t.Errorf("without losses of examples it surely beats the other one: %t, %v", got, err)
	}
}

// TestNote: the note names the structure that is kept with its loss, and where that is not one
// penalty, the loss of one penalty.
func TestNote(t *testing.T) {
	s := &Structures{}
	for k, loss := range []runs.Number{0.5, 0.25, 0.4} {
		s.List = append(s.List, &Structure{Structure: runs.Structure{Name: fmt.Sprint("S", k), Loss: loss}})
	}
	for best, want := range []string{
		"λ is S0, of 3 structures of penalties the first that none surely beats on rows that its models have not " +
			"seen; its loss on them is 0.5.",
		"λ is S1, of 3 structures of penalties the first that none surely beats on rows that its models have not " +
			"seen; its loss on them is 0.25; with one penalty it is 0.5.",
	} {
		s.Best = s.List[best]
		if got := s.Note("λ is"); got != want || s.KeepsOne() != (best == 0) {
			t.Errorf("the note is\n%s\nwant\n%s\none penalty is kept: %t", got, want, s.KeepsOne())
		}
		for _, keeps := range []bool{true, false} {
			for k, got := range s.Summaries(keeps) {
				if got.Kept != (keeps && k == best) {
					t.Errorf("of structure %d the run keeps %t", k, got.Kept)
				}
			}
		}
	}
}

// TestBestStrength: the strength with the least loss and error is best, of several alike the
// weakest one.
func TestBestStrength(t *testing.T) {
	for _, c := range []struct {
		tried map[float64]trial
		want  float64
	}{
		{map[float64]trial{-1: {loss: 2}, 3: {loss: 1, error: 0.5}, 5: {loss: 1.2}}, 5},
		{map[float64]trial{2: {loss: 1}, -2: {loss: 0.5, error: 0.5}, 4: {loss: 1}}, -2},
		{map[float64]trial{1: {loss: 1, prior: .2}, 2: {loss: 1.1}}, 2},
	} {
		if got := (&strengthSearch{tried: c.tried}).best(); got != c.want {
			t.Errorf("of %v strength %g is best, want %g", c.tried, got, c.want)
		}
	}
}

// TestRefine: the strength where a parabola through the best one and unequally distant neighbors is
// least, on either side; none at the ends.
func TestRefine(t *testing.T) {
	for _, c := range []struct{ least, below, best, above, want float64 }{
		{1.3, 0, 1, 3, 1.3}, {0.7, -1, 1, 2, 0.7}, {1.2, 0.5, 1, 1.5, 1.2}, {1.05, 0, 1, 3, math.NaN()},
		{9, 0, 1, 3, math.NaN()}, {-9, 0, 1, 3, math.NaN()},
	} {
		s := searchOf(100, nil)
		for _, a := range []float64{c.below, c.best, c.above} {
			s.tried[a] = trial{loss: 2 + 5*(a-c.least)*(a-c.least)}
		}
		s.solve = func(a float64, _ []float64, _ float64) (trial, error) { return trial{loss: 1}, nil }
		testkit.OK(s.refine())
		got := s.best()
		if more := len(s.tried) == 4; more && math.Abs(got-c.want) > 1e-12 || more == math.IsNaN(c.want) {
			t.Errorf("%+v: %d are tried, the best is %g", c, len(s.tried), got)
		}
	}
}

// TestSettleAt: classes separate where no cross-fitted prediction is wrong; numbers never do, and
// have no prior of strengths.
func TestSettleAt(t *testing.T) {
	for _, c := range []struct {
		loss  models.OutputLoss
		wrong float64
		want  bool
	}{{nil, 0, true}, {nil, .01, false}, {models.CrossEntropy{}, 0, true}, {models.CrossEntropy{}, .01, false},
		{models.Squared{}, 0, false}} {
		f, st := &crossFit{rows: 30, trainShare: .5, features: 2}, new(Structure)
		f.Model.Of = models.Linear{Features: 2, Outputs: 3, Loss: c.loss}
		f.settleAt(st, 2, trial{loss: 3, error: 4, wrong: c.wrong})
		if st.Separate != c.want || st.Strength != 2 || st.Loss != 3 || st.Error != 4 {
			t.Errorf("%+v: %+v", c, st.Structure)
		}
		least := math.Inf(-1)
		if isClasses(f.Model.Of) {
			least = math.Log(3. * 2 / (2 * 10 * 10 * 15))
		}
		if got := f.leastPenalty(); got != least && !(math.Abs(got-least) < 1e-12) {
			t.Errorf("%+v: the weakest penalty is %g, want %g", c, got, least)
		}
	}
	f := &crossFit{rows: 40, least: math.Log(1. / 100)}
	for strength, want := range map[float64]float64{0: 0, 2: 2 * math.Log(7./3) / 40, -3: 2 * math.Log(4) / 40} {
		if got := f.strengthPrior(strength); !(math.Abs(got-want) < 1e-12) {
			t.Errorf("the prior of strength %g is %g, want %g", strength, got, want)
		}
	}
	if f.Model.Of.Loss = (models.Squared{}); f.strengthPrior(5) != 0 {
		t.Error("numbers have a prior of strengths")
	}
	for _, p := range (&crossFit{features: 3}).reweight(1, make([]float64, 3)) {
		if !(math.Abs(p-math.Log(101)) < 1e-12) {
			t.Errorf("of weights that are all 0 the log-penalty is %g", p)
		}
	}
}
