package grpc

import (
	"context"
	"fmt"
	"slices"

	"dsbo"
	"dsbo/network"
)

var _ network.Reducer = (*Mixer)(nil)

// Reduce implements [network.Reducer]. It takes twice as many exchanges as the spanning tree of the
// graph is high: words go up to the root, combined with the words of each agent on their way, and
// the result comes down again. Sums are masked unless Config.Unmasked is set; the first one waits
// for the keys of all agents.
//
// After the end of its ctx, and after a [*network.RollbackError], it can be repeated with the same
// words once Rewind has gone back to the exchange at which it began, or before. Any other error
// lasts, as one of Mix does.
func (m *Mixer) Reduce(ctx context.Context, op network.Op, bits int, words []uint64) error {
	first := m.flow.round
	if err := m.reduce(ctx, op, bits, words); err != nil {
		return fmt.Errorf("agent %d, exchange %d, reducing since exchange %d: %w", m.config.Agent,
			m.flow.round, first, err)
	}
	return nil
}

func (m *Mixer) reduce(ctx context.Context, op network.Op, bits int, words []uint64) error {
	if err := m.flow.checkRunning(ctx); err != nil {
		return err
	}
	if err := m.checkReduction(op, bits, words); err != nil {
		return m.failWith(err)
	}
	r := reduction{m, op, bits, words, reducing(op, bits, len(words)), m.view.position}
	if op == network.Sum && !m.config.Unmasked {
		streams, err := m.awaitStreams(ctx, r.purpose)
		if err != nil {
			return err
		}
		if err := streams.Mask(words, bits); err != nil {
			return m.failWith(err)
		}
		r.purpose = taggedWith(r.purpose, streams.Tag)
	}
	if err := r.combineUp(ctx); err != nil {
		return err
	}
	return r.spreadDown(ctx)
}

// checkReduction returns an error unless the words can be reduced. It finds the tree at the
// first call.
func (m *Mixer) checkReduction(op network.Op, bits int, words []uint64) error {
	if op > network.Max {
		return dsbo.Errorf(dsbo.ErrConfig, "an operation must be %d to %d; it is %d", network.Sum, network.Max, op)
	}
	if bits < 1 || bits > 64 {
		return dsbo.Errorf(dsbo.ErrShape, "words must have 1 to 64 bits; they have %d", bits)
	}
	if most := m.config.MaxFloats; len(words) > most {
		return dsbo.Errorf(dsbo.ErrConfig, "a reduction must have at most MaxFloats = %d words; it has %d",
			most, len(words))
	}
	if m.view.tree == nil {
		t := m.view.matrix.Tree()
		if t == nil {
			return dsbo.Errorf(dsbo.ErrConfig, "the graph must be connected to reduce over it")
		}
		m.view.tree = t
		m.config.Log.Info("sums go up a tree and down again", "root", m.view.epoch.Members[t.Root], "height", t.Height)
	}
	return nil
}

// A reduction is one call of Reduce by one agent.
type reduction struct {
	m       *Mixer
	op      network.Op
	bits    int
	words   []uint64
	purpose int
	agent   int // its position
}

// combineUp combines the words of the agents below this one with its own and sends them to its
// parent. In each exchange, the agents of one depth send, the deepest first.
func (r *reduction) combineUp(ctx context.Context) error {
	t := r.m.view.tree
	depth := t.Depth[r.agent]
	for sending := t.Height; sending > 0; sending-- {
		var to, from []int
		switch depth {
		case sending:
			to = []int{t.Parent[r.agent]}
		case sending - 1:
			from = t.Children[r.agent]
		}
		if err := r.exchange(ctx, to, from, r.op.Combine); err != nil {
			return err
		}
	}
	r.truncate()
	return nil
}

// spreadDown replaces the words by the root's. In each exchange, the agents of one depth send, the
// root first.
func (r *reduction) spreadDown(ctx context.Context) error {
	t := r.m.view.tree
	depth := t.Depth[r.agent]
	for sending := range t.Height {
		var to, from []int
		switch depth {
		case sending:
			to = t.Children[r.agent]
		case sending + 1:
			from = []int{t.Parent[r.agent]}
		}
		if err := r.exchange(ctx, to, from, func(dst, src []uint64) { copy(dst, src) }); err != nil {
			return err
		}
	}
	return nil
}

// exchange sends the words to some neighbours, and takes in the words of others.
func (r *reduction) exchange(ctx context.Context, to, from []int, take func(dst, src []uint64)) error {
	m := r.m
	e := entry{to: to, sends: len(to)}
	if h := (header{kindVector, m.flow.round, r.purpose}); len(to) == 0 {
		e.frame = encode(h, nil)
	} else {
		r.truncate()
		e.frame = network.PackWords(newFrame(h, network.PackedBytes(r.bits, len(r.words))), r.bits, r.words)
	}
	if err := m.flow.exchange(ctx, r.purpose, e, func() (*edge, error) { return r.checkPayloads(from) }); err != nil {
		return err
	}
	for _, n := range m.view.edges {
		if slices.Contains(from, n.position) {
			m.words = resize(m.words, len(r.words))
			if err := network.UnpackWords(m.words, r.bits, n.slot[m.flow.round%2]); err != nil {
				return m.failWith(err)
			}
			take(r.words, m.words)
		}
	}
	m.flow.advance()
	return nil
}

// checkPayloads returns a neighbour whose payload of this exchange is not what those send that are
// in from, or nothing.
func (r *reduction) checkPayloads(from []int) (bad *edge, err error) {
	m := r.m
	for _, n := range m.view.edges {
		payload := n.slot[m.flow.round%2]
		switch sends := slices.Contains(from, n.position); {
		case sends:
			err = network.CheckPacked(len(r.words), r.bits, payload)
		case len(payload) > 0:
			err = dsbo.Errorf(dsbo.ErrShape,
				"there must be no words of agent %d in this exchange of a reduction; it sends %d bytes",
				n.id, len(payload))
		}
		if err != nil {
			return n, err
		}
	}
	return nil, nil
}

// truncate drops what the words have above their bits.
func (r *reduction) truncate() {
	for i := range r.words {
		r.words[i] &= ^uint64(0) >> (64 - r.bits)
	}
}
