package session

import (
	"context"
	"time"
)

// Linger has the others know that the result is final, until all members of the last session know,
// or for Config.AbsentAfter (Config.PeerTimeout without a quorum): one that was lost at the very
// end then finds whoever it needs, or knows that it needs nobody.
func (a *Agent) Linger(ctx context.Context) error {
	a.mu.Lock()
	members := a.ledger.read().Log.Last(a.config.Matrix.N()).Members
	a.neighbours.flood(message{Subject: final})
	a.mu.Unlock()
	late := time.NewTimer(a.config.timeout())
	defer late.Stop()
	for known := false; !known; {
		a.mu.Lock()
		known = true
		for _, i := range members {
			known = known && a.council.finals[i]
		}
		a.mu.Unlock()
		if known {
			break
		}
		select {
		case <-a.news:
		case <-late.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	select { // the others are told once more
	case <-time.After(2 * a.config.Heartbeat):
	case <-ctx.Done():
	}
	return nil
}
