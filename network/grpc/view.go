package grpc

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"dsbo"
	"dsbo/network/membership"
)

// newView returns an agent's part in an epoch, of the edges that it has to all neighbours.
func newView(c *Config, e membership.Epoch, all []*edge) (view, error) {
	p := view{epoch: e, position: -1}
	for _, edge := range all {
		edge.position = -1
	}
	position, member := e.Position(c.Agent)
	if !member {
		return p, nil
	}
	matrix, err := c.Matrix.Members(e)
	if err != nil {
		return p, err
	}
	p.matrix, p.position, p.local, p.combiner = matrix, position, []int{position}, matrix.Combiner(position)
	for _, j := range matrix.Neighbours(position) {
		for _, edge := range all {
			if edge.id == e.Members[j] {
				edge.position = j
				p.edges = append(p.edges, edge)
			}
		}
	}
	return p, nil
}

// Changes implements [network.Reformer].
func (m *Mixer) Changes() membership.Log {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.chamber == nil {
		return nil
	}
	return slices.Clip(m.chamber.log)
}

// AwaitChange implements [network.Reformer].
func (m *Mixer) AwaitChange(ctx context.Context, lost bool) error {
	m.mu.Lock()
	m.stateLost = lost
	m.mu.Unlock()
	return m.flow.await(ctx, func() bool { return false })
}

// Reform implements [network.Reformer]. The streams to members that do the same carry
// vectors again.
func (m *Mixer) Reform(e membership.Epoch, round int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return m.err
	}
	if m.chamber == nil || e.Number > len(m.chamber.log) || e.Number < m.view.epoch.Number {
		return dsbo.ConfigErrorf("an epoch must be decided and not before the present one, %d; it is %d",
			m.view.epoch.Number, e.Number)
	}
	if _, member := e.Position(m.config.Agent); member && e.Number > 0 {
		if err := m.config.checkMembers(e); err != nil { // others that allow it have decided
			return err
		}
	}
	m.neighbours.admittedEdges(e.Edges)
	p, err := newView(&m.config, e, m.neighbours.edges)
	if err != nil {
		return err
	}
	m.config.Log.Info("a new epoch", "epoch", e.Number, "exchange", round, "members", e.Members)
	again := e.Number == m.view.epoch.Number
	m.view = p
	m.terms, m.decoded = make([][]float64, len(p.edges)+1), make([][]float64, len(p.edges)+1)
	m.flow.round, m.flow.missing, m.flow.rollback = round, 0, nil
	m.finish, m.stateLost, m.saved = newFinish(m), false, round
	if m.handovers.handover.epoch < e.Number && !m.handovers.handover.reading {
		m.handovers.handover = handover{} // who still asks for it has it read again
	}
	m.watch.BeginEpoch(round, again)
	m.flow.window = window{start: round, maxFrames: m.flow.window.maxFrames, maxBytes: m.flow.window.maxBytes}
	for _, edge := range m.neighbours.edges {
		edge.reform(round)
	}
	return m.keys.SetEpoch(e)
}

// reform makes this exchange the first one over the edge.
func (e *edge) reform(round int) {
	e.received, e.next, e.sent, e.credit = round, round, 0, round
	e.digests, e.expectsStale, e.pending, e.radius, e.conduct.computes, e.conduct.blank = digests{}, false, 0, 0,
		holding{}, blank{}
	s := e.session
	if s == nil {
		return
	}
	s.announceDue = true
	if s.remote == e.m.view.epoch.Number { // it was there first
		e.credit = s.remoteSent
		e.sendFrom(s.remoteNext)
	}
	s.wake()
}

// handleHello takes in the epoch of the neighbour that has said hello, and has it told this
// agent's: the hello's may have passed.
func (s *session) handleHello(h hello) {
	s.remote, s.remoteSent, s.remoteNext = h.epoch, h.sent, h.next
	if s.e.m.chamber == nil {
		return
	}
	s.announced, s.announceDue = -1, true
	s.e.compareLogs(h.epoch)
}

// compareLogs has the council bring a neighbour, which knows the changes up to an epoch, and this
// agent to the same ones.
func (e *edge) compareLogs(epoch int) {
	if c := e.m.chamber; epoch != len(c.log) {
		c.deliver(letter{neighbour: e.id, epoch: epoch})
	}
}

// epochFrame tells the neighbour this agent's epoch.
func (s *session) epochFrame() []byte {
	m := s.e.m
	s.announced, s.announceDue = m.view.epoch.Number, false
	return encode(header{kindEpoch, m.flow.window.end(), s.e.received},
		binary.LittleEndian.AppendUint64(nil, uint64(s.announced)))
}

// handleEpoch takes in the neighbour's epoch.
func (e *edge) handleEpoch(f *frame) error {
	if e.m.chamber == nil || len(f.text) != 8 || binary.LittleEndian.Uint64(f.text) > maxNumber {
		return fmt.Errorf("an epoch must be a number, of a run whose members change; it is %x", f.text)
	}
	e.session.remote = int(binary.LittleEndian.Uint64(f.text))
	e.compareLogs(e.session.remote)
	if e.session.remote == e.m.view.epoch.Number {
		e.credit = f.exchange
		e.sendFrom(f.detail)
	}
	return nil
}

// isInEarlierEpoch reports whether the neighbour has yet to begin this agent's epoch: it computes
// what it has begun in one before, or readies its state.
func (e *edge) isInEarlierEpoch() bool {
	return e.session != nil && e.session.remote < e.m.view.epoch.Number
}
