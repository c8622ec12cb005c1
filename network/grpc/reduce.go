package grpc

import (
	"context"
	"fmt"
	"slices"

	"dsbo"
	"dsbo/network"
)

var (
	_ network.JointReducer = (*Mixer)(nil)
	_ network.Binder       = (*Mixer)(nil)
)

// binding is what the masks of a mixer's next sum are bound to.
type binding struct {
	by *Mixer
	to [32]byte
}

// Bind implements [network.Binder].
func (b *binding) Bind(to [32]byte) { b.to = to }

// Noise implements [network.Binder]: without masks it leaves words as they are.
func (b *binding) Noise(words []uint64) { b.by.keys.Noise(b.by.flow.round, b.to, words) }

// Reduce implements [network.Reducer]. It is one exchange, which takes twice as many hops as the
// spanning tree of the graph is high, a sum one less where it can ([network.Tree.Opposite]): words
// go up to the root, combined with the words of each agent on their way, and the result comes down
// again. Sums are masked unless Config.Unmasked is set; the first one waits for the keys of all
// agents.
//
// After the end of its ctx, and after a [*network.RollbackError], it can be repeated with the same
// words once Rewind has gone back to the exchange at which it began, or before. Any other error
// lasts, as one of Mix does.
func (m *Mixer) Reduce(ctx context.Context, op network.Op, bits int, words []uint64) error {
	return m.ReduceAll(ctx, []network.Reduction{{Op: op, Bits: bits, Words: words}})
}

// ReduceAll implements [network.JointReducer], as Reduce does [network.Reducer].
func (m *Mixer) ReduceAll(ctx context.Context, all []network.Reduction) error {
	if err := m.reduce(ctx, all); err != nil {
		return fmt.Errorf("agent %d, exchange %d, reducing: %w", m.config.Agent, m.flow.round, err)
	}
	return nil
}

func (m *Mixer) reduce(ctx context.Context, all []network.Reduction) error {
	if err := m.flow.checkRunning(ctx); err != nil {
		return err
	}
	r, err := newReduction(m, all)
	if err != nil {
		return m.failWith(err)
	}
	bound := m.binding.to
	m.binding.to = [32]byte{}
	if r.op == network.Sum && !m.config.Unmasked {
		streams, err := m.awaitStreams(ctx, r.purpose, bound)
		if err != nil {
			return err
		}
		if err := streams.Mask(r.words, r.parts); err != nil {
			return m.failWith(err)
		}
		r.purpose = taggedWith(r.purpose, streams.Tag)
	}
	err = r.run(ctx)
	for k, x := range all {
		copy(x.Words, r.parts[k].Words)
	}
	return err
}

// checkReductions returns an error unless the words, of which there may be some at most, can be
// reduced together.
func checkReductions(all []network.Reduction, most int) error {
	words := 0
	for _, x := range all {
		if words += len(x.Words); x.Op > network.Max {
			return dsbo.ConfigErrorf("an operation must be %d to %d; it is %d",
				network.Sum, network.Max, x.Op)
		}
		if x.Op != all[0].Op {
			return dsbo.ConfigErrorf("what is reduced together must have one operation; it has %d and %d",
				all[0].Op, x.Op)
		}
		if x.Bits < 1 || x.Bits > 64 && x.Bits < network.Whole || x.Bits > network.Whole+1 {
			return dsbo.ShapeErrorf("words must have 1 to 64 bits; they have %d", x.Bits)
		}
	}
	if words > most {
		return dsbo.ConfigErrorf("a reduction must have at most MaxFloats = %d words; it has %d",
			most, words)
	}
	return nil
}

// A reduction is one call of ReduceAll by one agent: one exchange, in which it waits for the agents
// below it before it sends to its parent, and for its parent before it sends to those below.
type reduction struct {
	m       *Mixer
	op      network.Op
	parts   []network.Reduction // parts of words
	words   []uint64
	purpose int
}

// newReduction returns the reduction of some words, which travel one after the other. The first one
// of an epoch finds the tree.
func newReduction(m *Mixer, all []network.Reduction) (r reduction, err error) {
	if err := checkReductions(all, m.config.MaxFloats); err != nil {
		return r, err
	}
	if m.view.tree == nil {
		t := m.view.matrix.Tree()
		if t == nil {
			return r, dsbo.ConfigErrorf("the graph must be connected to reduce over it")
		}
		m.view.tree, m.view.opposite = t, t.Opposite()
		m.config.Log.Info("sums go up a tree and down again", "root", m.view.epoch.Members[t.Root], "height", t.Height)
	}
	first := all[0]
	if len(all) == 1 {
		purpose := reducing(first.Op, first.Bits, len(first.Words))
		return reduction{m, first.Op, all, first.Words, purpose}, nil
	}
	m.joint = m.joint[:0]
	for _, x := range all {
		m.joint = append(m.joint, x.Words...)
	}
	r = reduction{m, first.Op, slices.Clone(all), m.joint, reducing(first.Op, severalBits+len(all), len(m.joint))}
	rest := r.words
	for k := range r.parts {
		n := len(all[k].Words)
		r.parts[k].Words, rest = rest[:n], rest[n:]
	}
	return r, nil
}

// run combines the words of the agents below this one with its own, sends them to its parent, and
// passes the result on.
func (r *reduction) run(ctx context.Context) error {
	m := r.m
	x := &m.flow
	parent, below, meets := r.neighbours()
	if err := x.beginStaged(ctx, parent); err != nil {
		return err
	}
	if err := r.takeWords(ctx, below, r.combine); err != nil {
		return err
	}
	r.truncate()
	e := entry{frame: r.frame(), to: below, sends: len(below)} // of the root
	if parent >= 0 {
		e = entry{frame: e.frame, to: []int{parent}, below: below, sends: 1}
	}
	if err := x.publishUp(ctx, e); err != nil {
		return err
	}
	if parent >= 0 {
		take := func(dst, src []uint64) { copy(dst, src) }
		if meets {
			take = r.combine
		}
		if err := r.takeWords(ctx, e.to, take); err != nil {
			return err
		}
		r.truncate()
		if len(below) > 0 {
			if err := x.publishDown(ctx, r.frame()); err != nil {
				return err
			}
		}
	}
	err := x.awaitVectors(ctx, r.purpose, x.isComplete, r.checkOthers)
	if err == nil {
		x.advance()
	}
	return err
}

// combine combines words with others.
func (r *reduction) combine(dst, src []uint64) {
	for _, x := range r.parts {
		n := len(x.Words)
		r.op.Combine(x.Bits, dst[:n], src[:n])
		dst, src = dst[n:], src[n:]
	}
}

// neighbours returns the parent of this agent, -1 if there is none, and the agents below it. The
// root and the agent opposite it are each other's parent in a sum: their words meet, and are the
// result together. Of a maximum, which is not masked, the root's are not told apart.
func (r *reduction) neighbours() (parent int, below []int, meets bool) {
	t, i := r.m.view.tree, r.m.view.position
	parent, below = t.Parent[i], t.Children[i]
	opposite := r.m.view.opposite
	if r.op != network.Sum || opposite < 0 {
		return parent, below, false
	}
	if i == t.Root {
		parent, below = opposite, slices.DeleteFunc(slices.Clone(below), func(j int) bool { return j == opposite })
	}
	return parent, below, i == t.Root || i == opposite
}

// frame returns the words as they travel.
func (r *reduction) frame() []byte {
	bytes := 0
	for _, x := range r.parts {
		bytes += network.PackedBytes(x.Bits, len(x.Words))
	}
	frame := newFrame(header{kindVector, r.m.flow.round, r.purpose}, bytes)
	for _, x := range r.parts {
		frame = network.PackWords(frame, x.Bits, x.Words)
	}
	return frame
}

// unpack fills words from a payload, or checks it where there are none.
func (r *reduction) unpack(words []uint64, payload []byte) error {
	for k, x := range r.parts {
		own := payload
		if k < len(r.parts)-1 {
			own = payload[:min(len(payload), network.PackedBytes(x.Bits, len(x.Words)))]
		}
		if err := network.CheckPacked(len(x.Words), x.Bits, own); err != nil {
			return err
		}
		if payload = payload[len(own):]; words != nil {
			if err := network.UnpackWords(words[:len(x.Words)], x.Bits, own); err != nil {
				return err
			}
			words = words[len(x.Words):]
		}
	}
	return nil
}

// takeWords waits for the words of some neighbours, by their positions, and takes them in.
func (r *reduction) takeWords(ctx context.Context, from []int, take func(dst, src []uint64)) error {
	m := r.m
	slot := m.flow.round % 2
	senders := slices.DeleteFunc(slices.Clone(m.view.edges), func(e *edge) bool {
		return !slices.Contains(from, e.position)
	})
	ready := func() bool {
		return !slices.ContainsFunc(senders, func(e *edge) bool { return e.received <= m.flow.round })
	}
	err := m.flow.awaitVectors(ctx, r.purpose, ready, func() (*edge, error) {
		for _, e := range senders {
			if err := r.unpack(nil, e.slot[slot]); err != nil {
				return e, err
			}
		}
		return nil, nil
	})
	if err != nil {
		return err
	}
	m.mu.Lock()
	for _, e := range senders { // words of others follow from what they sent, before all is here
		e.digests.add(m.flow.round, e.came[slot])
	}
	m.mu.Unlock()
	m.words = resize(m.words, len(r.words))
	for _, e := range senders {
		if err := r.unpack(m.words, e.slot[slot]); err != nil {
			return m.failWith(err)
		}
		take(r.words, m.words)
	}
	return nil
}

// checkOthers returns a neighbour that sends words in this exchange though it is neither above nor
// below this agent, or nothing.
func (r *reduction) checkOthers() (bad *edge, err error) {
	t, position := r.m.view.tree, r.m.view.position
	for _, e := range r.m.view.edges {
		if sent := len(e.slot[r.m.flow.round%2]); sent > 0 && e.position != t.Parent[position] &&
			t.Parent[e.position] != position {
			return e, dsbo.ShapeErrorf(
				"there must be no words of agent %d in this exchange of a reduction; it sends %d bytes", e.id, sent)
		}
	}
	return nil, nil
}

// truncate drops what the words have above their bits.
func (r *reduction) truncate() {
	for _, x := range r.parts {
		for i := range x.Words {
			x.Words[i] &= ^uint64(0) >> (64 - min(x.Bits, 64))
		}
	}
}
