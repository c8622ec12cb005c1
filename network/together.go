package network

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"dsbo"
	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
)

// Together is the ends of all agents of a process, as one caller has them: it makes their terms of
// an average with the processors that there are, and adds them before anything is exchanged. The
// averages, and what counts as sent, are the same as if each agent called [Averager.AverageOn] by
// itself: whole numbers are added, in any order. In one process nothing is sent at all.
//
// Its memory is a few vectors for each processor and, while it averages, a vector for each agent:
// an average that asks for scales, or does not fit them, makes the agents' words several times. It
// belongs to one goroutine at a time.
type Together struct {
	averages *Averages       // of the team
	reducer  TogetherReducer // of several ends; nil: each reduces by itself
	ends     []*Averager     // in the order of their agents
	binder   Binder          // of the masks of one end; nil: there are none
	errs     []error         // of the agents
	workers  []worker        // of the goroutines

	bundle                                      // of the average under way
	fill   func(k int, parts [][]float64) error // nil: the vectors of one agent have its parts
	rows   []float64                            // the vectors of the agents, one after the other
	filled bool                                 // these are made
	draws  []draws                              // of the vectors, by agents
	sums   []uint64                             // scratch
}

// A worker is the memory of one of the goroutines that make terms.
type worker struct {
	words   []uint64    // of its agents, combined
	term    []uint64    // of one agent
	parts   [][]float64 // vectors of one agent
	rounded []float64
}

// Together returns some ends as one: an agent's alone, or those of all local agents in their order.
func (a *Averages) Together(ends []*Averager) *Together {
	t := &Together{averages: a, ends: ends, errs: make([]error, len(ends)),
		workers: make([]worker, min(runtime.GOMAXPROCS(0), len(ends)))}
	if len(ends) == 1 {
		t.binder, _ = ends[0].mixer.(Binder)
	} else {
		t.reducer, _ = a.team.(TogetherReducer)
	}
	return t
}

// reduce combines words of the agents here, combined, with the words of other processes.
func (t *Together) reduce(ctx context.Context, all ...Reduction) error {
	switch {
	case len(t.ends) == 1:
		return t.ends[0].mixer.Reduce(ctx, all...)
	case t.reducer == nil:
		return t.reduceEach(ctx, all)
	}
	return t.reducer.ReduceTogether(ctx, all...)
}

// reduceEach is reduce over the agents' own ends: the first one brings the words, and others zeros.
func (t *Together) reduceEach(ctx context.Context, all []Reduction) error {
	var calls sync.WaitGroup
	for k, end := range t.ends {
		own := slices.Clone(all)
		for i, r := range all {
			if k > 0 {
				own[i].Words = make([]uint64, len(r.Words))
			}
		}
		calls.Go(func() { t.errs[k] = end.mixer.Reduce(ctx, own...) })
	}
	calls.Wait()
	return errors.Join(t.errs...)
}

// Average is AverageOn on the wire of the options, without feedback of errors.
func (t *Together) Average(ctx context.Context, fill func(k int, parts [][]float64) error, dst ...dsbo.Named) error {
	return t.AverageOn(ctx, fill, t.ends[0].onWire(dst)...)
}

// AverageOn sets vectors to the averages over all agents of the parts that fill makes of this
// process's agents, k = 0, 1, ... in their order, for several of them at a time; an agent's parts
// have the lengths of the vectors, and any values before. Without fill, which is for one end, its
// parts are in the vectors. The error of the first agent whose parts fail is returned as it is.
func (t *Together) AverageOn(ctx context.Context, fill func(k int, parts [][]float64) error, vectors ...Vector) error {
	memory := t.ends[0].memory
	t.open(t.averages, memory, vectors)
	t.fill, t.filled, t.draws = fill, false, t.draws[:0]
	if fill != nil {
		rows := rowsMemory.Get()
		defer rowsMemory.Add(rows)
		need := t.Floats * len(t.ends)
		*rows = slices.Grow((*rows)[:0], need)[:need]
		t.rows = *rows
	}
	for _, end := range t.ends { // ends that average by themselves later go on with this memory
		end.memory, end.shares = memory, len(t.ends) > 1
		for range vectors {
			t.draws = append(t.draws, end.nextDraws())
		}
	}
	t.averages.label(BySum, vectors...)
	if err := t.average(ctx); err != nil {
		return err
	}
	t.averages.label(BySum)
	for _, end := range t.ends {
		end.trip = t.Trip
		end.sent.Add(t.averages.traffic(end.id, t.Trip))
	}
	if !slices.ContainsFunc(vectors, func(v Vector) bool { return v.Lost != nil }) {
		return nil
	}
	return forEach(context.WithoutCancel(ctx), t.workers, t.errs, func(h *worker, k int) error {
		for i, v := range t.vectors {
			if v.Lost != nil {
				h.term, h.rounded = v.f.keepLost(v.Lost[k], v.scales, t.drawsOf(k)[i], h.term, h.rounded)
			}
		}
		return nil
	})
}

func (t *Together) drawsOf(k int) []draws {
	n := len(t.vectors)
	return t.draws[k*n:][:n]
}

// average finds the averages of all agents' terms. The bits are the same as for one vector at a
// time. Without unknown scales it takes one exchange. Masks are bound to all earlier sums and to
// their scales.
func (t *Together) average(ctx context.Context) error {
	bound := t.memory.bound // of earlier sums and their scales
	bind := func(words []uint64) {
		if t.binder != nil {
			bound = bound.then(words)
		}
	}
	for t.begin() {
		if t.words(Max) > 0 { // some ask for scales
			if err := t.exchange(ctx, Max); err != nil {
				return err
			}
		}
		for v := range t.travelling(Sum) {
			if v.kind != nil && !v.asks {
				v.scales = append(v.scales[:0], v.kind.scales...)
			}
			bind(v.scales)
		}
		if t.binder != nil {
			t.binder.Bind(bound)
		}
		if err := t.exchange(ctx, Sum); err != nil {
			return err
		}
		for _, r := range t.reducing {
			bind(r.Words)
		}
	}
	t.memory.bound = bound
	return nil
}

// exchange reduces the terms of all agents, scales or words, of the vectors that travel in it, and
// takes in the results. Each vector is a reduction of its own, as words have its number of bits.
func (t *Together) exchange(ctx context.Context, op Op) error {
	words, err := t.combined(ctx, op)
	if err != nil {
		return err
	}
	t.Exchanges++
	t.reducing = t.reducing[:0]
	rest := words
	for v := range t.travelling(op) {
		r := Reduction{op, v.bits(op), rest[:v.words(op)]}
		t.reducing, rest = append(t.reducing, r), rest[len(r.Words):]
		t.Bytes += PackedBytes(r.Bits, len(r.Words))
	}
	if err := t.reduce(ctx, t.reducing...); err != nil {
		return err
	}
	for v := range t.travelling(op) {
		n := v.words(op)
		t.takeIn(v, op, words[:n])
		words = words[n:]
	}
	return nil
}

// combined returns what [bundle.appendTerm] appends, of all agents here, combined, in t.sums. Each
// worker combines the terms of the agents that it takes; then the workers' are combined.
func (t *Together) combined(ctx context.Context, op Op) ([]uint64, error) {
	if len(t.ends) == 1 { // whose term is the sum
		h := &t.workers[0]
		if err := t.makeParts(ctx, h, 0); err != nil {
			return nil, err
		}
		t.filled = true
		if t.sums = t.appendTerm(t.sums[:0], op, h.parts, t.draws); op == Sum && t.binder != nil {
			t.hide(t.sums, h.parts, t.binder)
		}
		return t.sums, nil
	}
	for i := range t.workers {
		t.workers[i].words = cleared(t.workers[i].words, t.words(op))
	}
	if t.filled { // what is left takes no time, and other processes wait for it
		ctx = context.WithoutCancel(ctx)
	}
	err := forEach(ctx, t.workers, t.errs, func(h *worker, k int) error {
		err := t.makeParts(ctx, h, k)
		if err == nil {
			h.term = t.appendTerm(h.term[:0], op, h.parts, t.drawsOf(k))
			t.combine(op, h.words, h.term)
		}
		return err
	})
	t.filled = true
	t.sums = append(t.sums[:0], t.workers[0].words...)
	for i := range t.workers[1:] {
		t.combine(op, t.sums, t.workers[1+i].words)
	}
	return t.sums, err
}

// makeParts sets h.parts to the parts of an agent, and makes them in the first exchange of an
// average: by fill, with the errors that are fed back added.
func (t *Together) makeParts(ctx context.Context, h *worker, k int) error {
	h.parts = h.parts[:0]
	for _, v := range t.vectors {
		h.parts = append(h.parts, v.Dst)
	}
	if t.fill != nil {
		cutRow(h.parts, t.rows[k*t.Floats:])
	}
	if t.filled {
		return nil
	}
	if t.fill != nil {
		if err := cmp.Or(ctx.Err(), t.fill(k, h.parts)); err != nil {
			return err
		}
	}
	for i, v := range t.vectors {
		if v.Lost != nil {
			linalg.Add(v.Lost[k], v.Lost[k], h.parts[i])
			copy(h.parts[i], v.Lost[k])
		}
	}
	return nil
}

// cutRow replaces vectors by parts of a row, of their lengths.
func cutRow(vectors [][]float64, row []float64) {
	for i, v := range vectors {
		vectors[i], row = row[:len(v)], row[len(v):]
	}
}

// rowsMemory has the rows of averages that have ended: the averages of a method and of evaluation,
// which are never at the same time, then take the same memory.
var rowsMemory kernel.Spares[[]float64]

// cleared returns n zeros, in the memory of words if that is enough.
func cleared(words []uint64, n int) []uint64 {
	words = slices.Grow(words[:0], n)[:n]
	clear(words)
	return words
}

// forEach calls f for all k below the number of errs, with a worker each time that nobody else has,
// and returns the error of the first k that failed, else why ctx is done: no call starts then. errs
// is scratch. One worker needs no other goroutine.
func forEach[W any](ctx context.Context, workers []W, errs []error, f func(w *W, k int) error) error {
	clear(errs)
	var next atomic.Int64
	take := func(w *W) {
		for ctx.Err() == nil {
			k := int(next.Add(1)) - 1
			if k >= len(errs) {
				return
			}
			errs[k] = f(w, k)
		}
	}
	var others sync.WaitGroup
	for i := range workers[1:] {
		others.Go(func() { take(&workers[1+i]) })
	}
	take(&workers[0])
	others.Wait()
	return cmp.Or(cmp.Or(errs...), ctx.Err())
}
