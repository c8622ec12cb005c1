package algo

import (
	"sync"

	"dsbo"
	"dsbo/internal/kernel"
)

// A term computes one agent's term of an average, with the oracle of w, and writes it to dst. If
// one method serves several agents, their terms run concurrently, so a term may write only to dst,
// [Turn.scratch] and [Turn.own].
type term func(w *Turn, dst []float64)

// workVectors are the scratch vectors of a term.
type workVectors [2][]float64

// terms makes the terms of the agents that a method serves: it is the [dsbo.Terms] of a turn.
type terms struct {
	turn  Turn          // the iteration under way
	make  [2]term       // one for each of under
	under [2]dsbo.Named // the vectors, one or two, whose averages are under way
	work  workVectors   // scratch if the method serves one agent

	free kernel.Spares[workplace] // scratch that no term uses at present

	mu     sync.Mutex
	own    map[agentVector][]float64
	failed bool // a term has failed
}

// An agentVector is the key of an agent's copy of one of the method's vectors, which the address of
// the vector's first entry identifies.
type agentVector struct {
	agent int
	first *float64
}

// A workplace is the memory for making one term at a time.
type workplace struct {
	turn Turn
	work workVectors
}

// Term implements [dsbo.Terms]: it computes an agent's term of each of vectors. It may be called
// concurrently. failed tells averageTerms that an error came from a term, and so names its place.
func (t *terms) Term(agent int, o dsbo.Oracle, vectors [][]float64) error {
	p := t.free.Get()
	defer t.free.Add(p)
	p.turn = t.turn // a copy, in which the lines below set what is the agent's own
	p.turn.work, p.turn.agent = &p.work, 1+agent
	p.turn.setOracle(o)
	for i, v := range vectors {
		t.make[i](&p.turn, v)
	}
	if p.turn.err != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.failed = true
	}
	return p.turn.err
}

// vectorOf returns an agent's vector in place of v, of its length.
func (t *terms) vectorOf(agent int, v []float64) []float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	of := agentVector{agent, &v[0]}
	if t.own[of] == nil {
		t.own[of] = make([]float64, len(v))
	}
	return t.own[of]
}

// scratch returns scratch vector i of a term, of n numbers.
func (w *Turn) scratch(i, n int) []float64 {
	if cap(w.work[i]) < n {
		w.work[i] = make([]float64, n)
	}
	return w.work[i][:n]
}

// own returns the agent's own vector in place of v, which keeps a term's values for the terms of
// later averages: v itself if the method serves one agent.
func (w *Turn) own(v []float64) []float64 {
	if w.agent == 0 {
		return v
	}
	return w.terms.vectorOf(w.agent, v)
}
