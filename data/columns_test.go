package data_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/testkit"
)

// TestColumns: named columns go with their rows, are part of the digest, and have a row for
// each example.
func TestColumns(t *testing.T) {
	numbers := func(v ...float64) *ad.Table { return testkit.Get(ad.FloatTable(len(v), 1, v)) }
	e := data.Examples{X: numbers(1, 2, 3, 4), Target: numbers(5, 6, 7, 8),
		Columns: []data.Column{{"state", numbers(0, 1, 0, 2)}}}
	picked := testkit.Get(e.Pick([]int{3, 1}))
	if c := picked.Column("state"); c == nil || c.At(0, 0) != 2 || c.At(1, 0) != 1 || picked.Column("other") != nil {
		t.Errorf("rows 3 and 1 have states %v", picked.Columns)
	}
	task := data.Task{Shards: []data.Shard{{Train: e, Val: e}}, Features: 1}
	testkit.OK(task.Validate())
	held := testkit.Get(data.HoldOut(task, .5, 1)).Shards[0].Holdout
	if c := held.Column("state"); c == nil || c.Rows() != 2 {
		t.Errorf("held-out examples have the columns %v", held.Columns)
	}
	digest := testkit.Get(task.Digest(0))
	for name, columns := range map[string][]data.Column{
		"other numbers": {{"state", numbers(0, 1, 0, 3)}}, "another name": {{"place", numbers(0, 1, 0, 2)}},
		"none": nil,
	} {
		task.Shards[0].Train.Columns = columns
		if testkit.Get(task.Digest(0)) == digest {
			t.Errorf("%s: the digest is the same", name)
		}
	}
	for name, columns := range map[string][]data.Column{
		"too few": {{"state", numbers(0, 1)}}, "nameless": {{"", numbers(0, 1, 0, 2)}}, "missing": {{"state", nil}},
		"twice": {{"state", numbers(0, 1, 0, 2)}, {"state", numbers(0, 1, 0, 2)}},
	} {
		task.Shards[0].Train.Columns = columns
		if err := task.Validate(); !errors.Is(err, dsbo.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPolicyValues: values solve the Bellman equation for the rewards that agents see on average.
func TestPolicyValues(t *testing.T) {
	const S, each, discount = 4, 2000, .5
	c := data.Policy{Agents: 2, States: S, Features: 2, Transitions: each, Discount: discount, Seed: 3}
	task := testkit.Get(c.Task())
	values := make([]float64, S)
	features := make([][]float64, S)
	for s := range S {
		values[s], features[s] = task.Test.Target.At(s, 0), []float64{task.Test.X.At(s, 0), task.Test.X.At(s, 1)}
	}
	// V is linear in the features, of which the first is 1.
	slope := (values[1] - values[0]) / (features[1][1] - features[0][1])
	constant := values[0] - slope*features[0][1]
	e := task.Shards[1].Train
	off := make([]float64, S)
	for i := range e.Len() {
		s := int(e.Column(data.StateColumn).At(i, 0))
		off[s] += (constant*e.X.At(i, 0) + slope*e.X.At(i, 1) - e.Target.At(i, 0)) / each
	}
	for s, v := range off {
		if !(math.Abs(v) <= .15) { // the deviation of a mean of 2000: values spread by some units, noise by 0.1
			t.Errorf("state %d: the mean temporal difference at the true values is %g, want about 0", s, v)
		}
	}
	for _, bad := range []data.Policy{{}, {Agents: 1, States: 2, Features: 3, Transitions: 1},
		{Agents: 1, States: 2, Features: 1, Transitions: 1, Discount: 1},
		{Agents: 1, States: 2, Features: 1, Transitions: 1, Rate: -1}} {
		if _, err := bad.Task(); !errors.Is(err, dsbo.ErrConfig) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// TestClassMeans: the means are over all training examples of a class.
func TestClassMeans(t *testing.T) {
	shard := func(labels []uint8, v ...float64) data.Shard {
		return data.Shard{Train: data.Examples{X: testkit.Get(ad.FloatTable(len(labels), 2, v)),
			Target: testkit.Get(ad.LabelTable(labels, 3))}}
	}
	task := data.Task{Features: 2, Classes: 3,
		Shards: []data.Shard{shard([]uint8{0, 2}, 1, 2, 3, 4), {}, shard([]uint8{2}, 5, 8)}}
	want := []float64{1, 2, 0, 0, 4, 6}
	for i, v := range task.ClassMeans() {
		if v != want[i] {
			t.Errorf("means %v, want %v", task.ClassMeans(), want)
			break
		}
	}
}

// TestClip: no row is longer than the bound, of short ones nothing changes, and directions stay.
func TestClip(t *testing.T) {
	rows := []float64{3, 4, 0.3, 0.4, 0, 0, 1e30, -1e30, 0.66, 0.88, 0.6 * (1 + 5e-7), 0.8 * (1 + 5e-7)}
	e := data.Examples{X: testkit.Get(ad.FloatTable(6, 2, rows)),
		Target: testkit.Get(ad.FloatTable(6, 1, make([]float64, 6)))}
	task := data.Task{Shards: []data.Shard{{Train: e, Val: e}}, Test: e, Features: 2}
	got := testkit.Get(data.Clip(task, 1, []int{0}))
	want := []float64{0.6, 0.8, 0.3, 0.4, 0, 0, math.Sqrt(0.5), -math.Sqrt(0.5), 0.6, 0.8, 0.6, 0.8}
	for name, clipped := range map[string]data.Examples{"training": got.Shards[0].Train,
		"validation": got.Shards[0].Val, "test": got.Shards[0].Test} {
		for i := range 6 {
			a, b := clipped.X.At(i, 0), clipped.X.At(i, 1)
			// 1e-6 is kept from the bound, and float32 rounds by 6e-8.
			if !(math.Abs(a-want[2*i]) <= 1.1e-6) || !(math.Abs(b-want[2*i+1]) <= 1.1e-6) || math.Hypot(a, b) > 1 {
				t.Errorf("%s row %d is (%g, %g), want (%g, %g)", name, i, a, b, want[2*i], want[2*i+1])
			}
		}
	}
	if task.Shards[0].Train.X.At(0, 0) != 3 {
		t.Error("the rows that were given must stay as they are")
	}
	for _, bound := range []float64{0, -1, math.NaN(), 3.5e38} { // rows become float32
		if _, err := data.Clip(task, bound, nil); !errors.Is(err, dsbo.ErrConfig) {
			t.Errorf("a bound of %g: error %v", bound, err)
		}
	}
}

// labelled returns examples of one feature, whose labels are of three classes.
func labelled(x []float64, labels ...uint8) data.Examples {
	return data.Examples{X: testkit.Get(ad.FloatTable(len(x), 1, x)), Target: testkit.Get(ad.LabelTable(labels, 3))}
}

func TestJoin(t *testing.T) {
	a, b := labelled([]float64{1, 2, 3}, 0, 1, 2), labelled([]float64{4, 5}, 2, 0)
	a.ID = []int{7, 8, 9}
	b.X, b.Target = testkit.Get(b.X.Pick([]int{1, 0})), testkit.Get(b.Target.Pick([]int{1, 0})) // rows in another order
	joined := testkit.Get(data.Join(a, b, 20))
	var x []float64
	var labels []int
	for i := range joined.Len() {
		label, ok := joined.Target.Label(i)
		if !ok {
			t.Fatalf("row %d has no label", i)
		}
		x, labels = append(x, joined.X.At(i, 0)), append(labels, label)
	}
	if !slices.Equal(x, []float64{1, 2, 3, 5, 4}) || !slices.Equal(labels, []int{0, 1, 2, 0, 2}) ||
		!slices.Equal(joined.ID, []int{7, 8, 9, 20, 21}) {
		t.Errorf("joined examples are %v with labels %v and IDs %v", x, labels, joined.ID)
	}
}

func TestJoinRefuses(t *testing.T) {
	a := labelled([]float64{1, 2}, 0, 1)
	for name, b := range map[string]data.Examples{
		"features": {X: testkit.Get(ad.FloatTable(1, 2, []float64{1, 2})), Target: a.Target},
		"classes":  {X: a.X, Target: testkit.Get(ad.LabelTable([]uint8{0, 1}, 2))},
		"targets":  {X: a.X, Target: a.X},
		"weights":  {X: a.X, Target: a.Target, Weight: a.X},
	} {
		if _, err := data.Join(a, b, 2); !errors.Is(err, dsbo.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
