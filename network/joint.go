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
	blocks sync.Pool // *[]float64: a block of each agent, for sums in place

	mu      sync.Mutex
	arrived int
	left    bool // an agent waits no more: there is no further sum
}

// A jointTerm is what an agent wants of a joint sum: its sum in dst, with factor·add added to the first entries.
type jointTerm struct {
	dst     []float64
	inPlace bool // neighbours read dst
	factor  float64
	add     []float64
}

// serves reports whether vectors like v are summed jointly.
func (j *jointSum) serves(v []float64) bool { return j != nil && len(v) >= jointLength }

// sum makes the sum of agent a, whose vectors are known, when all agents have called it.
func (j *jointSum) sum(ctx context.Context, a *localAgent, term jointTerm) error {
	a.term, a.summed = term, false
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

// sumAll makes the sums of all agents: first the entries to which something is added, which may be later entries.
func (j *jointSum) sumAll() {
	n, added := 0, 0
	for _, a := range j.agents {
		n, added = max(n, len(a.term.dst)), max(added, len(a.term.add))
	}
	j.sumRange(0, added)
	j.sumRange(added, n)
}

// sumRange makes entries from..to of the sums of all agents, with processors that are free.
func (j *jointSum) sumRange(from, to int) {
	terms := 0
	for _, a := range j.agents {
		terms += len(a.terms)
	}
	if team := kernel.NewCrew((to - from) * terms * termWork); team != nil {
		team.Share(to-from, func(low, high int) { j.sumPart(from+low, from+high) })
		return
	}
	j.sumPart(from, to)
}

// sumPart makes entries from..to of the sums of all agents.
func (j *jointSum) sumPart(from, to int) {
	blocks, ok := j.blocks.Get().(*[]float64)
	if !ok {
		blocks = new(make([]float64, len(j.agents)*vec.Block))
	}
	defer j.blocks.Put(blocks)
	vec.EachBlock(to-from, func(low, high int) {
		low, high = from+low, from+high
		for i, a := range j.agents {
			t := &a.term
			dst := t.dst[low:high]
			if t.inPlace { // until all have read it
				dst = (*blocks)[i*vec.Block:][:high-low]
			}
			combineBlock(dst, a.row, a.terms, low, high)
			if low < len(t.add) {
				add := t.add[low:min(high, len(t.add))]
				vec.Axpy(dst[:len(add)], t.factor, add)
			}
		}
		for i, a := range j.agents {
			if a.term.inPlace {
				copy(a.term.dst[low:high], (*blocks)[i*vec.Block:])
			}
		}
	})
}
