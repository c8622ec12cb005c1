package session

import (
	"context"
	"errors"
	"slices"

	"dsbo"
	"dsbo/internal/linalg"
	"dsbo/network"
)

// Mix implements [network.Reducer].
func (s *Session) Mix(ctx context.Context, dst, src []float64) error {
	return s.wrap("", s.mix(ctx, dst, src))
}

// mix sends src to all neighbours, waits for their vectors of the same round, and combines them
// into dst.
func (s *Session) mix(ctx context.Context, dst, src []float64) error {
	if err := s.running(ctx); err != nil {
		return err
	}
	if len(dst) != len(src) {
		return s.failed(dsbo.ShapeErrorf("dst and src must have one length; they have %d and %d", len(dst), len(src)))
	}
	if len(src) > s.config.MaxFloats {
		return s.failed(dsbo.ConfigErrorf("a vector must have at most MaxFloats = %d numbers; it has %d",
			s.config.MaxFloats, len(src)))
	}
	frame := s.encodeMix(src)
	if err := s.x.post(frame, everyone); err != nil {
		return err
	}
	err := s.awaitWork(ctx, mixing, everyone, func() (*edge, error) {
		if bad, err := s.findTerms(frame[headerSize:], len(src)); err != nil {
			return bad, err
		}
		s.Combine(dst, s.terms)
		if linalg.AllFinite(dst) {
			return nil, nil
		}
		return s.findUnannounced()
	})
	if err != nil {
		return err
	}
	s.x.advance()
	return nil
}

// findUnannounced returns a neighbour whose vector has numbers that are not finite without the flag
// of a diverged agent: it is broken. s.terms is the terms of the sum. It returns nil where all
// have the flag, or this agent's own numbers are not finite: the caller's method finds that it has
// diverged.
func (s *Session) findUnannounced() (bad *edge, err error) {
	for k, p := range s.row {
		if p != nil && s.x.came(p).purpose&notFinite == 0 && !linalg.AllFinite(s.terms[k]) {
			return p, errors.New("it sends numbers that are not finite")
		}
	}
	return nil, nil
}

// encodeMix returns the frame of this agent's vector in the present exchange.
func (s *Session) encodeMix(src []float64) []byte {
	purpose := uint64(mixing)
	if !linalg.AllFinite(src) {
		purpose |= notFinite
	}
	if s.config.Wire == network.Float64 {
		return encodeVector(s.header(purpose), src)
	}
	return s.config.Wire.Encode(newFrame(s.header(purpose), s.config.Wire.Bytes(len(src))), src)
}

func (s *Session) header(purpose uint64) frame {
	return frame{kind: kindVector, exchange: s.x.round, session: s.x.id, purpose: purpose}
}

// findTerms sets s.terms to the terms of this agent's sum, each of n numbers, or returns a
// neighbour whose vector is none. own is the payload that this agent has sent, not the vector
// itself, which may be where the sum goes: a long sum writes that before it has read all terms.
func (s *Session) findTerms(own []byte, length int) (bad *edge, err error) {
	wire := s.config.Wire
	for k, p := range s.row {
		payload := own
		if p != nil { // not this agent's own place
			payload = s.x.came(p).payload
		}
		if want := wire.Bytes(length); len(payload) != want { // p is a neighbour: own is of length
			return p, dsbo.ShapeErrorf(
				"neighbours must send equally many numbers; agent %d sends %d bytes and agent %d sends %d",
				s.config.Agent, want, p.agent, len(payload))
		}
		if wire == network.Float64 {
			s.terms[k] = vectorOf(payload)
			continue
		}
		s.decoded[k] = resize(s.decoded[k], length)
		if err := wire.Decode(s.decoded[k], payload); err != nil {
			return p, err
		}
		s.terms[k] = s.decoded[k]
	}
	return nil, nil
}

func resize[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// Gather implements [network.Team] by reductions to the largest, which are not masked: see
// [network.GatherWords].
func (s *Session) Gather(ctx context.Context, rows [][]float64) error {
	err := network.CheckRows(rows, s.matrix.N())
	if err != nil {
		err = s.failed(err)
	} else {
		err = network.GatherWords(rows, s.Local(), func(words []uint64) error {
			for lo, most := 0, s.config.mostWords(); lo == 0 || lo < len(words); lo += most {
				part := network.Reduction{Op: network.Max, Bits: 64, Words: words[lo:min(lo+most, len(words))]}
				if err := s.reduce(ctx, []network.Reduction{part}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return s.wrap(", gathering", err)
}

// Reduce implements [network.Reducer]. It is one exchange, in stages along the spanning tree of
// [network.Matrix.Tree]: an agent waits for the words of those below it; sends its parent its own
// words combined with theirs, and all neighbours that are not next to it in the tree a frame
// without a payload; waits for its parent's words, which are the result; and sends these down. So
// it takes as many hops as twice the tree's height, and one frame in each direction of each edge.
// Where all agents of the lowest height are below one child of the root, sums and flags take a hop
// less: that child and the root send each other the words of their sides at once, which are the
// result together ([network.Tree.Opposite]). Sums are masked unless Config.Unmasked is set.
func (s *Session) Reduce(ctx context.Context, all ...network.Reduction) error {
	return s.wrap(", reducing", s.reduce(ctx, all))
}

// reduce combines the words of all agents over the tree, with masks on sums if the session has
// them.
func (s *Session) reduce(ctx context.Context, all []network.Reduction) error {
	if err := s.running(ctx); err != nil {
		return err
	}
	r, err := newReduction(s, all)
	if err != nil {
		return s.failed(err)
	}
	bound := s.bound
	s.bound = [32]byte{} // it was for this reduction alone
	if r.op == network.Sum && s.masks != nil {
		tag, err := s.masks.Mask(s.x.round, bound, all)
		if err != nil {
			return s.failed(err)
		}
		r.purpose = taggedWith(r.purpose, tag)
	}
	return r.run(ctx)
}

// A reduction is one agent's call of Reduce: one exchange, in which it waits for its children in
// the tree before it sends to its parent, and for its parent before it sends to its children.
type reduction struct {
	s       *Session
	op      network.Op
	parts   []network.Reduction // whose words travel one after the other
	purpose uint64
}

// newReduction returns the reduction of some words, or an error if they cannot be reduced together.
// The first one of a session finds the tree.
func newReduction(s *Session, all []network.Reduction) (r reduction, err error) {
	words := 0
	for _, x := range all {
		words += len(x.Words)
		if err := x.Check(); err != nil {
			return r, err
		}
		if x.Op != all[0].Op {
			return r, dsbo.ConfigErrorf("what is reduced together must have one operation; it has %d and %d",
				all[0].Op, x.Op)
		}
	}
	if most := s.config.mostWords(); words > most {
		return r, dsbo.ConfigErrorf("a reduction must have at most %d words; it has %d", most, words)
	}
	if s.tree == nil {
		if s.tree = s.matrix.Tree(); s.tree == nil {
			return r, dsbo.ConfigErrorf("the graph must be connected to reduce over it")
		}
		s.opposite = s.tree.Opposite()
	}
	bits := all[0].Bits // of the purpose, by which agents find out that they do other work
	if len(all) > 1 {
		bits = severalBits + len(all)
	}
	return reduction{s, all[0].Op, all, reducing(all[0].Op, bits, words)}, nil
}

// run combines the words of the agents below this one with its own, sends them to its parent, and
// passes the result on.
func (r *reduction) run(ctx context.Context) error {
	x := r.s.x
	parent, below, meets := r.neighbours()
	isParent := func(p *edge) bool { return p.position == parent }
	isBelow := func(p *edge) bool { return slices.Contains(below, p.position) }
	x.about(waiting)
	if err := r.takeWords(ctx, isBelow, true); err != nil {
		return err
	}
	r.truncate() // masks and sums go beyond the words' bits
	empty := newFrame(r.s.header(r.purpose), 0)
	if err := x.post(empty, func(p *edge) bool { return !isParent(p) && !isBelow(p) }); err != nil {
		return err
	}
	if parent >= 0 {
		if err := x.post(r.frame(), isParent); err != nil {
			return err
		}
		if err := r.takeWords(ctx, isParent, meets); err != nil { // the result, or the other side's words
			return err
		}
		r.truncate()
	}
	if len(below) > 0 {
		if err := x.post(r.frame(), isBelow); err != nil {
			return err
		}
	}
	if err := r.s.awaitWork(ctx, r.purpose, everyone, nil); err != nil { // empty frames of the others
		return err
	}
	x.advance()
	return nil
}

// neighbours returns the parent of this agent, -1 if there is none, and the agents below it. The
// root and the agent opposite it are each other's parent in a sum, and where flags are gathered:
// their words meet, and are the result together. In a maximum of numbers, which is not masked, the
// root is like any other agent.
func (r *reduction) neighbours() (parent int, below []int, meets bool) {
	t, i, opposite := r.s.tree, r.s.position, r.s.opposite
	parent, below = t.Parent[i], t.Children[i]
	if r.op != network.Sum && r.parts[0].Bits > 1 || opposite < 0 {
		return parent, below, false
	}
	if i == t.Root {
		parent, below = opposite, slices.DeleteFunc(slices.Clone(below), func(j int) bool { return j == opposite })
		// of the agent opposite the root is the parent anyway
	}
	return parent, below, i == t.Root || i == opposite
}

// frame returns the frame of the words of all parts: each packed by itself, from a byte on.
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

// takeWords waits for the words of some neighbours, and combines its own with them or, where they
// are the result, has these in their place.
func (r *reduction) takeWords(ctx context.Context, from func(p *edge) bool, combine bool) error {
	return r.s.awaitWork(ctx, r.purpose, from, func() (*edge, error) {
		for _, p := range r.s.x.edges {
			if !from(p) {
				continue
			}
			if err := r.takeIn(r.s.x.came(p).payload, combine); err != nil {
				return p, err
			}
		}
		return nil, nil
	})
}

// takeIn takes in the words of a payload: it combines its own with them or, as the result, puts
// them in their place.
func (r *reduction) takeIn(payload []byte, combine bool) error {
	for k, x := range r.parts {
		part := payload
		if k < len(r.parts)-1 { // the last one is all the rest, so that bytes too many are an error
			part = payload[:min(len(payload), network.PackedBytes(x.Bits, len(x.Words)))]
		}
		payload = payload[len(part):]
		theirs := x.Words
		if combine {
			r.s.words = resize(r.s.words, len(x.Words))
			theirs = r.s.words
		}
		if err := network.UnpackWords(theirs, x.Bits, part); err != nil {
			return err
		}
		if combine {
			r.op.Combine(x.Bits, x.Words, theirs)
		}
	}
	return nil
}

// truncate clears the bits of words above their width.
func (r *reduction) truncate() {
	for _, x := range r.parts {
		x.Truncate()
	}
}
