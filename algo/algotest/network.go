package algotest

import (
	"context"
	"fmt"
	"sync"

	"dsbo"
	"dsbo/algo"
	"dsbo/network"
)

// A Mixer is one agent's end of an exchange, with a count of what it was asked. It can be made
// to fail.
type Mixer struct {
	of        *network.Averager
	algo.Cost     // of the exchanges; no questions are counted
	Longest   int // numbers of the longest vector that was exchanged
	also      dsbo.MixerCapabilities
	// FailAt, when not 0, makes the FailAt-th call (from 1) return Err without an exchange.
	FailAt int
	Err    error // what the exchange FailAt returns
}

// NewMixers joins the agents of a mixing matrix by an exchange in this process.
func NewMixers(W [][]float64) []*Mixer {
	m, err := network.NewMatrix(W)
	if err != nil {
		panic(err)
	}
	return NewMixersOver(m)
}

// NewMixersOver joins the agents of a matrix with its mixing.
func NewMixersOver(m *network.Matrix) (ms []*Mixer) {
	team := network.NewLocal(m)
	averages, err := network.NewAverages(team, m, network.AverageOptions{})
	if err != nil {
		panic(err)
	}
	for _, i := range team.Local() {
		ms = append(ms, newMixer(averages.Agent(i)))
	}
	return ms
}

// newMixer returns an agent's end with a count.
func newMixer(of *network.Averager) *Mixer {
	m := &Mixer{of: of}
	m.also = of.Around(m, m.countMix)
	m.also.Average = func(ctx context.Context, vectors ...dsbo.Named) error {
		m.Averages += len(vectors)
		m.Joined += len(vectors) - 1
		for _, v := range vectors {
			m.AverageFloats += len(v.Value)
			if v.Name == algo.LossesOfShorterSteps {
				m.Shorter++
			}
			m.Longest = max(m.Longest, len(v.Value))
		}
		return m.call(func() error { return of.Average(ctx, vectors...) })
	}
	return m
}

// Capabilities implements [dsbo.Mixer].
func (m *Mixer) Capabilities() *dsbo.MixerCapabilities { return &m.also }

// Mix counts and exchanges.
func (m *Mixer) Mix(ctx context.Context, dst, src []float64) error {
	return m.countMix(len(src), func() error { return m.of.Mix(ctx, dst, src) })
}

// countMix counts and makes an exchange by W of n numbers.
func (m *Mixer) countMix(n int, exchange func() error) error {
	m.Messages++
	m.Floats += n
	m.Longest = max(m.Longest, n)
	return m.call(exchange)
}

// call makes an exchange, which has been counted, unless it is to fail.
func (m *Mixer) call(exchange func() error) error {
	if m.exchanges() == m.FailAt {
		return m.Err
	}
	return exchange()
}

// exchanges returns the calls of Mix and Average.
func (m *Mixer) exchanges() int { return m.Messages + m.Averages - m.Joined }

// Reset sets the counts to zero.
func (m *Mixer) Reset() { m.Cost = algo.Cost{} }

// Ring is the mixing matrix of a ring of n agents: w for itself, the rest shared by the neighbours.
func Ring(n int, w float64) [][]float64 { return rows(network.Ring(n, w)) }

// Average is the mixing matrix whose mix is the exact average.
func Average(n int) [][]float64 { return rows(network.Server(n)) }

func rows(g *network.Graph, err error) [][]float64 {
	if err != nil {
		panic(err)
	}
	return g.W.Dense()
}

// Run runs iterations from..to−1 of all agents, each in its own goroutine, and returns the error
// that came first. It stops the other agents through ctx.
func Run[A dsbo.Algorithm](ctx context.Context, from, to int, as []A, os []dsbo.Oracle, ms []*Mixer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for i := range as {
		wg.Go(func() {
			for k := from; k < to; k++ {
				if err := stepAgent(ctx, k, as[i], os[i], ms[i]); err != nil {
					cancel(fmt.Errorf("agent %d: %w", i, err))
					return
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// Step runs iteration k of all agents, as [Run] does.
func Step[A dsbo.Algorithm](ctx context.Context, k int, as []A, os []dsbo.Oracle, ms []*Mixer) error {
	return Run(ctx, k, k+1, as, os, ms)
}

// stepAgent runs iteration k of one agent.
func stepAgent(ctx context.Context, k int, a dsbo.Algorithm, o dsbo.Oracle, m *Mixer) error {
	m.of.Begin(2 * uint64(k))
	return a.Step(ctx, k, o, m)
}

// lone is the exchange of a single agent. It allocates nothing itself.
type lone struct {
	code []float64
	also dsbo.MixerCapabilities
}

// newLone returns the mixer of a single agent, which has all capabilities.
func newLone() *lone {
	l := new(lone)
	l.also = dsbo.MixerCapabilities{Of: l,
		Place:     func() (agent, agents int) { return 0, 1 },
		CombineBy: func(func(dst []float64, in [][]float64)) error { return nil },
		Average:   func(context.Context, ...dsbo.Named) error { return nil },
		MixCompressed: func(ctx context.Context, dst, src []float64, c dsbo.Compressor) error {
			l.code = c.Encode(l.code[:0], src)
			if err := c.Decode(src, l.code); err != nil {
				return err
			}
			return l.Mix(ctx, dst, src)
		}}
	return l
}

func (l *lone) Capabilities() *dsbo.MixerCapabilities { return &l.also }

func (*lone) Mix(_ context.Context, dst, src []float64) error {
	copy(dst, src)
	return nil
}
