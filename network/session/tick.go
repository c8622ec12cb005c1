package session

import (
	"context"
	"time"

	"dsbo"
)

// entrySaves is the least number of saves between two sessions that end to admit joining agents, so
// that an agent that joins and leaves repeatedly does not stop the run.
const entrySaves = 3

// every calls do once in a period until ctx is over. Calls do not overlap: a period that do takes
// longer than is left out.
func every(ctx context.Context, period time.Duration, do func(now time.Time)) {
	t := time.NewTicker(period)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			do(time.Now())
		case <-ctx.Done():
			return
		}
	}
}

// heartbeat sends this agent's state to neighbours and to all, and checks everything that may have
// taken too long.
func (a *Agent) heartbeat(now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	alive := frame{kind: kindAlive, purpose: uint64(meeting)}
	if s := a.chain.current; s != nil {
		alive.purpose = uint64(s.x.activity)
	}
	a.neighbours.beat(newFrame(alive, 0), now, a.config.SilentAfter)
	if busy := a.ledger.busy(now); busy >= a.config.PeerTimeout && a.err == nil {
		err := dsbo.Errorf(dsbo.ErrPeer, "the disk of agent %d has not answered for %v", a.config.Agent,
			busy.Round(time.Second))
		a.faultLocked(err)
		if hang := a.config.OnDiskHang; hang != nil {
			go hang(err)
		}
	}
	state := a.ledger.read()
	switch s := a.chain.current; {
	case a.err != nil:
	case s != nil:
		if o := a.config.overdue(s, state, now); o != nil {
			a.endLocked(o, true)
		}
	case state.Final:
		a.neighbours.flood(finalMessage(state))
		if !a.isThrough() {
			a.tellHere()
			a.proposeIfDue(now)
		}
		wake(a.news)
	default:
		a.convene(now)
	}
}

// convene announces this agent's presence to all, proposes a session if it is its turn, and gives
// up a meeting that leads to none. The caller has the lock.
func (a *Agent) convene(now time.Time) {
	a.tellHere()
	a.proposeIfDue(now)
	c := a.council
	if reason, isNew := c.newReason(); isNew {
		a.config.Log.Info("no session yet", "reason", reason)
	}
	if a.neighbours.goesOn() {
		c.since = now // the other agents continue meanwhile
	}
	switch met := now.Sub(c.since); {
	case c.hasMissedTheEnd(now) && met >= a.config.SilentAfter:
		a.faultLocked(dsbo.Errorf(dsbo.ErrPeer, "the others have finished without agent %d: their result is final "+
			"(-result takes it from a folder of one of them)", a.config.Agent))
	case met >= a.config.PeerTimeout:
		a.faultLocked(c.silence(now, a.warrants.agents(), a.neighbours.lines))
	}
}
