package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"dsbo/runs"
)

// agentFolders returns the run folders of agents that were processes of their own; beside them are their logs.
func agentFolders(out string) []string {
	found, err := filepath.Glob(filepath.Join(out, "agent-*"))
	if err != nil { // the pattern is right
		return nil
	}
	return slices.DeleteFunc(found, func(path string) bool {
		info, err := os.Stat(path)
		return err != nil || !info.IsDir()
	})
}

// digest stands for what a run found: x̄, the model, and its records without times.
func digest(folder string) (string, error) {
	sum := sha256.New()
	for _, name := range []string{runs.LambdaFile, runs.OmegaFile} {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return "", err
		}
		sum.Write(data)
	}
	records, err := runs.Folder(folder).Records()
	if err != nil {
		return "", err
	}
	for _, r := range records {
		line, err := json.Marshal(r.Timeless())
		if err != nil {
			return "", err
		}
		sum.Write(line)
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}

// figures are the largest of a run's processes.
type figures struct{ ms, mib float64 }

// read returns those of the processes whose folders these are.
func read(folders []string) (f figures, err error) {
	if len(folders) == 0 {
		return f, fmt.Errorf("a run left no folder")
	}
	for _, folder := range folders {
		s, err := runs.Folder(folder).ReadSummary()
		if err != nil {
			return f, err
		}
		f.ms, f.mib = max(f.ms, float64(s.MsPerIteration)), max(f.mib, float64(s.PeakRSSMiB))
	}
	return f, nil
}
