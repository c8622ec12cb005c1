package data

import (
	"errors"
	"slices"
	"testing"

	"dsbo"
	"dsbo/ad"
	"dsbo/internal/testkit"
)

// weigh gives each example the weight that its first feature is.
func weigh(e Examples) Examples {
	e.Weight = testkit.Get(ad.FloatTable(e.Len(), 1, column(e)))
	return e
}

// TestWeightsStayWithTheirExamples: through splits, hold-outs and parts of a test set.
func TestWeightsStayWithTheirExamples(t *testing.T) {
	task := testkit.Get(NewTask(weigh(labelled(60, 60)), weigh(labelled(9, 9)),
		Split{Agents: 3, Train: 10, Val: 21, Seed: 4}))
	task = testkit.Get(HoldOut(task, .3, 9))
	testkit.OK(task.Validate())
	for i, s := range task.Shards {
		for name, e := range map[string]Examples{"train": s.Train, "val": s.Val, "holdout": s.Holdout,
			"test": testkit.Get(task.TestPart(i))} {
			var weights []float64
			for row := range e.Len() {
				weights = append(weights, e.Weight.At(row, 0))
			}
			if e.Len() == 0 || !slices.Equal(weights, column(e)) {
				t.Errorf("agent %d, %s: weights %v of examples %v", i, name, weights, column(e))
			}
		}
	}
}

func TestDigestOfWeights(t *testing.T) {
	plain, heavy := holdoutTask(t), holdoutTask(t)
	heavy.Shards[1].Val = weigh(heavy.Shards[1].Val)
	for i := range plain.Shards {
		if same := testkit.Get(plain.Digest(i)) == testkit.Get(heavy.Digest(i)); same != (i != 1) {
			t.Errorf("agent %d, where agent 1 has weights: the same digest is %v", i, same)
		}
	}
}

func TestBadWeights(t *testing.T) {
	for _, c := range []struct {
		weight *ad.Table
		kind   error
		says   string
	}{
		{testkit.Get(ad.FloatTable(9, 1, make([]float64, 9))), dsbo.ErrShape,
			"validation examples of agent 0: each of 21 examples must have a weight; there are 9"},
		{testkit.Get(ad.FloatTable(21, 2, append(make([]float64, 41), -1))), dsbo.ErrConfig,
			"validation examples of agent 0: a weight must be at least 0; that of example 20 is -1"},
		{testkit.Get(ad.FloatTable(21, 1, append(make([]float64, 20), -.5))), dsbo.ErrConfig,
			"validation examples of agent 0: a weight must be at least 0; that of example 20 is -0.5"},
	} {
		task := holdoutTask(t)
		task.Shards[0].Val.Weight = c.weight
		if err := task.Validate(); !errors.Is(err, c.kind) || err.Error() != c.says {
			t.Errorf("error is %v, want %q", err, c.says)
		}
	}
}
