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
	sums   []uint64
	hands  []hand
	terms  jointTerms // of the average under way
}

// A hand is the memory of one of the goroutines that make terms.
type hand struct {
	scales, words []uint64 // the largest and the sums of its agents
	term          []uint64 // scales or words of one agent
	rounded       []float64
}

// jointTerms are what the agents of a process put into an average.
type jointTerms struct {
	*Together
	f      fixedPoint
	length int
	fill   func(k int, part []float64) error
	lost   [][]float64 // by agents, or nil
	rows   []float64   // the terms of the agents, one after the other
	filled bool        // these are made
	draws  []draws     // by agents
}

// Together returns the ends of local agents as one, in their order; nil where the team has no
// reductions of several agents in one call, or averages are by Mix.
func (a *Averages) Together(ends []*Averager) *Together {
	reducer, ok := a.team.(TogetherReducer)
	if !ok || a.options.ByMix || len(ends) != len(a.team.Local()) {
		return nil
	}
	hands := min(runtime.GOMAXPROCS(0), len(ends))
	for _, end := range ends[1:] {
		end.memory = ends[0].memory
	}
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
	length, n := len(dst), t.averages.w.N()
	rows := rowsMemory.Get()
	defer rowsMemory.Add(rows)
	need := length * len(t.ends)
	*rows = slices.Grow((*rows)[:0], need)[:need]
	f := t.averages.fixedPoint(wire, length)
	all := &t.terms
	*all = jointTerms{Together: t, f: f, length: length, fill: fill, lost: lost, rows: *rows, draws: all.draws[:0]}
	for _, end := range t.ends {
		all.draws = append(all.draws, end.nextDraws())
	}
	words, scales, passes, err := t.ends[0].memory.sum(ctx, wire, length, f, all)
	if err != nil {
		return err
	}
	for _, end := range t.ends {
		end.passes = passes
		end.sent.Add(t.averages.Cost(end.id, length, wire, passes))
	}
	f.decode(dst, words, scales, n)
	if lost == nil {
		return nil
	}
	return t.forEach(context.WithoutCancel(ctx), func(h *hand, k int) error {
		h.term, h.rounded = f.keepLost(lost[k], scales, all.draws[k], h.term, h.rounded)
		return nil
	})
}

// forEach calls f with the terms of all agents, which are made before if they have not been.
func (t *jointTerms) forEach(ctx context.Context, f func(h *hand, k int, v []float64)) error {
	if t.filled {
		ctx = context.WithoutCancel(ctx)
	}
	err := t.Together.forEach(ctx, func(h *hand, k int) error {
		v := t.rows[k*t.length:][:t.length]
		if !t.filled {
			if err := t.fill(k, v); err != nil {
				return err
			}
			if t.lost != nil {
				linalg.Add(t.lost[k], t.lost[k], v)
				copy(v, t.lost[k])
			}
		}
		f(h, k, v)
		return nil
	})
	t.filled = true
	return err
}

func (t *jointTerms) largest(ctx context.Context) ([]uint64, error) {
	for i := range t.hands {
		t.hands[i].scales = cleared(t.hands[i].scales, t.f.blocks(t.length))
	}
	err := t.forEach(ctx, func(h *hand, _ int, v []float64) {
		h.term = t.f.exponents(h.term[:0], v)
		Max.Combine(h.scales, h.term)
	})
	t.scales = t.combine(Max, t.scales, func(h *hand) []uint64 { return h.scales })
	return t.scales, err
}

func (t *jointTerms) words(ctx context.Context, scales []uint64, flagged bool) ([]uint64, error) {
	length := t.f.words(t.length)
	if flagged {
		length += len(scales)
	}
	for i := range t.hands {
		t.hands[i].words = cleared(t.hands[i].words, length)
	}
	err := t.forEach(ctx, func(h *hand, k int, v []float64) {
		h.term = t.f.encode(h.term[:0], v, scales, t.draws[k])
		if flagged {
			h.term = t.f.flags(h.term, v, scales)
		}
		Sum.Combine(h.words, h.term)
	})
	t.sums = t.combine(Sum, t.sums, func(h *hand) []uint64 { return h.words })
	return t.sums, err
}

func (t *jointTerms) binder() Binder { return nil }

func (t *jointTerms) reduce(ctx context.Context, op Op, bits int, words []uint64) error {
	return t.reducer.ReduceTogether(ctx, op, bits, words)
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
