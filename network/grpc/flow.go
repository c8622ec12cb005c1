package grpc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"dsbo"
	"dsbo/internal/wording"
	"dsbo/network"
	"dsbo/network/grpc/holdup"
)

// ErrConflict marks an exchange that was sent twice with different numbers: a run whose agents do
// not repeat themselves to the bit cannot be resumed.
var ErrConflict = errors.New("an exchange was repeated with other numbers")

// exchange sends an entry and waits for the neighbours' vectors of this exchange, which stay in
// their slots until advance and the next exchange. check returns a neighbour whose vector cannot
// be, and why; it is called again where that one is to send another.
func (x *flow) exchange(ctx context.Context, purpose int, e entry, check func() (bad *edge, reason error)) error {
	if err := x.publish(ctx, e); err != nil {
		return err
	}
	return x.awaitVectors(ctx, purpose, x.isComplete, check)
}

// awaitCouncil waits while the agent stands still for a proposal.
func (x *flow) awaitCouncil(ctx context.Context) error {
	if x.m.chamber == nil {
		return nil
	}
	return x.await(ctx, func() bool { return !x.m.chamber.held })
}

// awaitVectors waits until ready, and until check finds nothing wrong with what has come.
func (x *flow) awaitVectors(ctx context.Context, purpose int, ready func() bool,
	check func() (bad *edge, reason error)) error {
	for {
		if err := x.awaitAll(ctx, purpose, ready); err != nil {
			return err
		}
		bad, reason := check()
		if bad == nil {
			return nil
		}
		if err := x.reject(bad, reason); err != nil {
			return err
		}
	}
}

// awaitAll waits until ready, while no neighbour does something else than this agent.
func (x *flow) awaitAll(ctx context.Context, purpose int, ready func() bool) error {
	for {
		var other *edge
		err := x.await(ctx, func() bool {
			other = x.otherPurpose(purpose)
			return other != nil || ready()
		})
		if err != nil || other == nil {
			return err
		}
		err = x.reject(other, dsbo.ShapeErrorf("neighbours must do the same; agent %d %s and agent %d %s",
			x.m.config.Agent, purposeName(purpose), other.id, purposeName(other.came[x.round%2].purpose)))
		if err != nil {
			return err
		}
	}
}

// advance makes the next exchange the present one.
func (x *flow) advance() {
	x.m.mu.Lock()
	defer x.m.mu.Unlock()
	for _, e := range x.m.view.edges {
		e.conduct.barBeats = 0 // what it sent could be used
		e.digests.add(x.round, e.came[x.round%2])
	}
	x.round++
	x.staged = false
	x.m.watch.Advance(x.round)
	x.m.watch.Begin(holdup.Computing)
}

// publish puts the entry of this exchange before the neighbours, and begins to wait for theirs.
func (x *flow) publish(ctx context.Context, e entry) error {
	return x.stage(ctx, func() error {
		x.staged = false
		if err := x.putEntry(e); err != nil {
			return err
		}
		x.begin()
		return nil
	})
}

// putEntry puts the entry of this exchange before the neighbours.
func (x *flow) putEntry(e entry) error {
	if x.round == x.window.end() {
		x.window.add(e)
		x.countSent(e.sends, e.frame)
	} else if !x.window.at(x.round).equal(e) {
		return x.m.failLocked(fmt.Errorf("%w: this agent, exchange %d", ErrConflict, x.round))
	}
	for _, e := range x.m.view.edges {
		e.checkKept()
		e.wake()
	}
	return nil
}

// countSent counts the payload of a frame that goes to some neighbours.
func (x *flow) countSent(sends int, frame []byte) {
	x.m.vectors += int64(sends)
	x.m.vectorBytes += int64(sends) * int64(len(frame)-headerSize)
}

// begin has the exchange wait for those whose vectors are not here.
func (x *flow) begin() {
	x.m.watch.Begin(holdup.Exchanging)
	x.missing = 0
	for _, e := range x.m.view.edges {
		if e.received <= x.round {
			x.missing++
		}
	}
}

// isComplete reports whether the vectors of all neighbours are here.
func (x *flow) isComplete() bool { return x.missing == 0 }

// stage makes a step of an exchange, as soon as the agent need not stand still.
func (x *flow) stage(ctx context.Context, step func() error) error {
	if err := x.awaitCouncil(ctx); err != nil {
		return err
	}
	x.m.mu.Lock()
	defer x.m.mu.Unlock()
	if err := x.interruption(); err != nil {
		x.missing = 0
		return err
	}
	return step()
}

// beginStaged begins a reduction. parent is the position of the neighbour whose vector is due last,
// -1 if there is none.
func (x *flow) beginStaged(ctx context.Context, parent int) error {
	return x.stage(ctx, func() error {
		x.staged, x.due, x.parent = true, false, parent
		x.begin()
		return nil
	})
}

// publishUp puts the entry of a reduction before the neighbours, but for the result: now the
// parent's vector is due.
func (x *flow) publishUp(ctx context.Context, e entry) error {
	return x.stage(ctx, func() error {
		x.due = true
		return x.putEntry(e)
	})
}

// publishDown puts the result of a reduction before the neighbours below.
func (x *flow) publishDown(ctx context.Context, result []byte) error {
	return x.stage(ctx, func() error {
		switch e := x.window.at(x.round); {
		case e.result == nil:
			x.window.complete(result)
			x.countSent(len(e.below), result)
		case !bytes.Equal(e.result, result):
			return x.m.failLocked(fmt.Errorf("%w: this agent, exchange %d", ErrConflict, x.round))
		}
		for _, e := range x.m.view.edges {
			e.wake()
		}
		return nil
	})
}

// await waits until ready, which it asks under the lock whenever something has changed.
func (x *flow) await(ctx context.Context, ready func() bool) error {
	for {
		x.m.mu.Lock()
		ok, err := ready(), ctx.Err()
		if err == nil {
			err = x.interruption()
		}
		if err != nil && !ok {
			x.missing = 0 // the exchange is given up; a ready one goes on, also after an interruption
		}
		x.m.mu.Unlock()
		switch {
		case ok:
			return nil
		case err != nil:
			return err
		}
		select {
		case <-x.signal:
		case <-ctx.Done():
		}
	}
}

// notifyWaiter wakes Mix, Gather, Reduce or Drain.
func (x *flow) notifyWaiter() {
	select {
	case x.signal <- struct{}{}:
	default:
	}
}

// interruption returns why Mix, Gather, Reduce and Drain cannot go on.
func (x *flow) interruption() error {
	if x.m.err != nil {
		return x.m.err
	}
	if err := x.m.epochChange(); err != nil {
		return err
	}
	if x.rollback != nil {
		return x.rollback
	}
	return nil
}

// rollBack notes that a neighbour needs what is no longer kept.
func (x *flow) rollBack(neighbour, round int) {
	if x.rollback == nil || round < x.rollback.Round {
		x.rollback = &network.RollbackError{Neighbour: neighbour, Round: round}
		x.m.neighbours.edge(neighbour).conduct.spendSetback(x.rollback)
		x.m.config.Log.Warn("a neighbour needs exchanges that are no longer kept", "neighbour", neighbour,
			"from", round, "kept from", x.window.start)
		x.notifyWaiter()
	}
}

// otherPurpose returns the first neighbour whose vector of this exchange has come and is for
// another purpose, nil if there is none.
func (x *flow) otherPurpose(purpose int) *edge {
	for _, e := range x.m.view.edges {
		if e.received > x.round && !sameWork(e.came[x.round%2].purpose, purpose) {
			return e
		}
	}
	return nil
}

// reject returns the error with which the run ends because of the neighbour's vector of this
// exchange. Where there is a council it returns nil: the neighbour is refused for a while and has
// to send another vector, and the council leaves it out if it does not.
func (x *flow) reject(e *edge, reason error) error {
	x.m.mu.Lock()
	defer x.m.mu.Unlock()
	err := &network.PeerError{Process: fmt.Sprintf("agent %d", e.id), Exchange: x.round, Reason: reason}
	if x.m.chamber == nil {
		return x.m.failLocked(err)
	}
	e.received = x.round
	x.missing++
	if e.session != nil {
		e.session.drop(&offence{err})
	}
	return nil
}

// checkRunning returns an error if ctx or the exchange has ended, or a neighbour has this agent
// go back.
func (x *flow) checkRunning(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	x.m.mu.Lock()
	defer x.m.mu.Unlock()
	return x.interruption()
}

// sendFrom puts the vectors from this exchange on onto the stream, again if they were there before.
func (e *edge) sendFrom(exchange int) {
	e.next = min(exchange, e.m.flow.window.end())
	e.checkKept()
}

// checkKept asks for a rollback if the next vector for the neighbour is no longer kept.
func (e *edge) checkKept() {
	switch {
	case !e.carriesVectors():
	case e.next >= e.m.flow.window.start:
		e.conduct.blank = blank{}
	case e.m.chamber != nil && e.m.view.epoch.Number == 0 && e.next == 0 && e.m.hasSaved:
		e.conduct.blank.suspected = !e.conduct.blank.known
	default:
		e.m.flow.rollBack(e.id, e.next)
	}
}

// Fail ends the run for all agents: their Mix and Gather return an [*network.EndedError] with this
// agent's number, err's message and its kind, and this agent's an error that wraps err. The first
// failure counts. Close brings the news to the neighbours that can be reached. Where members
// change, the others go on without this agent if they are a quorum.
func (m *Mixer) Fail(err error) { m.failWith(err) }

func (m *Mixer) failWith(err error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.failLocked(err)
}

// failLocked ends the run for all agents because of an error of this one, which it returns.
func (m *Mixer) failLocked(err error) error {
	if m.err == nil {
		text := strings.Join(strings.Fields(dsbo.Shared(err)), " ")
		m.endRun(err, &network.EndedError{Number: m.config.Agent, Reason: bounded(text), Kind: network.Kind(err)})
	}
	return err
}

// endRun ends the run for this agent because of err, and for all others because of what this one
// tells its neighbours.
func (m *Mixer) endRun(err error, news *network.EndedError) {
	if m.err != nil {
		return
	}
	m.err, m.ended = err, news
	m.flow.notifyWaiter()
	for _, e := range m.neighbours.edges {
		e.wake()
	}
}

// bounded returns as much of a text as fits a frame, without characters that are not printable.
func bounded(text string) string {
	text = wording.Plain(text[:min(len(text), maxText)])
	return strings.ToValidUTF8(text[:min(len(text), maxText)], "")
}

// epochChange returns the error that stands for an epoch that is decided and not yet this agent's,
// nil if there is none.
func (m *Mixer) epochChange() error {
	if m.chamber == nil || len(m.chamber.log) == m.view.epoch.Number {
		return nil
	}
	return &network.ChangedError{Epoch: len(m.chamber.log)}
}
