package network

import (
	"context"
	"fmt"

	"dsbo"
	"dsbo/network/membership"
)

// A RollbackError says that a neighbour lost its state, came back from an old checkpoint and
// needs exchanges that this agent no longer keeps. The agent restores a state of its own from
// before exchange Round or from there, calls Rewind with that state's exchange and goes on: it
// sends the same vectors again.
type RollbackError struct {
	Neighbour int // the agent that came back
	Round     int // the first exchange that it needs
}

func (e *RollbackError) Error() string {
	return fmt.Sprintf(
		"agent %d needs the exchanges from %d on again, which are no longer kept: go back to a checkpoint of "+
			"exchange %d or before",
		e.Neighbour, e.Round, e.Round)
}

// A Rewinder is a mixer whose agents can be lost and come back. Mix and Drain may return a
// [*RollbackError], after which the agent rewinds.
type Rewinder interface {
	dsbo.Mixer
	// Round returns the number of the next exchange, counted from 0, which a checkpoint holds.
	Round() int
	// Rewind makes round the next exchange. It is at most the present one. If a neighbour needs
	// earlier ones, it says so with a [*RollbackError]: another one may have come back since the
	// error after which the agent rewinds.
	Rewind(round int) error
	// Drain tells the neighbours that this agent has finished, with its results safe, and waits
	// until all agents have: up to then a neighbour may come back and need vectors that only this
	// agent can send.
	Drain(ctx context.Context) error
}

// A Saver is a [Team] that is told while a file is written on which the run depends: others that
// wait meanwhile know why, and if the disk never answers they learn that too. Saving is called
// between exchanges, and the function that it returns at the end.
type Saver interface {
	Saving() (done func())
}

// A ChangedError says that another epoch of a run's membership is decided. An agent that is a
// member of it restores the state with which it begins, calls Reform and goes on; one that is none
// waits for a further change.
type ChangedError struct {
	Epoch int // the newest
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("the members have changed: epoch %d begins", e.Epoch)
}

// A Reformer is a [Rewinder] among agents that may leave, return and join. All its methods that
// exchange may return a [*ChangedError]. As a [Team] it has the members of its epoch alone, at
// their positions.
type Reformer interface {
	Rewinder
	// Changes returns the membership log, a view.
	Changes() membership.Log
	// AwaitChange waits for the end of the present epoch, and returns the [*ChangedError] or
	// another reason to end. lost says that this agent is a member that has no state to go on with:
	// it asks to begin the next epoch with the state of another one.
	AwaitChange(ctx context.Context, lost bool) error
	// TakeOver returns what this agent takes over from a neighbour as it comes into an epoch
	// (Matrix.Giver), after AwaitChange and before Reform.
	TakeOver(ctx context.Context, giver, epoch int) ([]byte, error)
	// Reform makes an epoch the present one: it is one of Changes, and not before the present one.
	// round is the next exchange, that of the change unless the agent comes back from a later
	// checkpoint of the epoch.
	Reform(e membership.Epoch, round int) error
}

// A Waiter is a [Team] that knows for whom it has waited.
type Waiter interface {
	// Waited returns for how many seconds this process's exchanges have waited for the vectors of
	// each agent of the run.
	Waited() []float64
}
