package experimenttest

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsbo/algo"
	"dsbo/experiment"
	"dsbo/network"
	"dsbo/runs"
)

// TestTask proves that commands can run a task: its words and presets are there, its flags set
// their defaults each time, its data depend on flags, agents and seed alone, a process that has one
// agent loads for it what a process of all loads, and nothing of others, and a run with each preset
// finishes and can be told from its folder. small are flags for runs of moments, for three agents
// at most.
func TestTask(t *testing.T, task experiment.Task, small ...string) {
	t.Helper()
	if task.Name == "" || strings.ContainsAny(task.Name, " /\n") {
		t.Errorf("Name must be one word that can begin a folder's name; it is %q", task.Name)
	}
	if first, _, _ := strings.Cut(task.About, "\n"); first == "" {
		t.Error("the first line of About must say what the task does")
	}
	t.Run("data", func(t *testing.T) { testData(t, task, small) })
	t.Run("preset tuned", func(t *testing.T) { testRun(t, task, append(slices.Clone(small), "-agents=3")) })
	for _, p := range task.Presets {
		t.Run("preset "+p.Name, func(t *testing.T) { testRun(t, task, withPreset(small, p)) })
	}
}

// testData compares what is loaded for all agents, for them again after the flags were read once
// more, and for one of them by the common results of the first load. Digests of all agents must
// differ, and agents that are not here must have no examples.
func testData(t *testing.T, task experiment.Task, small []string) {
	const agents, one = 3, 1 // their number, and the one that is alone in its process
	together := network.NewGroup(network.GroupConfig{N: agents}).Bound(t.Context())
	all := experiment.Recorded(together)
	digests := func(c network.Collective, here ...int) []string {
		if _, err := experiment.Parse(task, small, io.Discard); err != nil {
			t.Fatal(err)
		}
		d, m, err := task.Load(experiment.Agents{N: agents, Local: here, Seed: 7, Collective: c})
		if err != nil {
			t.Fatalf("agents %v (those of one process must ask for the same sums and texts as all together, in the "+
				"same order): %v", here, err)
		}
		if err := d.Validate(here...); err != nil {
			t.Fatalf("agents %v: %v", here, err)
		}
		if p, q := m.Dims(); p < 1 || q < 1 {
			t.Fatalf("x and y must not be empty; they have %d and %d numbers", p, q)
		}
		for i, s := range d.Shards {
			if !slices.Contains(here, i) && s.Train.Len()+s.Val.Len()+s.Holdout.Len()+s.Test.Len() > 0 {
				t.Errorf("a process of agents %v must not hold examples of agent %d", here, i)
			}
		}
		var list []string
		for _, i := range here {
			digest, err := d.Digest(i)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, digest)
		}
		return list
	}
	first := digests(all, 0, 1, 2)
	if len(slices.Compact(slices.Sorted(slices.Values(first)))) != agents {
		t.Errorf("agents must have examples of their own; their digests are %v", first)
	}
	if second := digests(together, 0, 1, 2); !slices.Equal(first, second) {
		t.Errorf("data must depend on flags, agents and seed alone; loaded again they differ")
	}
	if alone := digests(all.Again(), one); alone[0] != first[one] {
		t.Errorf("agent %d must have the same examples whether it is alone in its process or not", one)
	}
}

// withPreset returns flags with a preset, for as many agents as its method takes. The preset brings
// a model where it is made for other models than the flags name.
func withPreset(small []string, p experiment.Preset) []string {
	agents := 3
	if algo.TraitsOf(p.Method).OneAgent {
		agents = 1
	}
	flags := append(slices.Clone(small), "-preset="+p.Name, fmt.Sprint("-agents=", agents))
	if p.Models == nil || slices.ContainsFunc(p.Models,
		func(model string) bool { return slices.Contains(small, "-model="+model) }) {
		return flags
	}
	return slices.DeleteFunc(flags,
		func(f string) bool { return strings.HasPrefix(f, "-model=") || strings.HasPrefix(f, "-hidden=") })
}

// testRun runs two iterations in this process, after which the folder must have a finished run.
func testRun(t *testing.T, task experiment.Task, small []string) {
	out := filepath.Join(t.TempDir(), "run")
	args := append(slices.Clone(small), "-K=2", "-report=false", "-quiet", "-out="+out)
	if err := experiment.Run(t.Context(), task, args, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	state, err := runs.Folder(out).State()
	if err != nil || state != runs.Finished {
		t.Errorf("the run must have finished; it is %q (%v)", state, err)
	}
}
