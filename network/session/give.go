package session

import (
	"context"
	"encoding/binary"
	"slices"
	"time"
)

const (
	// maxPiece bounds a piece of what an agent takes over.
	maxPiece = 60 << 10
	// maxGift bounds all of it.
	maxGift = 1 << 30
)

// A handover is what an agent gives, or takes over, as a session begins. Whoever takes asks for one
// piece after the other; a question that is lost is asked again.
type handover struct {
	gift  []byte    // what this agent gives; nil: it is not ready, or nothing is given
	giver int       // who gives to this agent
	taken []byte    // from that one
	total int       // its length; -1: not known yet
	asked time.Time // when the next piece was asked for; zero: it has not been
}

// Enters reports whether this agent lacks what the session begins with, and takes it over.
func (s *Session) Enters() bool { return slices.Contains(s.Entering, s.config.Agent) }

// Join hands over what members that enter lack, and waits until all members have begun the session.
// In an agent that enters it calls keep before, with what it takes over, which must be on the disk
// when keep returns. No exchange comes before it.
func (s *Session) Join(ctx context.Context, keep func(given []byte) error) error {
	givers := s.givers()
	if s.Enters() {
		given, err := s.takeOver(ctx, givers[s.config.Agent])
		if err == nil {
			err = keep(given)
		}
		if err == nil {
			err = s.record()
		}
		if err != nil {
			return s.wrap(", taking over", err)
		}
	}
	for _, giver := range givers {
		if giver == s.config.Agent {
			var gift []byte
			err := s.ledger.during(func() (err error) {
				gift, err = s.config.Store.Handover(s.Begin)
				return err
			})
			if err != nil {
				return s.wrap(", giving", err)
			}
			s.x.offer(gift)
			break
		}
	}
	_, err := s.gatherFlags(ctx, false)
	s.x.offer(nil)
	return err
}

// givers returns the neighbour from which each member that enters takes over what it lacks: the
// first of those nearest to one that has it, which may enter too and pass it on. Replays of a log
// find the same ([network.Matrix.Giver]).
func (s *Session) givers() map[int]int {
	var holders []int
	for k, i := range s.Epoch.Members {
		if !slices.Contains(s.Entering, i) {
			holders = append(holders, k)
		}
	}
	depth := s.matrix.Distances(holders...)
	givers := map[int]int{}
	for _, i := range s.Entering {
		k, _ := s.Epoch.Position(i)
		for _, j := range s.matrix.Neighbours(k) {
			if depth[j] < depth[k] {
				givers[i] = s.Epoch.Members[j]
				break
			}
		}
	}
	return givers
}

// offer sets what this agent gives.
func (x *exchange) offer(gift []byte) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.handover.gift = gift
}

// takeOver asks a neighbour for what this agent lacks, until all of it is here.
func (s *Session) takeOver(ctx context.Context, giver int) ([]byte, error) {
	x := s.x
	x.mu.Lock()
	x.handover = handover{giver: giver, total: -1}
	x.mu.Unlock()
	err := x.awaitWhere(ctx, func() bool {
		h := &x.handover
		if h.total == len(h.taken) {
			return true
		}
		if p := x.tieOf(giver); p != nil && p.conn != nil && h.asked.IsZero() {
			h.asked = time.Now()
			p.send(newFrame(frame{kind: kindState, session: x.id, purpose: uint64(len(h.taken))}, 0))
		}
		return false
	})
	x.mu.Lock()
	defer x.mu.Unlock()
	taken := x.handover.taken
	x.handover = handover{}
	return taken, err
}

// takeState takes in a question for a piece, which has no payload, or a piece: the length of the
// whole, 8 bytes, and what begins at the frame's purpose.
func (x *exchange) takeState(c *conn, f frame) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	h := &x.handover
	if len(f.payload) == 0 {
		if h.gift == nil || f.purpose > uint64(len(h.gift)) {
			return nil // it will be asked again
		}
		piece := h.gift[f.purpose:][:min(maxPiece, len(h.gift)-int(f.purpose))]
		head := newFrame(frame{kind: kindState, session: x.id, purpose: f.purpose}, 8+len(piece))
		c.send(append(binary.LittleEndian.AppendUint64(head, uint64(len(h.gift))), piece...))
		return nil
	}
	if len(f.payload) < 8 {
		return badFramef("a piece of a state must have 8 bytes and more; it has %d", len(f.payload))
	}
	total, piece := binary.LittleEndian.Uint64(f.payload), f.payload[8:]
	switch {
	case c.to != h.giver || f.purpose != uint64(len(h.taken)) || h.total == len(h.taken):
		return nil // asked for twice
	case total > maxGift || f.purpose+uint64(len(piece)) > total:
		return badFramef("a state must have at most %d bytes; it has %d, with a piece of %d at %d", maxGift, total,
			len(piece), f.purpose)
	}
	h.taken, h.total, h.asked = append(h.taken, piece...), int(total), time.Time{}
	x.notify()
	return nil
}
