package candidates_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/experiment/candidates"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/train"
)

// crossFitted returns the problems of a regression on d features in folds, over rows of three sites
// of unlike size, and 1,000 other rows as the test examples.
func crossFitted(truth []float64, noise float64, rows, folds int) candidates.CrossFit {
	r, d := rand.New(rand.NewPCG(3, 5)), len(truth)
	draw := func(n int) data.Examples {
		x, y := make([]float64, 0, n*d), make([]float64, 0, n)
		for range n {
			sum := noise * r.NormFloat64()
			for _, w := range truth {
				x = append(x, r.NormFloat64())
				sum += w * x[len(x)-1]
			}
			y = append(y, sum)
		}
		return data.Examples{X: testkit.Get(ad.FloatTable(n, d, x)), Target: testkit.Get(ad.FloatTable(n, 1, y))}
	}
	cross, all := data.Task{Features: d}, data.Task{Features: d, Test: draw(1000)}
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
	linear := models.Linear{Features: d, Outputs: 1, Loss: models.Squared{}}
	m := models.Folds{Of: linear, Count: folds, Apart: true}
	return candidates.CrossFit{Model: m, Problem: testkit.Get(train.NewProblem(cross, m, models.Config{})), Data: cross,
		All: testkit.Get(train.NewProblem(all, linear, models.Config{})), Variance: true}
}

// sparse returns a truth whose first k weights of d are ±1.
func sparse(d, k int) []float64 {
	w := make([]float64, d)
	for j := range k {
		w[j] = 1 - 2*float64(j%2)
	}
	return w
}

// TestStructures: where few features matter, the mean of structures predicts new rows better than
// one penalty for all; where all matter alike it is about as good. The cross-fitted loss that it
// says is the mean over the rows, each by the model that has not seen it, and so is its error.
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
			one, answer, err := s.Models(t.Context())
			testkit.OK(err)
			ratio := (float64(answer.TestLoss) - c.noise*c.noise/2) / (float64(one.TestLoss) - c.noise*c.noise/2)
			t.Logf("test loss %.4f beside %.4f", float64(answer.TestLoss), float64(one.TestLoss))
			if !(ratio <= c.atMost) {
				t.Errorf("beyond the noise, the test loss is %.3f of one penalty's, want at most %g", ratio, c.atMost)
			}
			mean, deviation := lossesOf(f, s.Y)
			if math.Abs(mean-s.Loss) > 1e-12*mean || math.Abs(deviation-s.Error) > 1e-9*deviation {
				t.Errorf("the cross-fitted loss is %v ± %v, want %v ± %v", s.Loss, s.Error, mean, deviation)
			}
			var shares float64
			for _, st := range s.List {
				shares += float64(st.Share)
				if !(st.Share >= 0) || st.Solutions == 0 || st.Products == 0 {
					t.Errorf("%+v", st.Structure)
				}
				if !(s.Loss <= float64(st.Loss)+4*2*float64(st.Loss)/rows*math.Log(float64(len(s.List)))) {
					t.Errorf("the loss %g is not near the %g of %s: the pull is of 4 rows", s.Loss, st.Loss, st.Name)
				}
			}
			if math.Abs(shares-1) > 1e-12 || len(s.List) < c.structures {
				t.Errorf("%d structures, whose shares sum to %v", len(s.List), shares)
			}
			if c.blocks {
				if last := s.List[len(s.List)-1]; !strings.HasPrefix(last.Name, "blocks: matter ") ||
					!(last.Share > 0.1) {
					t.Errorf("the blocks' share is %v of %s", last.Share, last.Name)
				}
			}
			if first, last := s.Penalties[0], s.Penalties[d-1]; name != "all the same" && !(first+1 < last) {
				t.Errorf("the mean log-penalty is %g of a feature that matters, %g of one that does not", first, last)
			}
		})
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
		want := testkit.Get(f.Problem.UpperLoss(t.Context(), train.Fit{X: x, Y: sol.Y}))
		if math.Abs(c.Phi-want) > 1e-2*want { // models of strengths are right to 1e-3 of the loss
			t.Errorf("the loss at %.3g is %.5g, want %.5g", c.Lambda, c.Phi, want)
		}
	}
}

// TestStructuresRefit: the answer on the same examples is the answer, and on twice the examples the
// penalties weigh as much beside all rows as before.
func TestStructuresRefit(t *testing.T) {
	const d = 8
	f := crossFitted(sparse(d, 2), 1, 60, 3)
	s := testkit.Get(f.Structures(t.Context(), 0))
	want, got := s.Solution(), testkit.Get(s.Refit(t.Context(), f.All, 1))
	for j := range want {
		// both are solutions to within solutionTol of Φ, a loss whose curvature is about 1
		if math.Abs(got[j]-want[j]) > 1e-2 {
			t.Fatalf("refit\n%v, want\n%v", got, want)
		}
	}
}

// TestCrossFitLost: the mean of structures gives way to one penalty where its cross-fitted loss is
// larger by more than chance; test examples have no say.
func TestCrossFitLost(t *testing.T) {
	for _, c := range []struct {
		set           string
		change, error runs.Number
		want          bool
	}{
		{runs.Validation, -0.1, 0.02, false}, {runs.Validation, 0.03, 0.02, false},
		{runs.Validation, 0.05, 0.02, true}, {runs.Test, 0.05, 0.02, false},
	} {
		gains := []runs.Gain{{Set: c.set, LossChange: c.change, LossError: c.error}}
		if got := candidates.CrossFitLost(gains); got != c.want {
			t.Errorf("a change of %g ± %g on %s examples: lost is %t", c.change, c.error, c.set, got)
		}
	}
}

// A counter counts the products of models.
type counter struct {
	products []int
	said     bool // that a search begins
}

func (c *counter) Begin(string)              {}
func (c *counter) Solved()                   {}
func (c *counter) Found(m *candidates.Model) { c.products = append(c.products, m.Steps) }
func (c *counter) Expect(int)                {}
func (c *counter) Log(string, ...any)        { c.said = true }

// TestDescentCost: where the iterations end far above the best constant, the search from there says
// so before, finds a lower x, and takes about as many products as they and the models before it.
func TestDescentCost(t *testing.T) {
	const features, spent = 40, 20
	task := testkit.Get(data.Synthetic{Agents: 3, Features: features, Train: 60, Val: 60, Test: 20, Rate: 1,
		Seed: 1}.Task())
	p := testkit.Get(train.NewProblem(task, models.Logistic{Features: features}, models.Config{Seed: 1}))
	c := new(counter)
	find := candidates.New(p, "λ", features, p.Solver(), nil, c)
	find.Spent = spent
	tuned := candidates.NewModel("λ tuned", runs.Unknown(), slices.Repeat([]float64{5}, features))
	testkit.OK(find.Solve(t.Context(), tuned, nil, nil))
	_, rival, err := find.Constants(t.Context(), 5)
	testkit.OK(err)
	bound := spent
	for _, n := range c.products {
		bound += n
	}
	before := len(c.products)
	found, notes, err := find.Descent(t.Context(), tuned, rival)
	testkit.OK(err)
	if !found.Below(rival) || len(notes) != 1 || !c.said {
		t.Errorf("Φ is %g, of the best constant %g; it said so before: %t; notes: %q", found.Phi, rival.Phi,
			c.said, notes)
	}
	search := c.products[before:]
	last, sum := search[len(search)-1], 0
	for _, n := range search {
		sum += n
	}
	if sum-last > bound {
		t.Errorf("%v products after %v: only the last solution may go beyond %d", search, c.products[:before], bound)
	}
}
