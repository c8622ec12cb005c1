package session

import (
	"context"
	"slices"

	"dsbo"
	"dsbo/network"
)

// Reduce implements [network.Reducer]. It is one exchange, in stages along the spanning tree of
// [network.Matrix.Tree]: an agent waits for the words of those below it; sends its parent its own
// words combined with theirs, and all neighbours that are not next to it in the tree a frame
// without a payload; waits for its parent's words, which are the result; and sends these down. So
// it takes as many hops as twice the tree's height, and one frame in each direction of each edge.
// Where all agents of the lowest height are below one child of the root, a sum takes a hop less:
// that child and the root send each other the words of their sides at once, which are the result
// together ([network.Tree.Opposite]). Sums are masked unless Config.Unmasked is set.
func (s *Session) Reduce(ctx context.Context, op network.Op, bits int, words []uint64) error {
	return s.ReduceAll(ctx, []network.Reduction{{Op: op, Bits: bits, Words: words}})
}

// ReduceAll implements [network.JointReducer], as Reduce does [network.Reducer].
func (s *Session) ReduceAll(ctx context.Context, all []network.Reduction) error {
	return s.wrap(", reducing", s.reduce(ctx, all))
}

func (s *Session) reduce(ctx context.Context, all []network.Reduction) error {
	if err := s.running(ctx); err != nil {
		return err
	}
	r, err := newReduction(s, all)
	if err != nil {
		return s.failed(err)
	}
	bound := s.bound
	s.bound = [32]byte{}
	if r.op == network.Sum && s.masks != nil {
		tag, err := s.masks.Mask(s.x.round, bound, r.parts)
		if err != nil {
			return s.failed(err)
		}
		r.purpose = taggedWith(r.purpose, tag)
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
		words += len(x.Words)
		if err := network.CheckReduction(x.Op, x.Bits); err != nil {
			return err
		}
		if x.Op != all[0].Op {
			return dsbo.ConfigErrorf("what is reduced together must have one operation; it has %d and %d",
				all[0].Op, x.Op)
		}
	}
	if words > most {
		return dsbo.ConfigErrorf("a reduction must have at most %d words; it has %d",
			most, words)
	}
	return nil
}

// A reduction is one call of ReduceAll by one agent: one exchange, in which it waits for the agents
// below it before it sends to its parent, and for its parent before it sends to those below.
type reduction struct {
	s       *Session
	op      network.Op
	parts   []network.Reduction // parts of words
	words   []uint64
	purpose uint64
}

// newReduction returns the reduction of some words, which travel one after the other. The first one
// of a session finds the tree.
func newReduction(s *Session, all []network.Reduction) (r reduction, err error) {
	if err := checkReductions(all, s.config.mostWords()); err != nil {
		return r, err
	}
	if s.tree == nil {
		t := s.matrix.Tree()
		if t == nil {
			return r, dsbo.ConfigErrorf("the graph must be connected to reduce over it")
		}
		s.tree, s.opposite = t, t.Opposite()
	}
	first := all[0]
	if len(all) == 1 {
		purpose := reducing(first.Op, first.Bits, len(first.Words))
		return reduction{s, first.Op, all, first.Words, purpose}, nil
	}
	s.joint = s.joint[:0]
	for _, x := range all {
		s.joint = append(s.joint, x.Words...)
	}
	r = reduction{s, first.Op, slices.Clone(all), s.joint, reducing(first.Op, severalBits+len(all), len(s.joint))}
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
	x := r.s.x
	parent, below, meets := r.neighbours()
	isParent := func(p *tie) bool { return p.position == parent }
	isBelow := func(p *tie) bool { return slices.Contains(below, p.position) }
	x.about(waiting)
	if err := r.takeWords(ctx, isBelow, r.combine); err != nil {
		return err
	}
	r.truncate()
	empty := newFrame(r.s.header(r.purpose), 0)
	if err := x.post(empty, func(p *tie) bool { return !isParent(p) && !isBelow(p) }); err != nil {
		return err
	}
	if parent >= 0 {
		if err := x.post(r.frame(), isParent); err != nil {
			return err
		}
		take := func(dst, src []uint64) { copy(dst, src) }
		if meets {
			take = r.combine
		}
		if err := r.takeWords(ctx, isParent, take); err != nil {
			return err
		}
		r.truncate()
	}
	if len(below) > 0 {
		if err := x.post(r.frame(), isBelow); err != nil {
			return err
		}
	}
	if err := r.s.awaitWork(ctx, r.purpose, everyone, nothing); err != nil {
		return err
	}
	x.advance()
	return nil
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
	t, i, opposite := r.s.tree, r.s.position, r.s.opposite
	parent, below = t.Parent[i], t.Children[i]
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
	frame := newFrame(r.s.header(r.purpose), bytes)
	for _, x := range r.parts {
		frame = network.PackWords(frame, x.Bits, x.Words)
	}
	return frame
}

// unpack fills words from a payload.
func (r *reduction) unpack(words []uint64, payload []byte) error {
	for k, x := range r.parts {
		own := payload
		if k < len(r.parts)-1 {
			own = payload[:min(len(payload), network.PackedBytes(x.Bits, len(x.Words)))]
		}
		if err := network.UnpackWords(words[:len(x.Words)], x.Bits, own); err != nil {
			return err
		}
		words, payload = words[len(x.Words):], payload[len(own):]
	}
	return nil
}

// takeWords waits for the words of some neighbours and takes them in.
func (r *reduction) takeWords(ctx context.Context, from func(p *tie) bool, take func(dst, src []uint64)) error {
	s := r.s
	s.words = resize(s.words, len(r.words))
	return s.awaitWork(ctx, r.purpose, from, func() (*tie, error) {
		for _, p := range s.x.ties {
			if !from(p) {
				continue
			}
			if err := r.unpack(s.words, s.x.came(p).payload); err != nil {
				return p, err
			}
			take(r.words, s.words)
		}
		return nil, nil
	})
}

// truncate drops what the words have above their bits.
func (r *reduction) truncate() {
	for _, x := range r.parts {
		for i := range x.Words {
			x.Words[i] &= ^uint64(0) >> (64 - min(x.Bits, 64))
		}
	}
}
