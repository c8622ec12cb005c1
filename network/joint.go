package network

import (
	"context"
	"sync"

	"dsbo/internal/kernel"
	"dsbo/internal/vec"
)

// jointLength is the least length of vectors that are summed jointly. Shorter ones of several agents are in the caches, and waiting
// for all agents would cost more than copies.
const jointLength = 1 << 16

// termWork is how many multiplications of a product take as long as a term of a sum, which memory holds up.
const termWork = kernel.EntryWork / 4

// A jointSum makes the sums of all agents of a process at once, where vectors are long: the agent that comes last makes those of all
// while these wait, a block of entries after the other. A block is so read from memory once, for its agent and all neighbours, and
// vectors are not copied. Processors that are free help.
type jointSum struct {
	agents []*localAgent

	mu      sync.Mutex
	arrived int
	left    bool // an agent waits no more: there is no further sum
}

// serves reports whether vectors like v are summed jointly.
func (j *jointSum) serves(v []float64) bool { return j != nil && len(v) >= jointLength }

// sum sets dst of agent a, whose terms are known, when all agents have called it.
func (j *jointSum) sum(ctx context.Context, a *localAgent, dst []float64) error {
	a.dst, a.summed = dst, false
	if j.arrive() {
		j.sumAll()
		for _, b := range j.agents {
			if b != a {
				b.ready <- struct{}{}
			}
		}
		return nil
	}
	err := Await(ctx, a.ready, a.local.stopped, a.local.stopError)
	if err != nil && !j.leave(a) {
		<-a.ready
		return nil
	}
	return err
}

// arrive notes that an agent has come, and reports whether it is the last one.
func (j *jointSum) arrive() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.arrived++; j.arrived < len(j.agents) || j.left {
		return false
	}
	j.arrived = 0
	for _, a := range j.agents {
		a.summed = true
	}
	return true
}

// leave takes agent a out of a sum, unless that has begun: the agent's vectors are then read and written.
func (j *jointSum) leave(a *localAgent) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.left = j.left || !a.summed
	return !a.summed
}

// sumAll sets dst of all agents.
func (j *jointSum) sumAll() {
	n, terms := 0, 0
	for _, a := range j.agents {
		n, terms = max(n, len(a.dst)), terms+len(a.terms)
	}
	if team := kernel.NewCrew(n * terms * termWork); team != nil {
		team.Share(n, j.sumPart)
		return
	}
	j.sumPart(0, n)
}

// sumPart sets entries from..to of dst of all agents.
func (j *jointSum) sumPart(from, to int) {
	vec.EachBlock(to-from, func(low, high int) {
		for _, a := range j.agents {
			combineBlock(a.dst, a.row, a.terms, from+low, from+high)
		}
	})
}
