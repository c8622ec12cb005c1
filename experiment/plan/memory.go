package plan

import (
	"dsbo/algo"
	"dsbo/internal/linalg"
	"dsbo/runs"
	"dsbo/train"
)

// A memory is what a process of all agents takes, in bytes, by what one of a single agent takes
// of it.
type memory struct {
	program float64 // the program, before anything is loaded
	data    float64 // what loading took, of all agents
	solver  float64 // exact solutions: the same for one agent as for all
	agents  float64 // all else, of all agents
	meeting float64 // what a site's process takes beyond its share of these
}

// What a site's process takes to meet the others, for TLS and gRPC, and to make its page; and the
// vectors of exchanges that it keeps for neighbours that come back, of which package command has
// the defaults. Go's collector lets these take twice their memory.
const (
	meetingBytes  = 7e6
	keptExchanges = 1024
	keptBytes     = 16 << 20
)

// bytesOf returns the bytes of a number of MiB, 0 where they are not known.
func bytesOf(mib runs.Number) float64 {
	if !mib.Known() {
		return 0
	}
	return float64(mib) * (1 << 20)
}

// memory returns what the run takes, whose data and problem have just been loaded.
func (r Run) memory() (memory, error) {
	p, q, err := r.Config.Problem.Dims()
	program := bytesOf(r.Program)
	m := memory{program: program, data: max(0, bytesOf(train.PeakRSS())-program), agents: 40 * 8 * float64(q)}
	m.data *= float64(r.Config.W.N()) / float64(r.Loaded)
	m.meeting = meetingBytes + 2*min(keptBytes, keptExchanges*8*float64(q))
	if method := algo.Clone(r.Config.Method); method.Init(p, q, r.Config.K) == nil {
		for _, s := range method.State() {
			m.agents += float64(8 * len(s.Value))
		}
	}
	m.agents *= float64(r.Config.W.N())
	if r.Privacy != nil {
		return m, err
	}
	m.solver = 3 * 8 * float64(q) * float64(min(linalg.MostPairs, max(4, q)))
	if r.Config.Problem.Nonconvex {
		m.solver *= 3 // each model has a solver of its own, and the last two wait to be collected
	}
	return m, err
}

// withPeak takes the place of what the agents were reckoned to take when the process has run
// them all.
func (m memory) withPeak(peak float64) memory {
	m.agents = max(0, peak-m.program-m.data-m.solver)
	return m
}

// siteBytes returns what the process of one of n agents takes.
func (m memory) siteBytes(n int) float64 {
	return m.program + m.meeting + m.solver + (m.data+m.agents)/float64(n)
}
