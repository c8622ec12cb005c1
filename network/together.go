package network

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
)

// Together is the ends of all agents of a process, as one caller has them: it makes their terms of
// an average with the processors that there are, and adds them before anything is exchanged. The
// averages, and what counts as sent, are the same as if each agent called [Averager.AverageOn] by
// itself: whole numbers are added, in any order. In one process nothing is sent at all.
//
// Its memory is a few vectors for each processor and, while it averages, a vector for each agent.
// It belongs to one goroutine at a time.
type Together struct {
	averages *Averages
	reducer  TogetherReducer
	ends     []*Averager

	errs   []error // of the agents
	scales []uint64
	words  []uint64
	hands  []hand
}

// A hand is the memory of one of the goroutines that make terms.
type hand struct {
	scales, words []uint64 // the largest and the sums of its agents
	term          []uint64 // scales or words of one agent
	rounded       []float64
}

// Together returns the ends of local agents as one, in their order; nil where the team has no
// reductions of several agents in one call, or averages are by Mix.
func (a *Averages) Together(ends []*Averager) *Together {
	reducer, ok := a.team.(TogetherReducer)
	if !ok || a.options.ByMix || len(ends) != len(a.team.Local()) {
		return nil
	}
	hands := min(runtime.GOMAXPROCS(0), len(ends))
	return &Together{averages: a, reducer: reducer, ends: ends, errs: make([]error, len(ends)),
		hands: make([]hand, hands)}
}

// Average is AverageOn on the wire of the options, without feedback of errors.
func (t *Together) Average(ctx context.Context, dst []float64, fill func(k int, part []float64) error) error {
	return t.AverageOn(ctx, t.averages.options.Wire, dst, nil, fill)
}

// AverageOn sets dst to the average over all agents of the parts that fill makes of this process's
// agents, k = 0, 1, ... in their order, for several of them at a time. wire and lost are as
// [Averager.AverageOn] has them, lost by k, or nil. The error of the first agent whose part fails
// is returned as it is.
func (t *Together) AverageOn(ctx context.Context, wire Wire, dst []float64, lost [][]float64,
	fill func(k int, part []float64) error) error {
	length := len(dst)
	rows := rowsMemory.Get() // the terms of the agents, one after the other
	defer rowsMemory.Add(rows)
	need := length * len(t.ends)
	*rows = slices.Grow((*rows)[:0], need)[:need]
	row := func(k int) []float64 { return (*rows)[k*length:][:length] }
	f := newFixedPoint(wire, length, t.averages.w.N())
	for i := range t.hands {
		t.hands[i].scales = cleared(t.hands[i].scales, f.blocks(length))
		t.hands[i].words = cleared(t.hands[i].words, length)
	}
	err := t.forEach(ctx, func(h *hand, k int) error {
		v := row(k)
		if err := fill(k, v); err != nil {
			return err
		}
		if lost != nil {
			linalg.Add(lost[k], lost[k], v)
			copy(v, lost[k])
		}
		h.term = f.exponents(h.term[:0], v)
		Max.Combine(h.scales, h.term)
		return nil
	})
	if err != nil {
		return err
	}
	t.scales = t.combine(Max, t.scales, func(h *hand) []uint64 { return h.scales })
	if err := t.reducer.ReduceTogether(ctx, Max, exponentBits, t.scales); err != nil {
		return err
	}
	err = t.forEach(context.WithoutCancel(ctx), func(h *hand, k int) error {
		v := row(k)
		h.term = f.encode(h.term[:0], v, t.scales, t.ends[k].draws())
		if lost != nil {
			h.rounded = append(h.rounded[:0], v...)
			f.decode(h.rounded, h.term, t.scales, 1)
			linalg.Sub(lost[k], lost[k], h.rounded)
		}
		Sum.Combine(h.words, h.term)
		return nil
	})
	if err != nil {
		return err
	}
	t.words = t.combine(Sum, t.words, func(h *hand) []uint64 { return h.words })
	if err := t.reducer.ReduceTogether(ctx, Sum, f.bits, t.words); err != nil {
		return err
	}
	for _, end := range t.ends {
		end.sent.Add(t.averages.Cost(end.id, length, wire))
	}
	f.decode(dst, t.words, t.scales, t.averages.w.N())
	return nil
}

// rowsMemory has the rows of averages that have ended: the averages of a method and of evaluation,
// which are never at the same time, then take the same memory.
var rowsMemory kernel.Spares[[]float64]

// cleared returns n zeros, in the memory of words if that is enough.
func cleared(words []uint64, n int) []uint64 {
	if cap(words) < n {
		return make([]uint64, n)
	}
	words = words[:n]
	clear(words)
	return words
}

// combine returns what all hands have, combined, in the memory of dst.
func (t *Together) combine(op Op, dst []uint64, of func(h *hand) []uint64) []uint64 {
	dst = append(dst[:0], of(&t.hands[0])...)
	for i := range t.hands[1:] {
		op.Combine(dst, of(&t.hands[1+i]))
	}
	return dst
}

// forEach calls f for all agents, with a hand each time that nobody else has, and returns the error
// of the first agent that failed. No call starts once ctx is done.
func (t *Together) forEach(ctx context.Context, f func(h *hand, k int) error) error {
	clear(t.errs)
	var next atomic.Int64
	take := func(h *hand) {
		for ctx.Err() == nil {
			k := int(next.Add(1)) - 1
			if k >= len(t.ends) {
				return
			}
			t.errs[k] = f(h, k)
		}
	}
	var hands sync.WaitGroup
	for i := range t.hands[1:] {
		hands.Go(func() { take(&t.hands[1+i]) })
	}
	take(&t.hands[0])
	hands.Wait()
	return cmp.Or(cmp.Or(t.errs...), ctx.Err())
}
