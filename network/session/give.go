package session

import (
	"context"
	"slices"

	"dsbo"
	"dsbo/network"
)

// maxGift bounds a handover, in bytes.
const maxGift = 1 << 30

// Enters reports whether this agent lacks the session's starting state, and takes it over.
func (s *Session) Enters() bool { return slices.Contains(s.Entering, s.config.Agent) }

// Join hands the state over to joining members, and waits until all members have begun the session.
// At a joining agent it first calls keep with the state, which must be on the disk when keep
// returns. The caller's exchanges come after Join.
//
// Members take over in rounds: first the neighbours of agents that have the state, each from the
// first of these, then their neighbours, and so on. Replays of a log compute the same rounds
// ([network.Matrix.Giver]).
func (s *Session) Join(ctx context.Context, keep func(given []byte) error) error {
	var holders []int // positions of members that have the state
	for k, i := range s.Epoch.Members {
		if !slices.Contains(s.Entering, i) {
			holders = append(holders, k)
		}
	}
	depth := s.matrix.Distances(holders...)
	for round := 1; round <= slices.Max(depth); round++ {
		giver := func(k int) int { // the position of who gives to position k; -1: nobody does
			if depth[k] != round {
				return -1
			}
			all := s.matrix.Neighbours(k)
			return all[slices.IndexFunc(all, func(j int) bool { return depth[j] < round })]
		}
		given, err := s.pass(ctx, func(p *edge) bool { return giver(p.position) == s.position },
			func(p *edge) bool { return giver(s.position) == p.position })
		if err == nil && depth[s.position] == round {
			if err = keep(given); err == nil {
				err = s.record()
			}
		}
		if err != nil {
			return s.wrap(", handing over", err)
		}
	}
	_, err := s.gatherFlags(ctx, false) // which ends once all are here
	return err
}

// pass hands the session's starting state to the neighbours of gives, and returns the state
// received from one of takes. It takes an exchange for each piece of the longest state.
func (s *Session) pass(ctx context.Context, takes, gives func(p *edge) bool) (given []byte, err error) {
	var gift []byte
	if slices.ContainsFunc(s.x.edges, takes) {
		err := s.ledger.during(func() (err error) {
			gift, err = s.config.Store.Handover(s.Begin)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	length := []uint64{uint64(len(gift))} // then the longest: all make as many exchanges
	if err := s.Reduce(ctx, network.Reduction{Op: network.Max, Bits: 64, Words: length}); err != nil {
		return nil, err
	}
	if length[0] > maxGift {
		return nil, s.failed(dsbo.ConfigErrorf("what is handed over must have at most %d bytes; it has %d", maxGift,
			length[0]))
	}
	most := 8 * s.config.mostWords()
	for range (int(length[0]) + most - 1) / most {
		piece := gift[:min(len(gift), most)]
		gift = gift[len(piece):]
		head := s.header(handing)
		err := s.x.post(newFrame(head, 0), func(p *edge) bool { return !takes(p) })
		if err == nil {
			err = s.x.post(append(newFrame(head, len(piece)), piece...), takes)
		}
		if err == nil {
			err = s.awaitWork(ctx, handing, everyone, nil)
		}
		if err != nil {
			return nil, err
		}
		for _, p := range s.x.edges {
			if gives(p) { // one at most
				given = append(given, s.x.came(p).payload...)
			}
		}
		s.x.advance()
	}
	return given, nil
}
