package grpc

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"

	"dsbo"
	"dsbo/network"

	rpc "google.golang.org/grpc"
)

// A Mixer is one agent's end of an exchange between processes. It implements [network.Rewinder], and
// [network.Team] with this one agent. Mix, Gather, Rewind and Drain belong to one goroutine at a time; any
// goroutine may call the other methods.
type Mixer struct {
	config Config
	server *rpc.Server

	// dialing ends when no new stream is wanted, streams when none may go on.
	dialing, streams  context.Context
	stopDial, stopAll context.CancelFunc
	work              sync.WaitGroup
	closing           sync.Once
	signal            chan struct{} // holds one wake-up of Mix, Gather or Drain
	in                [][]float64   // the terms of a sum
	rows              []float64     // those that Gather sends
	local             []int         // this agent
	flood             *flood        // nil before the first Gather

	mu        sync.Mutex
	edges     []*edge // in ascending order of the neighbours
	round     int     // the next exchange, or the one under way
	window    window
	missing   int       // neighbours that an exchange waits for
	waitStart time.Time // since when
	rollback  *network.RollbackError
	finished  bool                // Drain has begun
	recorded  bool                // Config.AllFinished has been called; true if there is none
	ended     *network.EndedError // why all agents have to end; nil while the run goes on
	err       error               // what Mix and Gather return from now on; nil while all is well
	closed    bool
	rewinds   int64
	refused   int64
	refusals  map[string]time.Time // those that have just been logged: when, by host and reason

	vectors, vectorBytes int64 // see Status
}

var (
	_ network.Rewinder = (*Mixer)(nil)
	_ network.Team     = (*Mixer)(nil)
)

// Mix implements dsbo.Mixer. After the end of its ctx it can be called again with the same src,
// and after a [*network.RollbackError] with Rewind before; the others wait meanwhile. Any other
// error lasts, and ends the exchange for all agents with an [*network.EndedError].
func (m *Mixer) Mix(ctx context.Context, dst, src []float64) error {
	round := m.round
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
		return m.failWith(dsbo.Errorf(dsbo.ErrShape, "dst and src must have one length; they have %d and %d", len(dst), len(src)))
	}
	own, err := m.exchange(ctx, mixing, src)
	if err != nil {
		return err
	}
	row := m.sumTerms(own) // not src, which may be dst: a long sum writes that before it has read all terms
	for k, w := range row {
		if len(m.in[k]) != len(src) {
			return m.failWith(dsbo.Errorf(dsbo.ErrShape, "neighbours must send equally many numbers; agent %d sends %d and agent %d sends %d",
				m.config.Agent, len(src), w.Agent, len(m.in[k])))
		}
	}
	network.Combine(dst, row, m.in)
	m.advance()
	return nil
}

// exchange sends src to all neighbours and waits for their vectors of this exchange, which stay in their slots
// until advance and the next exchange. own is a copy of src, which must not be changed.
func (m *Mixer) exchange(ctx context.Context, purpose int, src []float64) (own []float64, err error) {
	if len(src) > m.config.MaxFloats {
		return nil, m.failWith(dsbo.Errorf(dsbo.ErrConfig, "a vector must have at most MaxFloats = %d numbers; it has %d", m.config.MaxFloats, len(src)))
	}
	frame := encodeVector(m.round, purpose, src)
	if err := m.publish(frame, purpose, len(src)); err != nil {
		return nil, err
	}
	if err := m.await(ctx, func() bool { return m.missing == 0 }); err != nil {
		return nil, err
	}
	for _, e := range m.edges {
		if other := e.purpose[m.round%2]; other != purpose {
			return nil, m.failWith(dsbo.Errorf(dsbo.ErrShape, "neighbours must do the same; agent %d %s and agent %d %s",
				m.config.Agent, purposeName(purpose), e.id, purposeName(other)))
		}
	}
	return vectorOf(frame), nil
}

// advance makes the next exchange the present one.
func (m *Mixer) advance() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.round++
}

// publish puts the frame of this exchange, with so many numbers, before the neighbours.
func (m *Mixer) publish(frame []byte, purpose, floats int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.interrupted(); err != nil {
		return err
	}
	if m.round == m.window.end() {
		m.window.add(frame)
		if purpose == mixing {
			sends := int64(m.config.Matrix.Sends(m.config.Agent))
			m.vectors += sends
			m.vectorBytes += sends * 8 * int64(floats)
		}
	} else if !bytes.Equal(m.window.get(m.round), frame) {
		return m.failLocked(fmt.Errorf("%w: this agent, exchange %d", ErrConflict, m.round))
	}
	m.waitStart = time.Now()
	m.missing = 0
	for _, e := range m.edges {
		if e.received <= m.round {
			m.missing++
		}
		e.checkKept()
		e.wake()
	}
	return nil
}

// sumTerms sets m.in to the terms of this agent's sum and returns their weights.
func (m *Mixer) sumTerms(own []float64) []network.Weight {
	row := m.config.Matrix.Row(m.config.Agent)
	edges := m.edges
	for k, w := range row {
		if w.Agent == m.config.Agent {
			m.in[k] = own
		} else {
			m.in[k] = edges[0].slot[m.round%2]
			edges = edges[1:]
		}
	}
	return row
}

// await waits until ready, which it asks under the lock whenever something has changed.
func (m *Mixer) await(ctx context.Context, ready func() bool) error {
	for {
		m.mu.Lock()
		ok, err := ready(), ctx.Err()
		if err == nil {
			err = m.interrupted()
		}
		if err != nil {
			m.missing = 0
		}
		m.mu.Unlock()
		switch {
		case ok:
			return nil
		case err != nil:
			return err
		}
		select {
		case <-m.signal:
		case <-ctx.Done():
		}
	}
}

// notifyWaiter wakes Mix, Gather or Drain.
func (m *Mixer) notifyWaiter() {
	select {
	case m.signal <- struct{}{}:
	default:
	}
}

// interrupted returns why Mix, Gather and Drain cannot go on.
func (m *Mixer) interrupted() error {
	if m.err == nil && m.rollback != nil {
		return m.rollback
	}
	return m.err
}

// rollBack notes that a neighbour needs what is no longer kept.
func (m *Mixer) rollBack(neighbour, round int) {
	if m.rollback == nil || round < m.rollback.Round {
		m.rollback = &network.RollbackError{Neighbour: neighbour, Round: round}
		m.config.Log.Warn("a neighbour needs exchanges that are no longer kept", "neighbour", neighbour,
			"from", round, "kept from", m.window.start)
		m.notifyWaiter()
	}
}

// Rewind implements [network.Rewinder]. What has been sent from round on is sent again when it
// is mixed again, and the neighbours are asked for theirs. They check that it is the same.
func (m *Mixer) Rewind(round int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return m.err
	}
	last := m.round
	if m.rollback != nil {
		last = min(last, m.rollback.Round)
	}
	if round < 0 || round > last {
		return dsbo.Errorf(dsbo.ErrConfig, "agent %d, at exchange %d, can rewind to exchanges 0 to %d; it was to rewind to %d",
			m.config.Agent, m.round, last, round)
	}
	m.config.Log.Info("going back", "from exchange", m.round, "to", round)
	m.round, m.missing, m.rollback = round, 0, nil
	m.finished, m.recorded = false, m.config.AllFinished == nil
	m.rewinds++
	m.window.rewind(round)
	for _, e := range m.edges {
		e.rewind(round)
	}
	return nil
}

// Drain implements [network.Rewinder].
func (m *Mixer) Drain(ctx context.Context) error {
	m.beginDrain()
	err := m.await(ctx, m.allFinished)
	if err == nil {
		err = m.recordFinish()
	}
	if err == nil {
		err = m.await(ctx, m.drained)
	}
	if err != nil {
		return fmt.Errorf("agent %d, after exchange %d, waiting for the others' end: %w", m.config.Agent, m.round, err)
	}
	return nil
}

// recordFinish has the caller keep that all agents have finished, and lets the neighbours know.
func (m *Mixer) recordFinish() error {
	if m.config.AllFinished != nil {
		if err := m.config.AllFinished(); err != nil {
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.recorded = true
	m.announce()
	return nil
}

func (m *Mixer) beginDrain() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.finished = true
	m.announce()
}

// allFinished reports whether this agent knows that all have finished.
func (m *Mixer) allFinished() bool { return m.radius() >= m.config.Matrix.N() }

// drained reports whether this agent can leave.
func (m *Mixer) drained() bool { return m.recorded && m.radius() == m.lastRadius() }

// radius returns 0 until this agent has finished, and then 1 more than the least radius of its neighbours. At radius
// r+1 all agents up to r edges away have finished, so that at radius n all have: none can come back and need what
// another one sends.
func (m *Mixer) radius() int {
	if !m.finished {
		return 0
	}
	least := m.lastRadius() - 1
	for _, e := range m.edges {
		least = min(least, e.radius)
	}
	return 1 + least
}

// announcedRadius returns the radius that the neighbours are told. They leave when all of theirs have announced radius n,
// which this agent does once it has recorded the finish.
func (m *Mixer) announcedRadius() int {
	if m.recorded {
		return m.radius()
	}
	return min(m.radius(), m.config.Matrix.N()-1)
}

// lastRadius is the radius at which an agent leaves. It is one above n, because the neighbours of one that has
// got so far are at radius 2 or more: they know that it has finished, and understand its end.
func (m *Mixer) lastRadius() int { return m.config.Matrix.N() + 1 }

// announce tells all neighbours how far this agent is in the end of the run.
func (m *Mixer) announce() {
	for _, e := range m.edges {
		e.announce()
	}
}

// Fail ends the run for all agents: their Mix and Gather return an [*network.EndedError] with this agent's
// number, err's message and its kind, and that of this agent an error that wraps err. The first failure counts.
// Close brings the news to the neighbours that can be reached.
func (m *Mixer) Fail(err error) { m.failWith(err) }

func (m *Mixer) failWith(err error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.failLocked(err)
}

// failLocked ends the run for all agents because of an error of this one, which it returns.
func (m *Mixer) failLocked(err error) error {
	if m.err == nil {
		m.endRun(m.config.Agent, network.Kind(err), []byte(err.Error()))
		m.err = err
	}
	return err
}

// endRun ends the run for all agents, because of an agent's error with this kind and text.
func (m *Mixer) endRun(agent, kind int, text []byte) {
	if m.err != nil {
		return
	}
	m.ended = &network.EndedError{Process: fmt.Sprintf("agent %d", agent), Number: agent, Reason: oneLine(text), Kind: kind}
	m.err = m.ended
	m.notifyWaiter()
	for _, e := range m.edges {
		e.wake()
	}
}

// oneLine returns at most maxText bytes of a text without control characters.
func oneLine(text []byte) string {
	s := strings.ToValidUTF8(string(text[:min(len(text), maxText)]), "")
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}
