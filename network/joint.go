package network

import (
	"context"
	"sync"

	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
)

// jointLength is the least length of vectors that are summed jointly. Shorter ones of several
// agents are in the caches, and waiting for all agents would cost more than copies.
const jointLength = 1 << 16

// termWork is how many multiplications of a product take as long as a term of a sum, which memory
// holds up.
const termWork = kernel.EntryWork / 4

// A jointSum makes the sums of all agents of a process at once, where vectors are long: the agent
// that comes last makes the sums of all while these wait, a block of entries after the other. A
// block is so read from memory once, for its agent and all neighbours, and vectors are not copied.
// Processors that are free help.
type jointSum struct {
	agents []*localAgent
	wishes []wish // of the agents

	mu        sync.Mutex
	arrived   int
	withdrawn bool // whether an agent has withdrawn, after which no sum is made

	scratch kernel.Spares[jointScratch]
}

// A wish is what an agent wants of a joint sum: in dst the sum of src and the neighbours' vectors,
// with factor·add added to the first entries.
type wish struct {
	dst, src, add []float64
	factor        float64
}

// isKept reports whether sums must be kept until all are made, as they take the places of what
// others read.
func (x *wish) isKept() bool { return &x.dst[0] == &x.src[0] }

// A jointScratch is memory for making a part of a joint sum.
type jointScratch struct {
	memory [][]float64 // a block of each agent, of its sum if that is kept
	read   [][]float64 // what is summed, by agents
	terms  [][]float64 // of one sum
}

// grow makes the memory for n agents, once.
func (d *jointScratch) grow(n int) {
	if d.memory != nil {
		return
	}
	d.read, d.terms = make([][]float64, n), make([][]float64, n)
	for range n {
		d.memory = append(d.memory, make([]float64, linalg.Block))
	}
}

// serves reports whether vectors of a length are summed jointly.
func (j *jointSum) serves(length int) bool { return j != nil && length >= jointLength }

// sum makes the sum of agent a, whose neighbours' vectors are known, when all agents have
// called it.
func (j *jointSum) sum(ctx context.Context, a *localAgent, w wish) error {
	j.wishes[a.id], a.summed = w, false
	if j.arrive() {
		j.sumAll()
		for _, b := range j.agents {
			if b != a {
				a.local.turns.begin(b)
			}
		}
		return nil
	}
	a.local.turns.end()
	err := a.await(ctx)
	if err != nil && !j.withdraw(a) {
		<-a.ready
		return nil
	}
	return err
}

// arrive counts an agent in. It reports whether the agent is the last one, which makes the sums;
// never after an agent has withdrawn.
func (j *jointSum) arrive() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.arrived++; j.arrived < len(j.agents) || j.withdrawn {
		return false
	}
	j.arrived = 0
	for _, a := range j.agents {
		a.summed = true
	}
	return true
}

// withdraw takes agent a out of a sum, unless that has begun: the agent's vectors are then read
// and written.
func (j *jointSum) withdraw(a *localAgent) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.withdrawn = j.withdrawn || !a.summed
	return !a.summed
}

// sumAll makes the sums of all agents: first the entries to which something is added, which may be
// later entries.
func (j *jointSum) sumAll() {
	n, added := 0, 0
	for _, x := range j.wishes {
		n, added = max(n, len(x.dst)), max(added, len(x.add))
	}
	j.sumRange(0, added)
	j.sumRange(added, n)
}

// sumRange makes entries from..to of the sums of all agents, with processors that are free.
func (j *jointSum) sumRange(from, to int) {
	terms := 0
	for _, a := range j.agents {
		terms += len(a.row)
	}
	if team := kernel.NewCrew((to - from) * terms * termWork); team != nil {
		team.Share(to-from, func(low, high int) { j.sumPart(from+low, from+high) })
		return
	}
	j.sumPart(from, to)
}

// sumPart makes entries from..to of the sums of all agents.
func (j *jointSum) sumPart(from, to int) {
	d := j.scratch.Get()
	defer j.scratch.Add(d)
	d.grow(len(j.agents))
	linalg.EachBlock(to-from, func(low, high int) { j.sumBlock(d, from+low, from+high) })
}

// sumBlock is sumPart of at most [linalg.Block] entries. What d has of 8 agents fits into a
// second-level cache.
func (j *jointSum) sumBlock(d *jointScratch, low, high int) {
	for i := range j.wishes {
		d.read[i] = j.wishes[i].src[low:high]
	}
	for i, a := range j.agents {
		x := &j.wishes[i]
		sum := x.dst[low:high]
		if x.isKept() {
			sum = d.memory[i][:high-low]
		}
		prefetch(x.src, high, high+len(sum)) // the next block comes while this one is summed
		prefetch(x.add, high, high+len(sum))
		for k, w := range a.row {
			d.terms[k] = d.read[w.Agent]
		}
		combineBlock(sum, a.row, d.terms, 0, high-low)
		if to := min(high, len(x.add)); low < to {
			linalg.Axpy(sum[:to-low], x.factor, x.add[low:to])
		}
	}
	for i := range j.wishes {
		if x := &j.wishes[i]; x.isKept() {
			copy(x.dst[low:high], d.memory[i])
		}
	}
}

// prefetch asks the processor to begin loading entries low..high of v, as far as there are.
func prefetch(v []float64, low, high int) { kernel.Prefetch(v[min(low, len(v)):min(high, len(v))]) }
