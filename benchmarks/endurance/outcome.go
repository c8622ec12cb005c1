package main

import (
	"errors"
	"fmt"
	"time"

	"dsbo/benchmarks/internal/digest"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// An outcome is what a trial has found.
type outcome struct {
	kills      int
	lastKill   time.Duration // after the start
	starts     []int         // of each agent
	took       time.Duration
	exchanges  int     // of each agent
	peak, mean float64 // MiB that the last process of an agent has had resident: the largest, and the mean
	wrong      error   // agents that failed, or have other bits than the run in one process; nil: none
}

// compare compares what each agent found with the run in one process, and reads what the agents took.
func (t *trial) compare(o *outcome) {
	want := digest.Of(t.path("one"))
	folders := digest.AgentFolders(t.path("many"))
	if len(folders) != t.agents {
		o.wrong = fmt.Errorf("%d agents have left a folder, of %d", len(folders), t.agents)
	}
	for _, folder := range folders {
		if digest.Of(folder) != want {
			o.wrong = errors.Join(o.wrong, fmt.Errorf("%s has other bits than the run in one process", folder))
		}
		s := testkit.Get(runs.Folder(folder).ReadSummary())
		o.exchanges = max(o.exchanges, s.Round)
		o.peak, o.mean = max(o.peak, float64(s.PeakRSSMiB)), o.mean+float64(s.PeakRSSMiB)/float64(len(folders))
	}
}

// table shows an outcome.
func (t *trial) table(o outcome) [][]string {
	restarts, most := -t.agents, 0
	for _, n := range o.starts {
		restarts, most = restarts+n, max(most, n)
	}
	bits := "the same at all agents as in one process"
	if o.wrong != nil {
		bits = "DIFFERENT, or not all there"
	}
	return [][]string{
		{"agents, processes", fmt.Sprintf("%d on %s", t.agents, t.graph)},
		{"latency of each message", fmt.Sprintf("0 to %v, either way", t.latency)},
		{"kills", fmt.Sprintf("%d in %.0f s", o.kills, o.lastKill.Seconds())},
		{"restarts", fmt.Sprintf("%d, at most %d of one agent", restarts, most-1)},
		{"time", fmt.Sprintf("%.0f s", o.took.Seconds())},
		{"exchanges", fmt.Sprint(o.exchanges)},
		{"peak MiB of a process", fmt.Sprintf("%.0f, the largest %.0f", o.mean, o.peak)},
		{"x̄, model and records", bits},
	}
}
