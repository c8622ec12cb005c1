package data

import (
	"errors"
	"runtime"
	"slices"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
)

// manyMNIST returns a folder with a number of training and test pictures.
func manyMNIST(t *testing.T, train, test int) string {
	t.Helper()
	dir := t.TempDir()
	testkit.OK(testkit.WriteMNIST(dir, train, test))
	return dir
}

// Whichever agents are in a process, each has the examples that it has where all are, and there are
// no others.
func TestShareMNIST(t *testing.T) {
	const n = 5
	dir := manyMNIST(t, 203, 13)
	train, test := testkit.Get2(LoadMNIST(dir))
	for _, p := range []Partition{{}, {Dirichlet: .3}, {Labels: 3}} {
		split := Split{Agents: n, Train: 11, Val: 14, Seed: 3, Partition: p}
		all := testkit.Get(NewTask(train, test, split))
		for _, here := range [][]int{nil, {0}, {4}, {1, 3}} {
			got := testkit.Get(ShareMNIST(dir, split, here...))
			if got.TrainRows() != all.TrainRows() || got.Features != all.Features || got.Classes != all.Classes ||
				got.Test.Len() > 0 {
				t.Errorf("%v, agents %v: %d training rows, %d features, %d classes, %d common test rows", p, here,
					got.TrainRows(), got.Features, got.Classes, got.Test.Len())
			}
			for i, s := range got.Shards {
				if here != nil && !slices.Contains(here, i) {
					if !s.isAbsent() || s.Test.Len() > 0 {
						t.Errorf("%v, agents %v: examples of agent %d are there", p, here, i)
					}
					continue
				}
				if a, b := testkit.Get(got.Digest(i)), testkit.Get(all.Digest(i)); a != b {
					t.Errorf("%v, agents %v: agent %d has other examples", p, here, i)
				}
			}
		}
	}
	if _, err := ShareMNIST(dir, Split{Agents: n, Train: 100}, 0); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("too many examples: %v", err)
	}
	small := testkit.Get(ShareMNIST(manyMNIST(t, 40, 3), Split{Agents: 4})) // 3 test examples for 4 agents
	for i, want := range []int{0, 1, 1, 1} {
		if rows := testkit.Get(small.TestPart(i)).Len(); rows != want {
			t.Errorf("agent %d scores %d of 3 test examples, want %d", i, rows, want)
		}
	}
}

// What one of many agents allocates as it loads is its own examples, and a few numbers for each
// example of the others, not their pictures.
func TestShareMNISTMemory(t *testing.T) {
	const rows, tests, n = 6000, 1000, 50
	dir := manyMNIST(t, rows, tests)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	task := testkit.Get(ShareMNIST(dir, Split{Agents: n}, 7))
	runtime.ReadMemStats(&after)
	allocated := after.TotalAlloc - before.TotalAlloc
	own := uint64(task.Shards[7].Train.Len()+task.Shards[7].Val.Len()+task.Shards[7].Test.Len()) * 784
	const buffers = 512 << 10 // of the readers of four files, with gzip's tables
	if most := own + 60*(rows+tests) + buffers; own < 140*784 || allocated > most {
		t.Errorf("%d bytes were allocated for examples of %d bytes, want at most %d", allocated, own, most)
	}
}
