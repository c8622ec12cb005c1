package data

import (
	"math"
	"slices"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
)

// column returns the first feature of each example, which names the example in these tests.
func column(e Examples) []float64 {
	var v []float64
	for i := range e.Len() {
		v = append(v, e.X.At(i, 0))
	}
	return v
}

func holdoutTask(t *testing.T) Task {
	t.Helper()
	return testkit.Get(NewTask(labelled(60, 60), Examples{}, Split{Agents: 3, Train: 10, Val: 21, Seed: 4}))
}

// TestHoldOut: a share moves, the rest stays in its order, and no validation example is lost or
// there twice.
func TestHoldOut(t *testing.T) {
	task := holdoutTask(t)
	for _, c := range []struct {
		share float64
		held  int
	}{{1. / 3, 7}, {.2, 4}, {.17, 4}, {.16, 3}, {.001, 1}, {.999, 20}} {
		split := testkit.Get(HoldOut(task, c.share, 9))
		testkit.OK(split.Validate())
		for i, s := range split.Shards {
			if s.Holdout.Len() != c.held || s.Val.Len() != 21-c.held {
				t.Errorf("share %g: agent %d holds out %d and keeps %d of 21, want %d", c.share, i, s.Holdout.Len(),
					s.Val.Len(), c.held)
			}
			both := append(column(s.Val), column(s.Holdout)...)
			slices.Sort(both)
			before := task.Shards[i]
			if !slices.Equal(both, column(before.Val)) || !slices.IsSorted(column(s.Val)) ||
				!slices.IsSorted(column(s.Holdout)) {
				t.Errorf("share %g, agent %d: %v and %v are not the parts of %v", c.share, i, column(s.Val),
					column(s.Holdout), column(before.Val))
			}
			if !slices.Equal(column(s.Train), column(before.Train)) || !slices.Equal(s.Train.ID, before.Train.ID) {
				t.Errorf("share %g, agent %d: the training examples are others", c.share, i)
			}
			for row := range s.Holdout.Len() {
				if l, _ := s.Holdout.Target.Label(row); l != int(s.Holdout.X.At(row, 0))/60 {
					t.Errorf("share %g, agent %d: held-out example %d has the label of another", c.share, i, row)
				}
			}
		}
	}
}

// TestHoldOutIsNamed: the held-out examples are a function of seed and agent, whoever else
// is there.
func TestHoldOutIsNamed(t *testing.T) {
	task := holdoutTask(t)
	all := testkit.Get(HoldOut(task, .5, 1))
	alone := task
	alone.Shards = []Shard{{}, task.Shards[1], {}}
	held := func(t Task, i int) []float64 { return column(t.Shards[i].Holdout) }
	if got := testkit.Get(HoldOut(alone, .5, 1)); !slices.Equal(held(got, 1), held(all, 1)) ||
		!got.Shards[0].isAbsent() {
		t.Errorf("agent 1 alone holds out %v, with others %v", held(got, 1), held(all, 1))
	}
	if slices.Equal(held(testkit.Get(HoldOut(task, .5, 2)), 0), held(all, 0)) {
		t.Error("another seed holds out the same examples")
	}
	places := func(i int) (rows []int) { // agent i's held-out places
		for _, v := range held(all, i) {
			rows = append(rows, slices.Index(column(task.Shards[i].Val), v))
		}
		return rows
	}
	if slices.Equal(places(0), places(1)) {
		t.Errorf("agents 0 and 1 hold out the same places %v", places(0))
	}
	all = testkit.Get(HoldOut(task, .001, 1)) // one example of each agent
	if again := testkit.Get(HoldOut(all, .3, 1)); !slices.Equal(held(again, 0), held(all, 0)) ||
		again.Shards[0].Val.Len() != all.Shards[0].Val.Len() {
		t.Error("what was held out already is split again")
	}
}

// TestHoldOutDigest: without hold-out, a task keeps its digest; with it, it has another one.
func TestHoldOutDigest(t *testing.T) {
	task := holdoutTask(t)
	before := testkit.Get(task.Digest(0))
	if before != "b2663c552c959176" {
		t.Errorf("the digest of a task without hold-out is %s", before)
	}
	if got := testkit.Get(testkit.Get(HoldOut(task, 0, 7)).Digest(0)); got != before {
		t.Errorf("a share of 0 changes the digest from %s to %s", before, got)
	}
	if got := testkit.Get(testkit.Get(HoldOut(task, .5, 7)).Digest(0)); got == before {
		t.Error("a share of 0.5 keeps the digest")
	}
}

func TestHoldOutErrors(t *testing.T) {
	task := holdoutTask(t)
	for _, share := range []float64{-.1, 1, math.NaN()} {
		if _, err := HoldOut(task, share, 0); err == nil {
			t.Errorf("no error for a share of %g", share)
		}
	}
	_, err := HoldOut(task, 1.5, 0)
	wantError(t, "share", err, dsbo.ErrConfig,
		"the held-out share of the validation examples must be at least 0 and less than 1; it is 1.5")
	small := testkit.Get(NewTask(labelled(6), Examples{}, Split{Agents: 2, Train: 2, Val: 1}))
	_, err = HoldOut(small, .5, 0)
	wantError(t, "one example", err, dsbo.ErrConfig,
		"each agent must have at least 2 validation examples to hold some out; agent 0 has 1")
	two := testkit.Get(NewTask(labelled(8), Examples{}, Split{Agents: 2, Train: 2, Val: 2}))
	if got := testkit.Get(HoldOut(two, .9, 0)).Shards[1]; got.Val.Len() != 1 || got.Holdout.Len() != 1 {
		t.Errorf("of two examples %d are held out and %d stay, want one of each", got.Holdout.Len(), got.Val.Len())
	}
	task.Shards = slices.Clone(task.Shards)
	task.Shards[1].Holdout = testkit.Get(Synthetic{Agents: 1, Features: 2, Train: 1, Val: 1, Test: 1}.Task()).Test
	wantError(t, "other features", task.Validate(), dsbo.ErrShape,
		"held-out examples of agent 1: examples must have the task's 1 features; they have 2")
}
