package candidates_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"dsbo"
	"dsbo/ad"
	"dsbo/algo"
	"dsbo/data"
	"dsbo/experiment/candidates"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/network"
	"dsbo/train"
)

// TestNetworks: where targets are no linear function a network is kept, and what judges it is what
// its models give on rows that they have not seen, row by row. Its model of all rows has penalties
// that sum up to as much as in a part.
func TestNetworks(t *testing.T) {
	const rows, folds = 150, 3
	f := crossFittedOf(models.Linear{Features: 2, Outputs: 1, Loss: models.Squared{}}, []float64{1, 0.5}, 0.1, rows,
		folds, func(sum float64) []float64 { return []float64{sum * sum} })
	watch := new(counter)
	f.Watch = watch
	s := testkit.Get(f.Structures(t.Context(), 0))
	n := candidates.Networks{Linear: s, Problem: func(d data.Task, m models.Model) (train.Problem, error) {
		return train.NewProblem(d, m, models.Config{Seed: 1})
	}}
	for _, units := range []int{4, 8} {
		n.Of = append(n.Of, models.MLP{Features: 2, Outputs: 1, Hidden: []int{units}, Loss: models.Squared{},
			Penalties: models.OnePenalty{}})
	}
	tried, best, better, err := n.Choose(t.Context())
	testkit.OK(err)
	if len(tried) != 2 || best != tried[1] || !better || !watch.said {
		t.Fatalf("%d networks are tried, the %s is better: %t", len(tried), best.Name, better)
	}
	// 17 and 33 weights: log(17/(2·(1 − 1/3)·150)) is −2.5, and from there steps are of 2; −2 +
	// log(33/17) is −1.3, from which the larger one has no smaller penalty
	for k, near := range []float64{-2, -1} {
		if a := tried[k].Strength; math.Mod(a-near, 2) != 0 || k == 1 && a < near {
			t.Errorf("%s has log-penalty %g, near %g", tried[k].Name, a, near)
		}
	}
	whole := f.Data // every row in both sets, by its site's share
	whole.Shards = nil
	for _, shard := range f.Data.Shards {
		e := shard.Val
		weights := make([]float64, e.Len())
		for row := range weights {
			weights[row] = float64(len(f.Data.Shards)*e.Len()) / rows
		}
		e.Weight = testkit.Get(ad.FloatTable(len(weights), 1, weights))
		whole.Shards = append(whole.Shards, data.Shard{Train: e, Val: e})
	}
	all := testkit.Get(n.Problem(whole, best.Of))
	var losses, changes []float64
	for i, shard := range f.Data.Shards {
		linear := testkit.Get(f.Problem.Each(i, train.ValSet, s.CrossFitted()))
		for k, y := range best.Parts {
			each := testkit.Get(all.Each(i, train.ValSet, train.Fit{X: []float64{0}, Y: y}))
			for row, l := range each.Losses {
				if shard.Val.Weight.At(row, k) != 0 {
					losses, changes = append(losses, l), append(changes, l-linear.Losses[row])
				}
			}
		}
	}
	statistics := func(of []float64) (mean, deviation float64) {
		for _, v := range of {
			mean += v / rows
		}
		for _, v := range of {
			deviation += (v - mean) * (v - mean) / rows / rows
		}
		return mean, math.Sqrt(deviation)
	}
	loss, e := statistics(losses)
	change, deviation := statistics(changes)
	for name, c := range map[string][2]float64{"loss": {float64(best.Loss), loss},
		"its error": {float64(best.Error), e},
		"change":    {float64(best.Gain.LossChange), change}, "of it": {float64(best.Gain.LossError), deviation}} {
		if !(math.Abs(c[0]-c[1]) <= 1e-9) {
			t.Errorf("%s: %g, want %g", name, c[0], c[1])
		}
	}
	if len(losses) != rows || best.Gain.Examples != rows || len(best.Parts) != folds {
		t.Errorf("%d rows, %d judge, by %d models", len(losses), best.Gain.Examples, len(best.Parts))
	}
	before, products := best.Solutions, best.Products
	m := testkit.Get(n.Model(t.Context(), best, whole))
	if m.X[0] != best.Strength || m.Phi != best.Loss || m.ValLoss != best.Loss || !m.Converged ||
		!strings.HasSuffix(m.Effort(), " gradients") || best.Solutions != before+1 ||
		best.Products != products+m.Steps {
		t.Errorf("the model is %+v at %v, by %s; %+v", m.Model, m.X, m.Effort(), best.Structure)
	}
	if before < 2+2 || before > candidates.MostNetworkSolutions+2 {
		t.Errorf("%d solutions", before)
	}
	for times, y := range map[float64][]float64{1: m.Y, 2: testkit.Get(n.Refit(t.Context(), best, whole, 2)).Y} {
		x := []float64{best.Strength + math.Log((1-1./folds)/times)}
		_, at := testkit.Get2(all.Losses(t.Context(), train.Fit{X: x, Y: y}))
		for k, part := range best.Parts {
			if _, of := testkit.Get2(all.Losses(t.Context(), train.Fit{X: x, Y: part})); !(at < of) {
				t.Errorf("of %g times the rows the training loss is %g, of the model of part %d %g", times, at, k, of)
			}
		}
		// a solution, from which another descent leads nowhere: 30 % off the penalties it would by
		// 2e-3 and more
		again := testkit.Get(all.Solver().Descend(t.Context(), x, y))
		if _, least := testkit.Get2(all.Losses(t.Context(), train.Fit{X: x, Y: again.Y})); at-least > 5e-4 {
			t.Errorf("of %g times the rows the training loss falls from %g to %g", times, at, least)
		}
	}
}

// TestRowWeights: an example that stands for n rows weighs as much as they do together.
func TestRowWeights(t *testing.T) {
	f := crossFitted(sparse(3, 1), 1, 12, 3)
	plain := testkit.Get(f.RowWeights(t.Context()))
	for i := range f.Data.Shards {
		val := &f.Data.Shards[i].Val
		counts := make([]float64, val.Len())
		for row := range counts {
			counts[row] = float64(row % 3)
		}
		val.Count = testkit.Get(ad.FloatTable(val.Len(), 1, counts))
	}
	for i, weights := range testkit.Get(f.RowWeights(t.Context())) {
		for row, w := range weights {
			n := float64(row % 3)
			if n == 0 && w != 0 || n > 0 && !(math.Abs(w*n-plain[i][row]) <= 1e-15) {
				t.Errorf("agent %d: a row of example %d, of %g, weighs %g, want %g", i, row, n, w, plain[i][row]/n)
			}
		}
	}
}

// TestByTraining: where a method holds x still, a model is what a run of it from the start finds,
// whose exchange counts as the models'.
func TestByTraining(t *testing.T) {
	task := testkit.Get(data.Synthetic{Agents: 3, Features: 4, Train: 40, Val: 40, Test: 20, Rate: 1, Seed: 1}.Task())
	p := testkit.Get(train.NewProblem(task, models.Logistic{Features: 4}, models.Config{Seed: 1}))
	exact := testkit.Get(p.Solver().Lower(t.Context(), make([]float64, 4), nil, 1e-9))
	p.Nonconvex, p.Sent = true, new(dsbo.Traffic)
	method := algo.Held(&algo.AdamCG{T: 20})
	if method == nil {
		t.Fatal("no method holds x")
	}
	w := testkit.Get(network.Ring(3, .5))
	training := &train.Config{Problem: p, W: w.W, Method: method, K: 200, EvalEvery: 200, Evaluate: train.EvaluateOff}
	f := candidates.New(p, "λ", 4, p.Solver(), training, nil)
	m := candidates.NewModel("λ = 0", 0, make([]float64, 4))
	testkit.OK(f.Solve(t.Context(), m, nil, nil))
	for j, v := range m.Y {
		if !(math.Abs(v-exact.Y[j]) <= 1e-3*linalg.Norm(exact.Y)) {
			t.Errorf("weight %d is %g, want %g", j, v, exact.Y[j])
		}
	}
	if !m.Converged || !(m.Phi > 0) || p.Sent.Bytes == 0 {
		t.Errorf("the model is %+v, after %+v", m.Model, *p.Sent)
	}
	steps := 200 * method.(*algo.AdamCG).T
	if m.Effort() != fmt.Sprintf("%d gradients", steps) || m.Gradient.Known() {
		t.Errorf("the model took %s, want %d gradients; %g is left of the lower one", m.Effort(), steps, m.Gradient)
	}
}
