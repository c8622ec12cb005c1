package data

import (
	"math"
	"testing"

	"dsbo"
	"dsbo/ad"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
)

func numbersOf(t *ad.Table) []float64 {
	var v []float64
	for i := range t.Rows() {
		for j := range t.Cols() {
			v = append(v, t.At(i, j))
		}
	}
	return v
}

// With M numbers the mean of x² is i²r² up to six standard errors, i²r²√(2/M), and the mean of x
// is 0 up to six of ir/√M.
func TestSyntheticIsThePapers(t *testing.T) {
	c := Synthetic{Agents: 3, Features: 40, Rate: .5, Seed: 9}
	task := testkit.Get(c.Task())
	if task.Features != 40 || task.Classes != 0 || task.Test.Len() != 1500 || len(task.Shards) != 3 {
		t.Fatalf("%d features, %d classes, %d test examples, %d agents", task.Features, task.Classes, task.Test.Len(),
			len(task.Shards))
	}
	w := c.truth()
	for i, s := range task.Shards {
		for _, e := range []Examples{s.Train, s.Val} {
			x := numbersOf(e.X)
			m, sd := float64(len(x)), .5*float64(i+1)
			sum := 0.0
			for _, v := range x {
				sum += v
			}
			if mean := sum / m; !(math.Abs(mean) <= 6*sd/math.Sqrt(m)) {
				t.Errorf("agent %d: mean %g of the features", i, mean)
			}
			if got := linalg.Dot(x, x) / m; !(math.Abs(got/(sd*sd)-1) <= 6*math.Sqrt(2/m)) {
				t.Errorf("agent %d: mean square %g of the features, want %g", i, got, sd*sd)
			}
			// The noise of 0.1 is small beside the margins, whose deviation is about √40·sd: a
			// label differs from the sign of the margin in 0.1/(π√40·sd), 1 %, of the examples.
			differ := 0
			for j := range e.Len() {
				target := e.Target.At(j, 0)
				if target != 1 && target != -1 {
					t.Fatalf("agent %d: target %g", i, target)
				}
				if linalg.Dot(x[j*40:(j+1)*40], w)*target < 0 {
					differ++
				}
			}
			if differ > 25 {
				t.Errorf("agent %d: %d of 500 labels differ from the sign of the margin", i, differ)
			}
		}
	}
}

// TestRealLabels: a label as the paper prints it is the margin with a noise of 0.1, within 6
// deviations, and its sign is the label of the same example otherwise.
func TestRealLabels(t *testing.T) {
	signs := Synthetic{Agents: 2, Features: 7, Train: 50, Val: 5, Test: 5, Seed: 3}
	real := signs
	real.Real = true
	a, b, far := testkit.Get(signs.Task()), testkit.Get(real.Task()), 0.0
	for i, s := range b.Shards {
		x := numbersOf(s.Train.X)
		for j, target := range numbersOf(s.Train.Target) {
			off := target - linalg.Dot(x[7*j:7*j+7], real.truth())
			if far = max(far, math.Abs(off)); !(math.Abs(off) <= 0.6) || target*a.Shards[i].Train.Target.At(j, 0) <= 0 {
				t.Errorf("agent %d, row %d: label %g, %g from x·w*; its sign elsewhere is %g", i, j, target, off,
					a.Shards[i].Train.Target.At(j, 0))
			}
		}
	}
	if far < 0.1 { // of 100, the largest is 0.25 about
		t.Errorf("the labels have a noise of %g at most", far)
	}
}

func TestSyntheticAgentsAlone(t *testing.T) {
	c := Synthetic{Agents: 4, Features: 3, Train: 7, Val: 6, Test: 5, Seed: 1}
	task := testkit.Get(c.Task())
	equal := func(what string, a, b Examples) {
		t.Helper()
		x, y := append(numbersOf(a.X), numbersOf(a.Target)...), append(numbersOf(b.X), numbersOf(b.Target)...)
		if len(x) != len(y) || linalg.Dist2(x, y) != 0 {
			t.Errorf("%s differ", what)
		}
	}
	more := c
	more.Train, more.Agents = 70, 5
	for i, s := range task.Shards {
		alone := testkit.Get(c.Shard(i))
		equal("training examples made alone", s.Train, alone.Train)
		equal("validation examples made alone", s.Val, alone.Val)
		equal("test examples made alone", testkit.Get(task.TestPart(i)), alone.Test)
		if alone.Train.ID[6] != 7*i+6 {
			t.Errorf("agent %d: last ID %d, want %d", i, alone.Train.ID[6], 7*i+6)
		}
		longer := testkit.Get(more.Shard(i))
		equal("validation examples beside more training examples", s.Val, longer.Val)
	}
	if a, b := numbersOf(task.Shards[0].Train.X), numbersOf(task.Shards[0].Val.X); a[0] == b[0] {
		t.Error("training and validation examples are the same")
	}
	other := c
	other.Seed = 2
	if a, b := c.truth(), other.truth(); a[0] == b[0] {
		t.Error("two seeds gave the same truth")
	}
}

func TestSyntheticErrors(t *testing.T) {
	for _, c := range []struct {
		config Synthetic
		text   string
	}{
		{Synthetic{Agents: -1}, "the number of agents must be at least 1, or 0 for the default; it is -1"},
		{Synthetic{Test: -5},
			"the number of test examples an agent must be at least 1, or 0 for the default; it is -5"},
		{Synthetic{Rate: math.NaN()}, "the heterogeneity rate must be positive and finite; it is NaN"},
		{Synthetic{Rate: math.Inf(1)}, "the heterogeneity rate must be positive and finite; it is +Inf"},
		{Synthetic{Noise: -.1}, "the label noise must be positive and finite; it is -0.1"},
		{Synthetic{Features: 1 << 40},
			"all examples together must take less than 1024 GiB; 8 agents with 1500 examples of 1099511627776 " +
				"features take 98304000 GiB"},
	} {
		_, err := c.config.Task()
		wantError(t, "task", err, dsbo.ErrConfig, c.text)
	}
	if _, err := (Synthetic{}).Shard(8); err == nil || err.Error() != "the agent must be from 0 to 7; it is 8" {
		t.Errorf("agent 8 of 0 to 7: %v", err)
	}
}

func TestMislabel(t *testing.T) {
	e := labelled(50, 50, 50)
	noisy, wrong := testkit.Get2(Mislabel(e, .25, 1, 2))
	if len(wrong) != 38 {
		t.Errorf("%d wrong labels of 150, want a quarter", len(wrong))
	}
	listed := map[int]bool{}
	for _, i := range wrong {
		listed[i] = true
	}
	for i := range e.Len() {
		was, _ := e.Target.Label(i)
		is, _ := noisy.Target.Label(i)
		if (was != is) != listed[i] {
			t.Errorf("row %d: label %d for %d, listed as wrong %t", i, is, was, listed[i])
		}
	}
	if _, other, err := Mislabel(e, .25, 1, 3); err != nil || other[0] == wrong[0] && other[1] == wrong[1] &&
		other[2] == wrong[2] {
		t.Errorf("two agents have the same wrong labels (%v)", err)
	}
	if all, wrong, err := Mislabel(e, 1, 1, 0); err != nil || len(wrong) != 150 || labelCounts(all)[0] == 50 {
		t.Errorf("all wrong: %d of 150, %v", len(wrong), err)
	}
	if none, wrong, err := Mislabel(e, 0, 1, 0); err != nil || len(wrong) != 0 || none.X != e.X {
		t.Errorf("none wrong: %d of 150, %v", len(wrong), err)
	}
	one := labelled(3)
	for _, c := range []struct {
		e     Examples
		share float64
		text  string
	}{
		{e, -.01, "the share of wrong labels must be from 0 to 1; it is -0.01"},
		{e, 1.5, "the share of wrong labels must be from 0 to 1; it is 1.5"},
		{e, math.NaN(), "the share of wrong labels must be from 0 to 1; it is NaN"},
		{one, .5, "wrong labels need data with class labels"},
		{Examples{X: e.X, Target: testkit.Get(ad.FloatTable(150, 2, make([]float64, 300)))}, .5,
			"wrong labels need data with class labels"},
	} {
		if _, _, err := Mislabel(c.e, c.share, 0, 0); err == nil || err.Error() != c.text {
			t.Errorf("error %q, want %q", err, c.text)
		}
	}
}
