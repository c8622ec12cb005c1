package session

import (
	"context"
	"errors"
	"slices"
	"time"

	"dsbo/network/register"
)

// Linger has the others know that the result is final, until all members of the last session know
// that all do, or for Config.AbsentAfter (Config.PeerTimeout without a quorum): one that was lost
// at the very end then finds whoever it needs, or knows that it needs nobody. An agent that has
// lost its disk by then takes the result over in one more session: [Agent.Next] is due after an
// [register.Over].
func (a *Agent) Linger(ctx context.Context) error {
	state, limit := a.ledger.read(), a.config.timeout()
	if state.Known { // all have it on their disks; some may need this agent's word, and connect soon
		limit = a.config.SilentAfter
	}
	a.tellFinal()
	late := time.After(limit)
	members := state.Log.Last(a.config.Matrix.N()).Members
	all, err := a.awaitFinals(ctx, late, members, false)
	if err == nil && all {
		if err = a.ledger.sealForAll(); err != nil {
			return err
		}
		a.tellFinal()
		all, err = a.awaitFinals(ctx, late, members, true)
	}
	if err != nil || !all {
		return err
	}
	select { // the others are told once more
	case <-time.After(2 * a.config.Heartbeat):
	case <-ctx.Done():
	}
	return nil
}

// tellFinal tells all what this agent knows of the result.
func (a *Agent) tellFinal() {
	state := a.ledger.read()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.council.finals[a.config.Agent] = state.Known
	a.neighbours.flood(finalMessage(state))
}

// finalMessage is what an agent tells of the result, of which a quorum has it.
func finalMessage(state register.State) message { return message{Subject: final, Known: state.Known} }

// awaitFinals waits until all members have told that the result is final or, with ofAll, that they
// know this of all; false if it is late before.
func (a *Agent) awaitFinals(ctx context.Context, late <-chan time.Time, members []int, ofAll bool) (bool, error) {
	for {
		a.mu.Lock()
		needy := a.council.needy(time.Now())
		all := !slices.ContainsFunc(members, func(i int) bool {
			knowsOfAll, knows := a.council.finals[i]
			return !knows || ofAll && !knowsOfAll
		})
		err := a.err
		a.mu.Unlock()
		if errors.As(err, new(*FencedError)) {
			return false, err
		}
		if needy >= 0 {
			return false, &register.Over{Session: a.ledger.read().Last, Agent: needy, Why: "it lacks the result"}
		}
		if all {
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
