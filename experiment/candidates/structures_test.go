package candidates_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/experiment/candidates"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/train"
	"dsbo/train/exact"
)

// crossFitted returns the problems of a regression on d features in folds, over rows of three sites
// of unlike size, and 1,000 other rows as the test examples.
func crossFitted(truth []float64, noise float64, rows, folds int) candidates.CrossFit {
	linear := models.Linear{Features: len(truth), Outputs: 1, Loss: models.Squared{}}
	return crossFittedOf(linear, truth, noise, rows, folds, func(sum float64) []float64 { return []float64{sum} })
}

// crossFittedOf is crossFitted for a linear model whose targets are some of the sums.
func crossFittedOf(linear models.Linear, truth []float64, noise float64, rows, folds int,
	target func(sum float64) []float64) candidates.CrossFit {
	r, d := rand.New(rand.NewPCG(3, 5)), len(truth)
	draw := func(n int) data.Examples {
		x, y := make([]float64, 0, n*d), make([]float64, 0, n)
		for range n {
			sum := noise * r.NormFloat64()
			for _, w := range truth {
				x = append(x, r.NormFloat64())
				sum += w * x[len(x)-1]
			}
			y = append(y, target(sum)...)
		}
		return data.Examples{X: testkit.Get(ad.FloatTable(n, d, x)),
			Target: testkit.Get(ad.FloatTable(n, linear.Outputs, y))}
	}
	cross := data.Task{Features: d}
	if linear.Outputs > 1 {
		cross.Classes = linear.Outputs
	}
	all := cross
	all.Test = draw(1000)
	sizes := []int{rows / 2, rows / 3, rows - rows/2 - rows/3}
	for _, n := range sizes {
		e, of, weights := draw(n), make([]int, n), make([]float64, n)
		for row := range of {
			of[row], weights[row] = row%folds, float64(len(sizes)*n)/float64(rows)
		}
		e.Weight = testkit.Get(ad.FloatTable(n, 1, weights))
		tr, va := e, e
		var err error
		tr.Weight, va.Weight, err = models.FoldWeights(of, folds, e.Weight)
		testkit.OK(err)
		cross.Shards = append(cross.Shards, data.Shard{Train: tr, Val: va})
		all.Shards = append(all.Shards, data.Shard{Train: e, Val: e})
	}
	m := models.Folds{Of: linear, Count: folds, Apart: true}
	return candidates.CrossFit{Model: m, Problem: testkit.Get(train.NewProblem(cross, m, models.Config{})), Data: cross,
		All: testkit.Get(train.NewProblem(all, linear, models.Config{})), Variance: linear.Loss == models.Squared{}}
}

// sparse returns a truth whose first k weights of d are ±1.
func sparse(d, k int) []float64 {
	w := make([]float64, d)
	for j := range k {
		w[j] = 1 - 2*float64(j%2)
	}
	return w
}

// TestStructures: where few features matter, the structure that folds choose predicts new rows
// better than one penalty for all; where all matter alike it is about as good. The cross-fitted
// loss is the mean over the rows, each by the model that has not seen it, and so is its error.
// Named blocks have a penalty each, which is larger for the block that does not matter.
func TestStructures(t *testing.T) {
	const d, rows, folds = 20, 120, 3
	dense := slices.Repeat([]float64{0.3, -0.3}, d/2)
	for name, c := range map[string]struct {
		truth      []float64
		noise      float64
		blocks     bool
		atMost     float64 // test loss beyond the noise, beside one penalty's
		structures int     // at least
	}{
		"few matter":   {sparse(d, 3), 1, false, 0.7, 7},
		"blocks":       {sparse(d, 6), 1, true, 0.8, 8},
		"all the same": {dense, 1, false, 1.2, 7},
	} {
		t.Run(name, func(t *testing.T) {
			f := crossFitted(c.truth, c.noise, rows, folds)
			if c.blocks {
				f.Blocks = candidates.Blocks{Names: []string{"matter", "noise"}, Of: make([]int, d)}
				for j := 6; j < d; j++ {
					f.Blocks.Of[j] = 1
				}
			}
			s := testkit.Get(f.Structures(t.Context(), 0))
			one, best, err := s.Models(t.Context())
			testkit.OK(err)
			if !one.Converged || !best.Converged {
				t.Errorf("converged %t and %t", one.Converged, best.Converged)
			}
			ratio := (float64(best.TestLoss) - c.noise*c.noise/2) / (float64(one.TestLoss) - c.noise*c.noise/2)
			t.Logf("test loss %.4f beside %.4f", float64(best.TestLoss), float64(one.TestLoss))
			if !(ratio <= c.atMost) {
				t.Errorf("beyond the noise, the test loss is %.3f of one penalty's, want at most %g", ratio, c.atMost)
			}
			loss, deviation := float64(s.Best.Loss), float64(s.Best.Error)
			mean, want := lossesOf(f, s.CrossFitted().Y)
			if !(math.Abs(mean-loss) <= 1e-12*mean) || !(math.Abs(want-deviation) <= 1e-9*want) {
				t.Errorf("the cross-fitted loss is %v ± %v, want %v ± %v", loss, deviation, mean, want)
			}
			if len(s.List) < c.structures {
				t.Errorf("%d structures", len(s.List))
			}
			for _, st := range s.List {
				if st.Solutions == 0 || st.Products == 0 || st.Loss+2*(st.Error+s.Best.Error) < s.Best.Loss {
					t.Errorf("%+v; the best is %+v", st.Structure, s.Best.Structure)
				}
			}
			if c.blocks {
				last, matter, other := s.List[len(s.List)-1], 0., 0.
				_, err := fmt.Sscanf(last.Name, "blocks: matter %g, noise %g", &matter, &other)
				at, _ := s.PenaltiesOf(last, 0)
				if err != nil || !(matter+2 < other) || last.Loss >= s.List[0].Loss || last.Solutions > 26 ||
					!(math.Abs(at[0]+last.Strength-matter) <= .0051*math.Abs(matter)) { // of three digits
					t.Errorf("%v: %s, by %d solutions; the loss is %g, with one penalty %g", err, last.Name,
						last.Solutions, last.Loss, s.List[0].Loss)
				}
			}
			if x := s.Penalties(); name != "all the same" && !(x[0]+1 < x[d-1]) {
				t.Errorf("the log-penalty is %g of a feature that matters, %g of one that does not", x[0], x[d-1])
			}
		})
	}
}

// TestStructuresAre: each structure comes from the one that the type's comment lists, and its
// penalties follow from the weights there by the power of its name; the model of all examples with
// one penalty is at penalties that sum up to as much as in a part.
func TestStructuresAre(t *testing.T) {
	const d, folds = 12, 4
	f := crossFitted(sparse(d, 2), 1, 80, folds)
	s := testkit.Get(f.Structures(t.Context(), 0))
	last := "one penalty"
	if got := s.List[1].Name; got != "reweighted 1" {
		t.Errorf("the first reweighted structure is %q", got)
	}
	for k, st := range s.List {
		from, power := last, 1.0
		switch {
		case k == 0:
			from, power = "", 0
		case st.Name == "by √gradient":
			from, power = "no feature", 0.5
		case st.Name == "by gradient":
			from = "no feature"
		}
		if st.From() != from {
			t.Errorf("%s follows from %q, want %q", st.Name, st.From(), from)
		}
		last = st.Name
		for part := range folds {
			if k == 0 {
				continue
			}
			penalties, weights := s.PenaltiesOf(st, part)
			mean := 0.0
			for _, w := range weights {
				mean += w * w / d
			}
			for j, w := range weights {
				if want := -power * math.Log((w*w/mean+0.01)/1.01); !(math.Abs(penalties[j]-want) <= 1e-9) {
					t.Errorf("%s, part %d: the log-penalty of feature %d is %g, want %g", st.Name, part, j,
						penalties[j], want)
				}
			}
		}
	}
	x := slices.Repeat([]float64{s.List[0].Strength + math.Log(1-1.0/folds)}, d)
	want := testkit.Get(f.All.Solver().Lower(t.Context(), x, nil, 1e-10))
	one, best := testkit.Get2(s.Models(t.Context()))
	for j, w := range one.Y {
		if !(math.Abs(w-want.Y[j]) <= 1e-2) { // right to solutionTol of Φ, a loss whose curvature is about 1
			t.Errorf("with one penalty weight %d of all examples is %g, want %g", j, w, want.Y[j])
		}
	}
	if penalties, _ := s.PenaltiesOf(s.Best, 0); math.Abs(penalties[d-1]+s.Best.Strength-best.X[d-1]) < 1e-6 {
		t.Error("of all rows the penalties are those of a part")
	}
	for j, x := range best.X {
		if best.X[j] = x + math.Log(1-1.0/folds); s.KeepsOne() {
			t.Fatal("where few features matter one penalty is kept")
		}
	}
	want = testkit.Get(f.All.Solver().Lower(t.Context(), best.X, nil, 1e-10))
	for j, w := range best.Y {
		if !(math.Abs(w-want.Y[j]) <= 1e-2) {
			t.Errorf("at its penalties weight %d of all examples is %g, want %g", j, w, want.Y[j])
		}
	}
}

// TestBlocksHaveAPrior: beside the cross-fitted loss the prior of deviation 2 counts, in units of
// the residual variance where losses are half of squares, and the gradient is of both, by central
// differences that are off by the error of solutions, 1e-5 of Φ, over the step.
func TestBlocksHaveAPrior(t *testing.T) {
	const d, rows, step = 6, 60, 0.05
	for _, variance := range []bool{false, true} {
		f := crossFitted(sparse(d, 3), 1, rows, 3)
		f.Variance, f.Blocks = variance, candidates.Blocks{Names: []string{"a", "b"}, Of: []int{0, 0, 0, 1, 1, 1}}
		theta := []float64{1, -2, 0.5}
		loss, gradient, alone, err := f.AtBlocks(t.Context(), theta, 0.5)
		testkit.OK(err)
		unit := 1.0
		if variance {
			unit = 2 * alone
		}
		if want := alone + unit*(1+4)/(2*2*2*rows); !(math.Abs(loss-want) <= 1e-6*want) { // Φ is right to float32
			t.Errorf("with the prior the loss is %g, want %g", loss, want)
		}
		for k := range theta {
			var ends [2]float64
			for side := range ends {
				moved := slices.Clone(theta)
				moved[k] += step * float64(2*side-1)
				ends[side], _, _, err = f.AtBlocks(t.Context(), moved, 0.5)
				testkit.OK(err)
			}
			if want := (ends[1] - ends[0]) / (2 * step); !(math.Abs(gradient[k]-want) <= 1e-3*loss) {
				t.Errorf("in units of the variance %t: slope %d is %g, by differences %g", variance, k, gradient[k],
					want)
			}
		}
	}
}

// lossesOf returns what Structures says of the loss of the models y of the parts, row by row.
func lossesOf(f candidates.CrossFit, y []float64) (mean, deviation float64) {
	var losses []float64
	for _, s := range f.Data.Shards {
		for row := range s.Val.Len() {
			k := 0
			for s.Val.Weight.At(row, k) == 0 {
				k++
			}
			w, b := f.Model.Fold(y, k)
			r := s.Val.Target.At(row, 0) - b[0]
			for j, v := range w {
				r -= v * s.Val.X.At(row, j)
			}
			losses = append(losses, r*r/2)
			mean += r * r / 2
		}
	}
	n := float64(len(losses))
	mean /= n
	for _, l := range losses {
		deviation += (l - mean) * (l - mean)
	}
	return mean, math.Sqrt(deviation) / n
}

// TestStrengthsAreSolved: with products in float32 too, the losses of one penalty for all are those
// at its solutions. Penalties beside which data have no say leave products of rounding alone, by
// which a start passed for a solution.
func TestStrengthsAreSolved(t *testing.T) {
	const d = 20
	f := crossFitted(sparse(d, 3), 0.3, 240, 5)
	f.Model.Of.Outputs, f.Model.Of.Loss, f.Data.Classes, f.Variance = 2, models.CrossEntropy{}, 2, false
	all := f.Data
	all.Shards = nil
	for i, s := range f.Data.Shards {
		labels := make([]uint8, s.Train.Len())
		for row := range labels {
			if s.Train.Target.At(row, 0) > 0 {
				labels[row] = 1
			}
		}
		s.Train.Target = testkit.Get(ad.LabelTable(labels, 2))
		s.Val.Target = s.Train.Target
		f.Data.Shards[i] = s
		s.Train.Weight, s.Val.Weight = nil, nil
		all.Shards = append(all.Shards, s)
	}
	f.Problem = testkit.Get(train.NewProblem(f.Data, f.Model, models.Config{Float32: true}))
	f.All = testkit.Get(train.NewProblem(all, f.Model.Of, models.Config{Float32: true}))
	s := testkit.Get(f.Structures(t.Context(), 0))
	for _, c := range s.Tried {
		x := slices.Repeat([]float64{c.Lambda}, f.Model.Count*d)
		sol := testkit.Get(f.Problem.Solver().Lower(t.Context(), x, nil, 1e-8))
		want, _ := testkit.Get2(f.Problem.Losses(t.Context(), train.Fit{X: x, Y: sol.Y}))
		if !(math.Abs(c.Phi-want) <= 1e-2*want) { // models of strengths are right to 1e-3 of the loss
			t.Errorf("the loss at %.3g is %.5g, want %.5g", c.Lambda, c.Phi, want)
		}
	}
}

// TestStructuresRefit: the best structure's model of the same examples is the one that is kept, and
// where one penalty is best it weighs as much beside twice the rows as before.
func TestStructuresRefit(t *testing.T) {
	const d = 8
	f := crossFitted(sparse(d, 2), 1, 60, 3)
	s := testkit.Get(f.Structures(t.Context(), 0))
	_, best := testkit.Get2(s.Models(t.Context()))
	if s.LassoParts() != nil || best.FoundBy != candidates.FoundByStructures || best.Name != "λ tuned" {
		t.Errorf("%s is found by %s", best.Name, best.FoundBy)
	}
	again := testkit.Get(s.Refit(t.Context(), f.All, nil, 1))
	for j, x := range again.X {
		if !(math.Abs(x-best.X[j]) <= 1e-1) { // twice the logarithm of a weight
			t.Errorf("of the same examples log-penalty %d is %g, want %g", j, x, best.X[j])
		}
	}
	for j, got := range again.Y {
		// both are solutions to within solutionTol of Φ, a loss whose curvature is about 1
		if !(math.Abs(got-best.Y[j]) <= 1e-2) {
			t.Fatalf("of the same examples weight %d is %g, want %g", j, got, best.Y[j])
		}
	}
	s.Best = s.List[0]
	x := slices.Repeat([]float64{s.List[0].Strength + math.Log((1-1.0/3)/2)}, d)
	twice := testkit.Get(f.All.Solver().Lower(t.Context(), x, nil, 1e-10))
	for j, got := range testkit.Get(s.Refit(t.Context(), f.All, nil, 2)).Y {
		if !(math.Abs(got-twice.Y[j]) <= 1e-2) {
			t.Errorf("of twice the examples weight %d is %g, want %g", j, got, twice.Y[j])
		}
	}
}

// TestStructuresAreKept: what was kept has the same bits in all that follows from it, and other
// problems refuse it.
func TestStructuresAreKept(t *testing.T) {
	f := crossFitted(sparse(8, 2), 1, 60, 3)
	s := testkit.Get(f.Structures(t.Context(), 0))
	kept := testkit.Get(s.Encode())
	again := testkit.Get(f.Restore(t.Context(), kept))
	of := func(s *candidates.Structures) string {
		one, best := testkit.Get2(s.Models(t.Context()))
		return fmt.Sprint(s.Note(""), s.Summaries(true), s.Tried, s.Penalties(), s.CrossFitted(), s.CrossFittedOne(),
			one.Fit(), one.Model, best.Fit(), best.Model, testkit.Get(s.Refit(t.Context(), f.All, nil, 2)),
			string(testkit.Get(s.Encode())))
	}
	if want, got := of(s), of(again); got != want {
		t.Errorf("after they were kept structures give\n%s, before\n%s", got, want)
	}
	other := crossFitted(sparse(7, 2), 1, 60, 3)
	if _, err := other.Restore(t.Context(), kept); err == nil {
		t.Error("structures of 8 features are taken for some of 7")
	}
	for name, change := range map[string][2]string{
		"other parts":  {`"Parts":3,"Length"`, `"Parts":4,"Length"`},
		"no structure": {`"List":[`, `"List":[],"Before":[`}, "the null one": {`"Best":`, `"Best":0,"Is":`},
		"a later one": {`"From":1`, `"From":7`}, "itself": {`"From":1`, `"From":2`},
		"one beyond all": {`"Best":`, fmt.Sprintf(`"Best":%d,"Is":`, len(s.List)+1)},
	} {
		text := strings.Replace(string(kept), change[0], change[1], 1)
		if _, err := f.Restore(t.Context(), []byte(text)); err == nil {
			t.Errorf("%s: what was kept is read", name)
		}
	}
	for _, best := range []int{1, len(s.List)} {
		text := strings.Replace(string(kept), `"Best":`, fmt.Sprintf(`"Best":%d,"Is":`, best), 1)
		if got, err := f.Restore(t.Context(), []byte(text)); err != nil || got.Best != got.List[best-1] {
			t.Errorf("structure %d is not read as the best, error %v", best, err)
		}
	}
	earlier := strings.Replace(string(kept), `"Best":`, `"Mean":`, 1)
	if _, err := f.Restore(t.Context(), []byte(earlier)); !errors.Is(err, dsbo.ErrConfig) ||
		!strings.Contains(err.Error(), "kept.") {
		t.Errorf("what a version with means has kept is read with error %v", err)
	}
}

// A counter counts the products of models.
type counter struct {
	products []int
	solver   *exact.Solver // of which tols are PhiTol and GradientTol
	tols     [][2]float64
	said     bool // that a search begins
}

func (c *counter) Begin(string) {}
func (c *counter) Solved() {
	if c.solver != nil {
		c.tols = append(c.tols, [2]float64{c.solver.PhiTol, c.solver.GradientTol})
	}
}
func (c *counter) Found(m *candidates.Model) { c.products = append(c.products, m.Steps) }
func (c *counter) Expect(int)                {}
func (c *counter) Log(string, ...any)        { c.said = true }
