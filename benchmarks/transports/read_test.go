package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsbo/benchmarks/internal/digest"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// The folders of agents are read, and their logs beside them are not.
func TestAgentFolders(t *testing.T) {
	out := t.TempDir()
	var want []string
	for name, summary := range map[string]map[string]any{
		"agent-0": {"state": runs.Finished, "ms_per_iteration": 3, "peak_rss_mib": 70},
		"agent-1": {"state": runs.Finished, "ms_per_iteration": 4, "peak_rss_mib": 60},
	} {
		folder := filepath.Join(out, name)
		testkit.OK(os.Mkdir(folder, 0o755))
		testkit.OK(runs.Folder(folder).WriteSummary(summary))
		testkit.OK(os.WriteFile(folder+".log", nil, 0o644))
		want = append(want, folder)
	}
	folders := digest.AgentFolders(out)
	slices.Sort(want)
	if diff := cmp.Diff(want, folders); diff != "" { // which are in the order of their names
		t.Error(diff)
	}
	if got := read(folders); got != (figures{ms: 4, mib: 70}) {
		t.Errorf("%+v, want the largest of both", got)
	}
}
