package main

import (
	"fmt"

	"dsbo/internal/testkit"
	"dsbo/runs"
)

// figures are the largest of a run's processes.
type figures struct{ ms, mib float64 }

// read returns those of the processes whose folders these are.
func read(folders []string) (f figures) {
	if len(folders) == 0 {
		testkit.OK(fmt.Errorf("a run left no folder"))
	}
	for _, folder := range folders {
		s := testkit.Get(runs.Folder(folder).ReadSummary())
		f.ms, f.mib = max(f.ms, float64(s.MsPerIteration)), max(f.mib, float64(s.PeakRSSMiB))
	}
	return f
}
