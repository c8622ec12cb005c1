package experiment

import (
	"math"

	"dsbo/algo"
	"dsbo/internal/recycle"
	"dsbo/train"
)

// A memory is what a process of all agents takes, in bytes, by what one of a single agent takes of it.
type memory struct {
	program float64 // the program, before anything is loaded
	data    float64 // what loading took, of all agents
	solver  float64 // exact solutions: the same for one agent as for all
	agents  float64 // all else, of all agents
	meeting float64 // what a site's process takes beyond its share of these
}

// What a site's process takes to meet the others, for TLS and gRPC, and to make its page; and the vectors of exchanges that it keeps for
// neighbours that come back, of which package command has the defaults. Go's collector lets these take twice their memory.
const (
	meetingBytes  = 7e6
	keptExchanges = 1024
	keptBytes     = 16 << 20
)

// peakMemory returns the most that this process has taken, 0 where the system does not tell.
func peakMemory() float64 {
	if peak := float64(train.PeakRSS()) * (1 << 20); !math.IsNaN(peak) {
		return peak
	}
	return 0
}

// memory returns what the run takes whose data and problem have just been loaded by a program that took so much before.
func (r *runner) memory(program float64) memory {
	p, q, _ := r.problem.Dims() // which are known by now
	m := memory{program: program, data: max(0, peakMemory()-program), agents: 40 * 8 * float64(q)}
	m.meeting = meetingBytes + 2*min(keptBytes, keptExchanges*8*float64(q))
	if method := algo.Clone(r.method); method.Init(p, q, r.Settings.Iterations) == nil {
		for _, s := range method.State() {
			m.agents += float64(8 * len(s.Value))
		}
	}
	m.agents *= float64(r.Settings.Agents)
	if r.problem.guard != nil {
		return m
	}
	m.solver = 3 * 8 * float64(q) * float64(min(recycle.MostPairs, max(4, q)))
	if r.problem.Nonconvex {
		m.solver *= 3 // each model has a solver of its own, and the last two wait to be collected
	}
	return m
}

// withPeak takes the place of what the agents were reckoned to take when the process has run them all.
func (m memory) withPeak(peak float64) memory {
	m.agents = max(0, peak-m.program-m.data-m.solver)
	return m
}

// siteBytes returns what the process of one of n agents takes.
func (m memory) siteBytes(n int) float64 {
	return m.program + m.meeting + m.solver + (m.data+m.agents)/float64(n)
}
