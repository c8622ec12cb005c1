package paxos

import (
	"errors"
	"fmt"
	"time"

	"dsbo/internal/wording"
)

// ErrStateLost is matched by the error of a node whose run cannot go on: no member has the state
// with which the epoch begins.
var ErrStateLost = errors.New("state lost")

// stateIsLost reports whether the answers to this agent's proposal, of all members, say that none
// has a checkpoint which the epoch can go on from, and one that should have it asks for
// a neighbour's.
func (c *proposer) stateIsLost() bool {
	asks := false
	for _, i := range c.epoch.Members {
		m, answered := c.attempt.answers[i]
		if !answered || len(m.Points) > 0 {
			return false
		}
		asks = asks || m.Asks
	}
	return asks
}

// lossOfState says that it is.
func (c *proposer) lossOfState() string {
	return fmt.Sprintf(
		"the state after iteration %d, with which epoch %d begins, is lost: none of its members, %s, has it any more; "+
			"the run must begin anew, in empty folders", c.epoch.Iteration, c.epoch.Number,
		wording.List(c.epoch.Members))
}

// awaitLoss ends this agent's part when the state has been lost for twice as long as members may be
// absent. Until then it proposes nothing, so that each member comes to find it out by answers to a
// proposal of its own: nobody's word ends the run of another.
func (c *proposer) awaitLoss(now time.Time) error {
	if now.Sub(c.lostSince) < 2*c.Absent {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrStateLost, c.lossOfState())
}
