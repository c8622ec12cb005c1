package grpc

import (
	"context"
	"errors"
	"fmt"

	"dsbo"
	"dsbo/network"
	"dsbo/network/grpc/holdup"
)

var (
	_ network.Rewinder = (*Mixer)(nil)
	_ network.Team     = (*Mixer)(nil)
	_ network.Saver    = (*Mixer)(nil)
	_ network.Waiter   = (*Mixer)(nil)

	_ dsbo.CombiningMixer = (*Mixer)(nil)
)

// Mix implements dsbo.Mixer. After the end of its ctx it can be called again with the same src,
// and after a [*network.RollbackError] with Rewind before; the others wait meanwhile. Any other
// error lasts, and ends the exchange for all agents with an [*network.EndedError].
func (m *Mixer) Mix(ctx context.Context, dst, src []float64) error {
	round := m.flow.round
	if err := m.mix(ctx, dst, src); err != nil {
		return fmt.Errorf("agent %d, exchange %d: %w", m.config.Agent, round, err)
	}
	return nil
}

func (m *Mixer) mix(ctx context.Context, dst, src []float64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(dst) != len(src) {
		return m.failWith(dsbo.ShapeErrorf("dst and src must have one length; they have %d and %d",
			len(dst), len(src)))
	}
	if len(src) > m.config.MaxFloats {
		return m.failWith(dsbo.ConfigErrorf("a vector must have at most MaxFloats = %d numbers; it has %d",
			m.config.MaxFloats, len(src)))
	}
	e := entry{frame: m.encodeMix(src), sends: m.view.matrix.Sends(m.view.position)}
	err := m.flow.exchange(ctx, mixing, e, func() (*edge, error) {
		if bad, err := m.findTerms(e.frame[headerSize:], len(src)); err != nil {
			return bad, err
		}
		m.view.combiner.Combine(dst, m.terms)
		if finite(dst) {
			return nil, nil
		}
		return m.checkFinite()
	})
	if err != nil {
		return err
	}
	m.flow.advance()
	return nil
}

// checkFinite returns a neighbour whose vector has numbers that are not finite, and which does not
// say so: it has not diverged, but is broken. m.terms has the terms of the sum.
func (m *Mixer) checkFinite() (bad *edge, err error) {
	edges := m.view.edges
	for k, w := range m.view.matrix.Row(m.view.position) {
		if w.Agent == m.view.position {
			continue
		}
		e := edges[0]
		edges = edges[1:]
		if e.came[m.flow.round%2].purpose&notFinite == 0 && !finite(m.terms[k]) {
			return e, errors.New("it sends numbers that are not finite")
		}
	}
	return nil, nil
}

// finite reports whether all numbers are. The sum of x−x is 0 unless one is not.
func finite(v []float64) bool {
	var a, b, c, d float64
	for ; len(v) >= 4; v = v[4:] {
		a += v[0] - v[0]
		b += v[1] - v[1]
		c += v[2] - v[2]
		d += v[3] - v[3]
	}
	for _, x := range v {
		a += x - x
	}
	return a+b+c+d == 0
}

// encodeMix returns the frame of a vector that is mixed.
func (m *Mixer) encodeMix(src []float64) []byte {
	purpose := mixing
	if !finite(src) {
		purpose |= notFinite
	}
	if m.config.Wire == network.Float64 {
		return encodeVector(m.flow.round, purpose, src)
	}
	return m.config.Wire.Encode(newFrame(header{kindVector, m.flow.round, purpose}, m.config.Wire.Bytes(len(src))), src)
}

// findTerms sets m.in to the terms of this agent's sum, each of n numbers, or returns a neighbour
// whose vector is none. own is the payload that it has sent, not the vector itself, which may be
// where the sum goes: a long sum writes that before it has read all terms.
func (m *Mixer) findTerms(own []byte, length int) (bad *edge, err error) {
	edges, wire := m.view.edges, m.config.Wire
	for k, w := range m.view.matrix.Row(m.view.position) {
		payload := own
		var e *edge
		if w.Agent != m.view.position {
			e, edges = edges[0], edges[1:]
			payload = e.slot[m.flow.round%2]
		}
		if want := wire.Bytes(length); len(payload) != want {
			return e, dsbo.ShapeErrorf(
				"neighbours must send equally many numbers; agent %d sends %d bytes and agent %d sends %d",
				m.config.Agent, want, e.id, len(payload))
		}
		if wire == network.Float64 {
			m.terms[k] = vectorOf(payload)
			continue
		}
		m.decoded[k] = resize(m.decoded[k], length)
		if err := wire.Decode(m.decoded[k], payload); err != nil {
			return e, err
		}
		m.terms[k] = m.decoded[k]
	}
	return nil, nil
}

// Rewind implements [network.Rewinder]. What has been sent from round on is sent again when it
// is mixed again, and the neighbours are asked for theirs. They check that it is the same.
func (m *Mixer) Rewind(round int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return m.err
	}
	switch {
	case round < 0 || round > m.flow.round:
		return dsbo.ConfigErrorf("agent %d can rewind to exchanges 0 to %d, its present one; it was to rewind to %d",
			m.config.Agent, m.flow.round, round)
	case m.flow.rollback != nil && round > m.flow.rollback.Round:
		return m.flow.rollback
	}
	m.config.Log.Info("going back", "from exchange", m.flow.round, "to", round)
	m.flow.round, m.flow.missing, m.flow.rollback = round, 0, nil
	m.watch.Begin(holdup.Computing)
	m.finish = newFinish(m)
	m.rewinds++
	m.flow.window.rewind(round)
	for _, e := range m.view.edges {
		e.rewind(round)
	}
	return nil
}

// CombineBy implements dsbo.CombiningMixer.
func (c combining) CombineBy(by func(dst []float64, in [][]float64)) error {
	return c.of.view.combiner.CombineBy(by)
}
