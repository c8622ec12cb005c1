// Package digest compares what runs found, for the commands in benchmarks.
package digest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"dsbo/internal/testkit"
	"dsbo/runs"
)

// AgentFolders returns the run folders of agents that were processes of their own; beside them are their logs.
func AgentFolders(out string) []string {
	found := testkit.Get(filepath.Glob(filepath.Join(out, "agent-*")))
	return slices.DeleteFunc(found, func(path string) bool {
		info, err := os.Stat(path)
		return err != nil || !info.IsDir()
	})
}

// Of stands for what a run found: x̄, the model, and its records without times.
func Of(folder string) string {
	sum := sha256.New()
	for _, name := range []string{runs.LambdaFile, runs.OmegaFile} {
		sum.Write(testkit.Get(os.ReadFile(filepath.Join(folder, name))))
	}
	for _, r := range testkit.Get(runs.Folder(folder).Records()) {
		sum.Write(testkit.Get(json.Marshal(r.Timeless())))
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}
