package data

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"dsbo"
	"dsbo/ad"
	"dsbo/internal/testkit"
)

// labelled returns examples with one feature, the row number, and the given number of each label.
func labelled(counts ...int) Examples {
	var labels []uint8
	for l, n := range counts {
		for range n {
			labels = append(labels, uint8(l))
		}
	}
	x := make([]float64, len(labels))
	for i := range x {
		x[i] = float64(i)
	}
	return Examples{X: testkit.Get(ad.FloatTable(len(x), 1, x)),
		Target: testkit.Get(ad.LabelTable(labels, len(counts)))}
}

// wantError wants an error of a kind, and its whole text.
func wantError(t *testing.T, name string, err, kind error, text string) {
	t.Helper()
	if err == nil || err.Error() != text || !errors.Is(err, kind) {
		t.Errorf("%s: error %q, want %q that matches %v", name, err, text, kind)
	}
}

// labelCounts returns how often each label occurs.
func labelCounts(e Examples) []int {
	counts := make([]int, e.Target.Cols())
	for i := range e.Len() {
		l, _ := e.Target.Label(i)
		counts[l]++
	}
	return counts
}

// checkSplit checks the invariants of every split.
func checkSplit(t interface{ Fatalf(string, ...any) }, task Task, agents, train, val int) {
	if len(task.Shards) != agents {
		t.Fatalf("%d shards, want %d", len(task.Shards), agents)
	}
	seen := map[float64]bool{}
	id := 0
	for i, s := range task.Shards {
		if s.Train.Len() != train || s.Val.Len() != val {
			t.Fatalf("agent %d has %d and %d examples, want %d and %d", i, s.Train.Len(), s.Val.Len(), train, val)
		}
		for _, e := range []Examples{s.Train, s.Val} {
			for j := range e.Len() {
				row := e.X.At(j, 0)
				if seen[row] {
					t.Fatalf("agent %d: example %g is dealt twice", i, row)
				}
				seen[row] = true
				if j > 0 && row < e.X.At(j-1, 0) {
					t.Fatalf("agent %d: rows not in the order of memory", i)
				}
			}
		}
		for _, got := range s.Train.ID {
			if got != id {
				t.Fatalf("agent %d: training ID %d, want %d", i, got, id)
			}
			id++
		}
		if s.Train.Target.Cols() == 1 {
			continue
		}
		a, b := labelCounts(s.Train), labelCounts(s.Val)
		for l := range a {
			want := float64(a[l]+b[l]) * float64(train) / float64(train+val)
			if math.Abs(float64(a[l])-want) >= 1 {
				t.Fatalf("agent %d: %d of label %d to train on, want about %.2f", i, a[l], l, want)
			}
		}
	}
	testkit.OK(task.Validate())
}

func TestSplitDefaults(t *testing.T) {
	e := labelled(592, 674, 596, 613, 584, 542, 592, 627, 585, 595) // MNIST at a tenth
	for _, c := range []struct {
		split       Split
		n, tr, va   int
		description string
	}{
		{Split{}, 8, 375, 375, "the paper's, at a tenth"},
		{Split{Agents: 3}, 3, 1000, 1000, "three agents"},
		{Split{Train: 25}, 8, 25, 375, "small training sets"},
		{Split{Val: 1}, 8, 375, 1, "one validation example"},
		{Split{Agents: 1, Train: 5999, Val: 1}, 1, 5999, 1, "all of the data"},
		{Split{Partition: Partition{Labels: 3}}, 8, 375, 375,
			"three labels an agent: the whole of MNIST's proportions can be dealt"},
		{Split{Partition: Partition{Dirichlet: .3}}, 8, 375, 375, "skewed"},
		{Split{Partition: Partition{Dirichlet: .001}}, 8, 375, 375, "very skewed"},
	} {
		task, err := NewTask(e, e, c.split)
		if err != nil {
			t.Errorf("%s: %v", c.description, err)
			continue
		}
		checkSplit(t, task, c.n, c.tr, c.va)
		if task.Features != 1 || task.Classes != 10 || task.TrainRows() != c.n*c.tr {
			t.Errorf("%s: %d features, %d classes, %d training rows", c.description, task.Features, task.Classes,
				task.TrainRows())
		}
	}
}

// TestWithoutTargets: examples that have no targets are dealt out, and have a name by their rows.
func TestWithoutTargets(t *testing.T) {
	task := testkit.Get(NewTask(Examples{X: labelled(20).X}, Examples{}, Split{Agents: 4, Seed: 1}))
	for i, s := range task.Shards {
		if s.Train.Len() == 0 || s.Val.Len() == 0 || s.Train.Target != nil || s.Val.Target != nil {
			t.Errorf("agent %d has %d and %d examples, want some of both, without targets",
				i, s.Train.Len(), s.Val.Len())
		}
	}
}

func TestSplitIsDeterministic(t *testing.T) {
	e := labelled(300, 300, 200)
	for _, p := range []Partition{{}, {Dirichlet: .5}, {Labels: 2}} {
		rows := func(seed uint64) (all []float64) {
			task := testkit.Get(NewTask(e, Examples{}, Split{Agents: 4, Seed: seed, Partition: p}))
			for _, s := range task.Shards {
				for i := range s.Train.Len() {
					all = append(all, s.Train.X.At(i, 0))
				}
			}
			return all
		}
		if !slices.Equal(rows(1), rows(1)) {
			t.Errorf("%v: the same seed gave two splits", p)
		}
		if slices.Equal(rows(1), rows(2)) {
			t.Errorf("%v: two seeds gave the same split", p)
		}
	}
}

// Random sizes and supplies: the requested split is given, or the error has the possible one.
func TestSplitByLabels(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		counts := rapid.SliceOfN(rapid.IntRange(4, 60), 2, 6).Draw(r, "counts")
		e := labelled(counts...)
		c := Split{
			Agents:    rapid.IntRange(1, 4).Draw(r, "agents"),
			Partition: Partition{Labels: rapid.IntRange(1, len(counts)).Draw(r, "labels")},
			Seed:      rapid.Uint64().Draw(r, "seed"),
		}
		task := testkit.Get(NewTask(e, Examples{}, c))
		half := task.Shards[0].Train.Len()
		checkSplit(r, task, c.Agents, half, half)
		for i, s := range task.Shards {
			held := 0
			for l, n := range labelCounts(s.Train) {
				if n+labelCounts(s.Val)[l] > 0 {
					held++
				}
			}
			if held > c.Partition.Labels {
				r.Fatalf("agent %d holds %d labels, want at most %d", i, held, c.Partition.Labels)
			}
		}
	})
}

// bestSize is a dumb twin of allocate: by Hall's theorem every agent can have s examples if and
// only if every set of agents has at least s examples a head among its labels.
func bestSize(laws [][]float64, supply []int) int {
	best := math.MaxInt
	for set := 1; set < 1<<len(laws); set++ {
		agents, have := 0, 0
		held := make([]bool, len(supply))
		for i, law := range laws {
			if set>>i&1 == 1 {
				agents++
				for l, w := range law {
					held[l] = held[l] || w > 0
				}
			}
		}
		for l, h := range held {
			if h {
				have += supply[l]
			}
		}
		best = min(best, have/agents)
	}
	return best
}

func TestAllocateReachesTheMost(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		agents, labels := rapid.IntRange(1, 5).Draw(r, "agents"), rapid.IntRange(1, 5).Draw(r, "labels")
		supply := rapid.SliceOfN(rapid.IntRange(0, 30), labels, labels).Draw(r, "supply")
		laws := make([][]float64, agents)
		for i := range laws {
			laws[i] = rapid.SliceOfN(rapid.SampledFrom([]float64{0, 1, .01}), labels, labels).Draw(r, "law")
		}
		quotas, got := allocate(newRand(1, streamSplit), laws, supply, 1000)
		if want := bestSize(laws, supply); got != want {
			r.Fatalf("every agent has %d, want %d", got, want)
		}
		for l := range labels {
			used := 0
			for i := range agents {
				if quotas[i][l] < 0 || quotas[i][l] > 0 && laws[i][l] == 0 {
					r.Fatalf("agent %d has %d of label %d with weight %g", i, quotas[i][l], l, laws[i][l])
				}
				used += quotas[i][l]
			}
			if used > supply[l] {
				r.Fatalf("%d of label %d are dealt, there are %d", used, l, supply[l])
			}
		}
	})
}

// A small parameter means that most of an agent's examples have one label.
func TestDirichletSkew(t *testing.T) {
	e := labelled(600, 600, 600, 600, 600)
	largest := func(a float64) float64 {
		task := testkit.Get(NewTask(e, e, Split{Agents: 5, Train: 50, Val: 50, Partition: Partition{Dirichlet: a}}))
		sum := 0.0
		for _, s := range task.Shards {
			sum += float64(slices.Max(labelCounts(s.Train))) / 50
		}
		return sum / 5
	}
	if skewed, even := largest(.01), largest(1e6); skewed < .9 || even > .4 {
		t.Errorf("mean share of an agent's commonest label: %.2f for parameter 0.01, %.2f for 1e6", skewed, even)
	}
}

func TestSplitErrors(t *testing.T) {
	e := labelled(10, 10, 10)
	real := Examples{X: e.X, Target: testkit.Get(ad.FloatTable(30, 1, make([]float64, 30)))}
	for _, c := range []struct {
		name  string
		e     Examples
		split Split
		kind  error
		text  string
	}{
		{"agents", e, Split{Agents: -1}, dsbo.ErrConfig,
			"the number of agents must be at least 1, or 0 for the default; it is -1"},
		{"train", e, Split{Train: -1}, dsbo.ErrConfig,
			"the number of training examples of each agent must be at least 1, or 0 for the default; it is -1"},
		{"val", e, Split{Val: -2}, dsbo.ErrConfig,
			"the number of validation examples of each agent must be at least 1, or 0 for the default; it is -2"},
		{"too many agents", e, Split{Agents: 16}, dsbo.ErrConfig,
			"each agent must have at least 2 examples; 16 agents share 30"},
		{"absurd agents", e, Split{Agents: math.MaxInt}, dsbo.ErrConfig,
			"each agent must have at least 2 examples; 9223372036854775807 agents share 30"},
		{"too much", e, Split{Agents: 3, Train: 6, Val: 5}, dsbo.ErrConfig,
			"an agent can have at most 10 examples of 30 that 3 agents share, split iid; it is to have 6 training " +
				"and 5 validation examples"},
		{"none for validation", labelled(3, 3), Split{Agents: 3, Train: 1, Partition: Partition{Labels: 1}},
			dsbo.ErrConfig,
			"an agent can have at most 1 examples of 6 that 3 agents share, split labels:1; it is to have 1 training " +
				"and 0 validation examples"},
		{"absurd size", e, Split{Agents: 3, Train: math.MaxInt, Val: math.MaxInt}, dsbo.ErrConfig,
			"an agent can have at most 10 examples of 30 that 3 agents share, split iid; it is to have " +
				"9223372036854775807 training and 9223372036854775807 validation examples"},
		{"too much of one label", e, Split{Agents: 2, Train: 6, Val: 5, Partition: Partition{Labels: 1}},
			dsbo.ErrConfig,
			"an agent can have at most 10 examples of 30 that 2 agents share, split labels:1; it is to have 6 " +
				"training and 5 validation examples"},
		{"labels", e, Split{Agents: 2, Partition: Partition{Labels: 4}}, dsbo.ErrConfig,
			"partition labels:4 needs data with as many labels; they have 3"},
		{"no classes", real, Split{Agents: 2, Partition: Partition{Dirichlet: 1}}, dsbo.ErrConfig,
			"partition dirichlet:1 needs data with class labels; without them it must be iid"},
		{"nothing", Examples{}, Split{}, dsbo.ErrShape,
			"a split needs at least one example, and a target for each; there are 0 examples"},
		{"fewer targets", Examples{X: labelled(10).X, Target: real.Target}, Split{}, dsbo.ErrShape,
			"a split needs at least one example, and a target for each; there are 10 examples"},
		{"none to train on", labelled(3, 3), Split{Agents: 3, Val: 1, Partition: Partition{Labels: 1}}, dsbo.ErrConfig,
			"an agent can have at most 1 examples of 6 that 3 agents share, split labels:1; it is to have 0 training " +
				"and 1 validation examples"},
	} {
		_, err := NewTask(c.e, Examples{}, c.split)
		wantError(t, c.name, err, c.kind, c.text)
	}
	testkit.Get(NewTask(e, e, Split{Agents: 3, Train: 1, Val: 1}))
	if task, err := NewTask(real, real, Split{Agents: 3}); err != nil || task.Classes != 0 {
		t.Errorf("targets that are numbers: %d classes, %v", task.Classes, err)
	}
}

func TestTaskValidate(t *testing.T) {
	e := labelled(10, 10)
	fresh := func() Task {
		return testkit.Get(NewTask(e, e, Split{Agents: 2}))
	}
	other := Examples{X: testkit.Get(ad.FloatTable(10, 2, make([]float64, 20))), Target: e.Target}
	for _, c := range []struct {
		name   string
		change func(*Task)
		text   string
	}{
		{"no agents", func(t *Task) { t.Shards = nil }, "a task needs at least one agent"},
		{"no validation", func(t *Task) { t.Shards[1].Val = Examples{} },
			"validation examples of agent 1: there must be at least one"},
		{"features", func(t *Task) { t.Shards[0].Train = other },
			"training examples of agent 0: examples must have the task's 1 features; they have 2"},
		{"classes", func(t *Task) { t.Classes = 3 },
			"training examples of agent 0: targets must have a column for each of the task's 3 classes, or one " +
				"column where it has 0; they have 2"},
		{"targets", func(t *Task) { t.Test.Target = t.Shards[0].Val.Target },
			"test examples: each of 20 examples must have a target; there are 5"},
		{"no test features", func(t *Task) { t.Test.X = nil }, "test examples: there must be at least one"},
		{"too few IDs", func(t *Task) { t.Shards[0].Train.ID = []int{0} },
			"training examples of agent 0: each of 5 examples must have an ID; there are 1"},
		{"ID twice", func(t *Task) { t.Shards[1].Train.ID[0] = 1 },
			"IDs of training examples must be those of 0 to 9, each once; row 0 of agent 1 has 1"},
		{"ID beyond", func(t *Task) { t.Shards[1].Train.ID[4] = 10 },
			"IDs of training examples must be those of 0 to 9, each once; row 4 of agent 1 has 10"},
	} {
		task := fresh()
		c.change(&task)
		wantError(t, c.name, task.Validate(), dsbo.ErrShape, c.text)
	}
	// The process of agent 1 has the examples of no other agent.
	alone := fresh()
	alone.Shards[0] = Shard{}
	wantError(t, "all agents", alone.Validate(), dsbo.ErrShape,
		"training examples of agent 0: there must be at least one")
	wantError(t, "agent 1", alone.Validate(1), dsbo.ErrShape,
		"AllTrainRows must be given: training examples of agent 1 have IDs, and those of agent 0 are absent")
	alone.AllTrainRows = 10
	if err := alone.Validate(1); err != nil || alone.TrainRows() != 10 {
		t.Errorf("agent 1 of %d training examples: %v", alone.TrainRows(), err)
	}
	alone.Shards[1].Test = alone.Shards[1].Val
	if part, err := alone.TestPart(1); err != nil || part.X != alone.Shards[1].Val.X {
		t.Errorf("test examples of agent 1: %v, %v; want its own", part, err)
	}
	task := fresh()
	task.Test = Examples{}
	if err := task.Validate(); err != nil {
		t.Errorf("a task without a test set: %v", err)
	}
}

// TestLastOfALabel: an example that is the only one left of its label is given as others are, and
// none of a label that the agent's law leaves out.
func TestLastOfALabel(t *testing.T) {
	quotas, got := allocate(newRand(1, streamSplit), [][]float64{{1, 1, 0}}, []int{1, 1, 1}, 9)
	if got != 2 || !slices.Equal(quotas[0], []int{1, 1, 0}) {
		t.Errorf("%d examples, %v", got, quotas)
	}
}
