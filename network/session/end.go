package session

import (
	"context"
	"errors"
	"time"

	"dsbo/network/register"
)

// Linger has the others know that the result is final, until all members of the last session know
// that all do and nobody is here who may lack it, or for Config.AbsentAfter (Config.PeerTimeout
// without a quorum): one that was lost at the very end then finds whoever it needs, or knows that
// it needs nobody. An agent that lacks the result takes it over in one more session: [Agent.Next]
// is due after an [register.Over].
func (a *Agent) Linger(ctx context.Context) error {
	state, limit := a.ledger.read(), a.config.timeout()
	if state.Known { // all have it on their disks; some may need this agent's word, and connect soon
		limit = a.config.SilentAfter
	}
	a.tellFinal()
	// first until all members know that the result is final, then until all know that all do
	late, members := time.After(limit), state.Log.Last(a.config.Matrix.N()).Members
	for _, ofAll := range []bool{false, true} {
		all, err := a.awaitFinals(ctx, late, func(now time.Time) bool { return a.council.allKnow(members, ofAll, now) })
		if err != nil || !all {
			return err
		}
		if err := a.ledger.seal(true); err != nil {
			return err
		}
		a.tellFinal()
	}
	a.mu.Lock()
	reached := len(members) == len(a.warrants.agents()) && a.neighbours.reached(a.chain.sealed)
	a.mu.Unlock()
	if reached {
		return nil
	}
	// one more announcement, for agents that may just be back
	_, err := a.awaitFinals(ctx, time.After(2*a.config.Heartbeat), func(time.Time) bool { return false })
	return err
}

func (a *Agent) tellFinal() {
	state := a.ledger.read()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.council.finals[a.config.Agent] = state.Known
	a.neighbours.flood(finalMessage(state))
}

// finalMessage is an agent's announcement of the result, which a quorum has.
func finalMessage(state register.State) message { return message{Subject: final, Known: state.Known} }

// awaitFinals waits until all know the result as allKnow requires, which is called with the lock;
// false if late comes first. An agent that lacks the result ends the wait with an [*register.Over],
// and only a later process of this agent, not another error of its part, does too.
func (a *Agent) awaitFinals(ctx context.Context, late <-chan time.Time,
	allKnow func(now time.Time) bool) (bool, error) {
	for {
		a.mu.Lock()
		now := time.Now()
		needy, all, err := a.council.needy(now), allKnow(now), a.err
		a.mu.Unlock()
		switch {
		case errors.As(err, new(*fencedError)):
			return false, err
		case needy >= 0:
			return false, &register.Over{Session: a.ledger.read().Last, Agent: needy, Why: "it lacks the result"}
		case all:
			return true, nil
		}
		select {
		case <-a.news:
		case <-late:
			return false, nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}
