package algotest

import (
	"context"
	"fmt"
	"sync"

	"dsbo"
)

// A Mixer is one agent's end of an in-process exchange. It counts what it was asked.
type Mixer struct {
	Messages int // calls of Mix
	Floats   int // numbers in them, which is what goes to each neighbour

	w    []float64 // row of W
	sent int       // calls of Mix, also those before Reset
	self int
	out  []chan []float64 // to neighbour j; nil where there is none
	in   []chan []float64
	bufs [2][]float64 // what the neighbours read, in turn
}

// NewMixers joins the agents of a mixing matrix. Two agents are neighbours where W or its transpose
// is not zero, so that each exchange is one in both directions.
func NewMixers(W [][]float64) []*Mixer {
	n := len(W)
	edge := make([][]chan []float64, n)
	for i := range edge {
		edge[i] = make([]chan []float64, n)
		for j := range n {
			if i != j && (W[i][j] != 0 || W[j][i] != 0) {
				edge[i][j] = make(chan []float64, 1)
			}
		}
	}
	ms := make([]*Mixer, n)
	for i := range ms {
		in := make([]chan []float64, n)
		for j := range n {
			in[j] = edge[j][i]
		}
		ms[i] = &Mixer{w: W[i], self: i, out: edge[i], in: in}
	}
	return ms
}

// Mix sends src to the neighbours and sums what they sent, in ascending order of their number. A
// buffer is written again two exchanges later, when every neighbour has read it: it has sent its
// next one since.
func (m *Mixer) Mix(ctx context.Context, dst, src []float64) error {
	if len(dst) != len(src) {
		return fmt.Errorf("mix: %d numbers into %d: %w", len(src), len(dst), dsbo.ErrShape)
	}
	buf := &m.bufs[m.sent%2]
	m.sent++
	m.Messages++
	m.Floats += len(src)
	*buf = append((*buf)[:0], src...)
	for _, c := range m.out {
		if c == nil {
			continue
		}
		select {
		case c <- *buf:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	clear(dst)
	for j, c := range m.in {
		v := *buf
		if j != m.self {
			if c == nil {
				continue
			}
			select {
			case v = <-c:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if len(v) != len(dst) {
			return fmt.Errorf("mix: neighbour %d sent %d numbers, want %d: %w", j, len(v), len(dst), dsbo.ErrShape)
		}
		for i := range dst {
			dst[i] += float64(m.w[j] * v[i])
		}
	}
	return nil
}

// Reset sets the counts to zero.
func (m *Mixer) Reset() { m.Messages, m.Floats = 0, 0 }

// Ring is the mixing matrix of a ring of n agents: w for itself, the rest shared by the neighbours.
func Ring(n int, w float64) [][]float64 {
	W := zeros(n)
	for i := range n {
		W[i][i] += w
		W[i][(i+1)%n] += (1 - w) / 2
		W[i][(i+n-1)%n] += (1 - w) / 2
	}
	return W
}

// Average is the mixing matrix whose mix is the exact average.
func Average(n int) [][]float64 {
	W := zeros(n)
	for i := range n {
		for j := range n {
			W[i][j] = 1 / float64(n)
		}
	}
	return W
}

func zeros(n int) [][]float64 {
	W := make([][]float64, n)
	for i := range W {
		W[i] = make([]float64, n)
	}
	return W
}

// Step runs iteration k of all agents, each in its own goroutine, and returns the error that came
// first. It stops the other agents through ctx.
func Step[A dsbo.Algorithm](ctx context.Context, k int, as []A, os []dsbo.Oracle, ms []*Mixer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for i := range as {
		wg.Go(func() {
			if err := as[i].Step(ctx, k, os[i], ms[i]); err != nil {
				cancel(fmt.Errorf("agent %d: %w", i, err))
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}
