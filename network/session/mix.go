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
