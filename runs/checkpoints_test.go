package runs_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/runs"
)

// TestCheckpoints: checkpoints are in the order of their iterations, whatever the number of digits,
// and the newest are kept; the checkpoints of other processes and other files are left alone.
func TestCheckpoints(t *testing.T) {
	for name, agents := range map[string][]int{"all in one": nil, "an agent": {1}, "a rank": {2, 3, 4}} {
		t.Run(name, func(t *testing.T) {
			f := runs.Folder(t.TempDir())
			others := []string{f.CheckpointPath([]int{10}, 3), f.CheckpointPath([]int{2, 3}, 4),
				f.Path(".checkpoint.000000007.1.tmp"), f.Path("checkpoint.old"),
				f.CheckpointPath(agents, -5)}
			var want []string
			for _, k := range []int{0, 5, 999_999_999, 1_000_000_000, 20_000_000_000} {
				want = append(want, f.CheckpointPath(agents, k))
			}
			for _, path := range slices.Concat(want, others) {
				testkit.OK(os.WriteFile(path, nil, 0o600))
			}
			check := func(want []string) {
				t.Helper()
				if got := testkit.Get(f.Checkpoints(agents)); !slices.Equal(got, want) {
					t.Errorf("checkpoints %v, want %v", got, want)
				}
			}
			check(want)
			testkit.OK(f.RemoveOldCheckpoints(agents, 1<<40, 3))
			check(want[2:])
			testkit.OK(f.RemoveCheckpointsAfter(agents, 1_000_000_000))
			check(want[2:4])
			testkit.OK(f.RemoveCheckpointsAfter(agents, -1))
			check(nil)
			for _, path := range others {
				if _, err := os.Stat(path); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestRemoveAllButNewestCheckpoints: of each process in a folder the newest checkpoint stays,
// whatever the number of digits of its iteration, and so does all that is no checkpoint.
func TestRemoveAllButNewestCheckpoints(t *testing.T) {
	f := runs.Folder(t.TempDir())
	testkit.Get(f.RemoveAllButNewestCheckpoints())
	stay := []string{f.Path("checkpoint.old"), f.Path(runs.MetricsFile), f.Path(".checkpoint.000000007.1.tmp")}
	var old []string
	for _, agents := range [][]int{nil, {1}, {10}, {2, 3, 4}} {
		old = append(old, f.CheckpointPath(agents, 0), f.CheckpointPath(agents, 999_999_999))
		stay = append(stay, f.CheckpointPath(agents, 1_000_000_000))
	}
	for _, path := range slices.Concat(stay, old) {
		testkit.OK(os.WriteFile(path, nil, 0o600))
	}
	for _, more := range []string{f.CheckpointPath([]int{10}, 5), f.CheckpointPath(nil, 7)} { // one at a time
		testkit.Get(f.RemoveAllButNewestCheckpoints())
		if entries := testkit.Get(os.ReadDir(string(f))); len(entries) != len(stay) {
			t.Errorf("%d files stay, %v; it must be %d", len(entries), entries, len(stay))
		}
		for _, path := range stay {
			if _, err := os.Stat(path); err != nil {
				t.Error(err)
			}
		}
		testkit.OK(os.WriteFile(more, nil, 0o600))
	}
	if kept := testkit.Get(f.RemoveAllButNewestCheckpoints()); len(kept) != 4 {
		t.Errorf("%v are kept, of four processes", kept)
	}
}

// TestOldCheckpoints: the newest few checkpoints stay of a run that has gone back, up to
// TestNoFolder: a folder that is not there has no files.
func TestNoFolder(t *testing.T) {
	if paths, err := runs.Folder(filepath.Join(t.TempDir(), "none")).PathsWithPrefix(""); err != nil || paths != nil {
		t.Errorf("%v, %v", paths, err)
	}
}

// where it is, and all after that.
func TestOldCheckpoints(t *testing.T) {
	f, agents := runs.Folder(t.TempDir()), []int{1}
	for k := range 8 {
		testkit.OK(os.WriteFile(f.CheckpointPath(agents, k), nil, 0o600))
	}
	for _, step := range []struct {
		done, few int
		want      []int
	}{
		{5, 3, []int{3, 4, 5, 6, 7}}, {4, 2, []int{3, 4, 5, 6, 7}}, {3, 2, []int{3, 4, 5, 6, 7}}, {7, 2, []int{6, 7}},
	} {
		testkit.OK(f.RemoveOldCheckpoints(agents, step.done, step.few))
		var want []string
		for _, k := range step.want {
			want = append(want, f.CheckpointPath(agents, k))
		}
		if got := testkit.Get(f.Checkpoints(agents)); !slices.Equal(got, want) {
			t.Errorf("after %d iterations, with %d that stay, there are %v; there must be %v", step.done, step.few, got,
				want)
		}
	}
}
