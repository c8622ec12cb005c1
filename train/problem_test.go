package train_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"dsbo"
	"dsbo/ad"
	"dsbo/algo"
	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/network"
	"dsbo/network/networktest"
	"dsbo/runs"
	"dsbo/train"
)

const features, classes = 5, 3

// examples are points around the corners of a simplex, one corner a class.
func examples(t *testing.T, r *rand.Rand, n int) data.Examples {
	t.Helper()
	x, labels := make([]float64, n*features), make([]uint8, n)
	for i := range n {
		labels[i] = uint8(i % classes)
		for j := range features {
			x[i*features+j] = r.NormFloat64()
		}
		x[i*features+i%classes] += 2
	}
	X := testkit.Get(ad.FloatTable(n, features, x))
	T := testkit.Get(ad.LabelTable(labels, classes))
	return data.Examples{X: X, Target: T}
}

func task(t *testing.T) data.Task {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 1))
	return testkit.Get(data.NewTask(examples(t, r, 120), examples(t, r, 31), data.Split{Agents: 4, Train: 17, Val: 11}))
}

// TestCountsAreRepetitions: examples that stand for k rows have the scores, and the comparison of
// two models, of examples that are there k times. Sums differ by their order.
func TestCountsAreRepetitions(t *testing.T) {
	k := func(row int) int { return 1 + row%3 }
	var found [2]train.Scores
	var gains [2][]runs.Gain
	d := task(t)
	for way := range found {
		each := d
		each.Shards = slices.Clone(d.Shards)
		for i := range each.Shards {
			s := &each.Shards[i]
			test := testkit.Get(d.TestPart(i))
			for _, e := range []*data.Examples{&s.Train, &s.Val, &test} {
				var rows []int
				var counts []float64
				for row := range e.Len() {
					rows, counts = append(rows, slices.Repeat([]int{row}, k(row))...), append(counts, float64(k(row)))
				}
				e.ID = nil
				if way == 0 {
					e.Count = testkit.Get(ad.FloatTable(len(counts), 1, counts))
				} else {
					*e = testkit.Get(e.Pick(rows))
				}
			}
			s.Test = test
		}
		m := models.Softmax{Features: features, Classes: classes}
		prob := testkit.Get(train.NewProblem(each, m, models.Config{}))
		a, b := train.Fit{Y: make([]float64, features*classes)}, train.Fit{Y: make([]float64, features*classes)}
		for j := range a.Y {
			a.Y[j], b.Y[j] = float64(j%5)/9, float64(j*j%7)/9
		}
		a.X, b.X = make([]float64, features), make([]float64, features)
		found[way] = testkit.Get(prob.Scores(t.Context(), a))
		gains[way] = testkit.Get(prob.Compare(t.Context(), a, prob, b))
	}
	alike := cmp.Options{cmpopts.EquateApprox(1e-12, 0), cmpopts.EquateNaNs(),
		cmp.Transformer("number", func(n runs.Number) float64 { return float64(n) })}
	for what, diff := range map[string]string{"scores": cmp.Diff(found[1], found[0], alike),
		"gains": cmp.Diff(gains[1], gains[0], alike)} {
		if diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
}

// TestScores: losses and accuracies over all agents are taken over all examples together, counted
// by hand.
func TestScores(t *testing.T) {
	d := task(t)
	prob := testkit.Get(train.NewProblem(d, models.Softmax{Features: features, Classes: classes},
		models.Config{Float32: true}))
	r := rand.New(rand.NewPCG(2, 2))
	y := make([]float64, features*classes)
	for i := range y {
		y[i] = r.NormFloat64()
	}
	got := testkit.Get(prob.Scores(context.Background(), train.Fit{X: make([]float64, features), Y: y}))
	var shards [2][]data.Examples
	for _, s := range d.Shards {
		shards[0], shards[1] = append(shards[0], s.Train), append(shards[1], s.Val)
	}
	for name, c := range map[string]struct {
		got train.Score
		of  []data.Examples
	}{"training": {got.Train, shards[0]}, "validation": {got.Val, shards[1]},
		"test": {got.Test, []data.Examples{d.Test}}} {
		loss, hits, n := 0.0, 0.0, 0.0
		for _, e := range c.of {
			for i := range e.Len() {
				l, hit := byHand(e, i, y)
				loss, hits, n = loss+l, hits+hit, n+1
			}
		}
		// Sums of at most 68 terms of about 1, in float64.
		if !(math.Abs(c.got.Loss()-loss/n) <= 1e-13) || !(math.Abs(c.got.Accuracy()-hits/n) <= 1e-13) {
			t.Errorf("%s: %+v, want loss %g and accuracy %g", name, c.got, loss/n, hits/n)
		}
	}
}

// TestLosses: both losses are means over the agents; they are not known without values.
func TestLosses(t *testing.T) {
	prob, qs := quadratics(1)
	m, want := train.Fit{X: make([]float64, p), Y: []float64{1, 2, 3, 4, 5, 6}}, [2]float64{}
	for _, o := range qs {
		upper, lower := testkit.Get2(o.Values(m.X, m.Y, dsbo.Sample{Set: dsbo.Whole}))
		want[0], want[1] = want[0]+upper/agents, want[1]+lower/agents
	}
	upper, lower := testkit.Get2(prob.Losses(t.Context(), m))
	near(t, "losses", []float64{upper, lower}, want[:], 1e-12)
	prob.Evaluate = nil
	if upper, lower = testkit.Get2(prob.Losses(t.Context(), m)); !math.IsNaN(upper) || !math.IsNaN(lower) {
		t.Errorf("losses %v and %v of oracles that give none", upper, lower)
	}
}

// byHand is the cross-entropy of one example, and 1 if the largest logit is right.
func byHand(e data.Examples, i int, y []float64) (loss, hit float64) {
	logits, sum, best, right := make([]float64, classes), 0.0, 0, 0
	for k := range classes {
		for j := range features {
			logits[k] += y[k*features+j] * e.X.At(i, j)
		}
		sum += math.Exp(logits[k])
		if logits[k] > logits[best] {
			best = k
		}
		if e.Target.At(i, k) == 1 {
			right = k
		}
	}
	if best == right {
		hit = 1
	}
	return math.Log(sum) - logits[right], hit
}

// TestModelRun: a model of float32 runs and falls; its evaluation is in float64, exact to
// its tolerance.
func TestModelRun(t *testing.T) {
	ring := testkit.Get(network.Ring(4, 0.5))
	c := train.Config{
		W: ring.W, K: 30, EvalEvery: 30, Tol: 1e-10,
		Method: &algo.MADSBO{Alpha: "0.5", Beta: "0.3", Gamma: "0.3"},
	}
	var phi [2]runs.Number
	for i, single := range []bool{false, true} {
		c.Problem = testkit.Get(train.NewProblem(task(t), models.Softmax{Features: features, Classes: classes},
			models.Config{Seed: 3, Batch: 9, Float32: single}))
		r := run(t, c)
		first, last := r.Records[0], r.Last()
		if !(last.Phi < first.Phi) || !(last.TestLoss < first.TestLoss) || !(last.TestAccuracy > 0.7) ||
			last.LowerResidual > 1e-10 {
			t.Errorf("float32 %t: from %+v to %+v", single, first, last)
		}
		all := testkit.Get(c.Problem.Scores(t.Context(), train.Fit{X: r.X, Y: r.Y}))
		for _, of := range []struct {
			score    train.Score
			loss, is runs.Number
		}{{all.Train, last.TrainLoss, last.TrainAccuracy}, {all.Val, last.ValLoss, last.ValAccuracy},
			{all.Test, last.TestLoss, last.TestAccuracy}} {
			if loss, accuracy := of.score.Numbers(); loss != of.loss || accuracy != of.is {
				t.Errorf("the record has loss %v and accuracy %v, want %v and %v", of.loss, of.is, loss, accuracy)
			}
		}
		phi[i] = last.Phi
	}
	if phi[0] == phi[1] || !(math.Abs(float64(phi[0]-phi[1])) <= 1e-5) {
		t.Errorf("Φ = %v in float64 and %v in float32: want a little difference", phi[0], phi[1])
	}
}

func TestNewProblem(t *testing.T) {
	mlp := models.MLP{Features: features, Outputs: classes, Hidden: []int{4}, Seed: 7}
	prob := testkit.Get(train.NewProblem(task(t), mlp, models.Config{}))
	want := make([]float64, len(prob.Start))
	mlp.Start(want)
	near(t, "start", prob.Start, want, 0)
	r, err := train.Run(context.Background(),
		train.Config{Problem: prob, W: testkit.Get(network.Server(4)).W, K: 1, Evaluate: train.EvaluateOff})
	if err != nil || r.Last().Phi.Known() || !r.Last().ValAccuracy.Known() {
		t.Errorf("%+v, %v: want scores without Φ", r, err)
	}
	if _, err := train.NewProblem(task(t), models.Softmax{Features: features + 1, Classes: classes},
		models.Config{}); !errors.Is(err, dsbo.ErrShape) || !strings.Contains(err.Error(), "agent 0") {
		t.Errorf("%v, want that the features do not fit", err)
	}
	if _, err := train.NewProblem(data.Task{Shards: []data.Shard{{}}}, mlp, models.Config{}); err == nil {
		t.Error("a task without examples: want an error")
	}
}

// TestPrivateShards: processes that hold the examples of their own agents alone find what one
// process with all examples finds, to the bit.
func TestPrivateShards(t *testing.T) {
	ring := testkit.Get(network.Ring(4, 0.5))
	all, m := task(t), models.Softmax{Features: features, Classes: classes}
	c := train.Config{
		W: ring.W, K: 6, EvalEvery: 3,
		Method: &algo.MADSBO{Alpha: "0.5", Beta: "0.3", Gamma: "0.3"},
	}
	c.Problem = testkit.Get(train.NewProblem(all, m, models.Config{Batch: 9}))
	want := run(t, c)
	teams, closeAll := networktest.Processes(ring.W, []int{0, 2}, []int{1, 3})
	defer closeAll()
	var cs []train.Config
	for _, team := range teams {
		own := all
		own.Shards, own.AllTrainRows = make([]data.Shard, 4), all.TrainRows() // its examples have IDs
		for _, i := range team.Local() {
			own.Shards[i] = all.Shards[i]
		}
		c := c
		c.Problem = testkit.Get(train.NewProblem(own, m, models.Config{Batch: 9}, team.Local()...))
		c.Problem.Team = team
		cs = append(cs, c)
	}
	results, errs := collective(cs, runAll)
	testkit.OK(errors.Join(errs...))
	for k, got := range results {
		near(t, "x", got.X, want.X, 0)
		near(t, "y", got.Y, want.Y, 0)
		if diff := cmp.Diff(want.Last().Timeless(), got.Last().Timeless(), nanEqual); diff != "" {
			t.Errorf("last record of process %d:\n%s", k, diff)
		}
	}
	absent := all
	absent.Shards = []data.Shard{{}, all.Shards[1], {}, {}}
	if _, err := train.NewProblem(absent, m, models.Config{}); err == nil ||
		!strings.Contains(err.Error(), "agent 0") {
		t.Errorf("%v, want that a process with all agents needs the examples of agent 0", err)
	}
	if _, err := train.NewProblem(absent, m, models.Config{}, teams[1].Local()...); !errors.Is(err, dsbo.ErrShape) ||
		!strings.Contains(err.Error(), "AllTrainRows must be given") {
		t.Errorf("%v, want that the number of all training examples is missing", err)
	}
}
