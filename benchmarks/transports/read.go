package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"dsbo/internal/must"
	"dsbo/runs"
)

// agentFolders returns the run folders of agents that were processes of their own; beside them are their logs.
func agentFolders(out string) []string {
	found := must.Get(filepath.Glob(filepath.Join(out, "agent-*")))
	return slices.DeleteFunc(found, func(path string) bool {
		info, err := os.Stat(path)
		return err != nil || !info.IsDir()
	})
}

// digest stands for what a run found: x̄, the model, and its records without times.
func digest(folder string) string {
	sum := sha256.New()
	for _, name := range []string{runs.LambdaFile, runs.OmegaFile} {
		sum.Write(must.Get(os.ReadFile(filepath.Join(folder, name))))
	}
	for _, r := range must.Get(runs.Folder(folder).Records()) {
		sum.Write(must.Get(json.Marshal(r.Timeless())))
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// figures are the largest of a run's processes.
type figures struct{ ms, mib float64 }

// read returns those of the processes whose folders these are.
func read(folders []string) (f figures) {
	if len(folders) == 0 {
		must.OK(fmt.Errorf("a run left no folder"))
	}
	for _, folder := range folders {
		s := must.Get(runs.Folder(folder).ReadSummary())
		f.ms, f.mib = max(f.ms, float64(s.MsPerIteration)), max(f.mib, float64(s.PeakRSSMiB))
	}
	return f
}
