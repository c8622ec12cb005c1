package network

import "context"

// A Saver is a [Team] whose processes have files of their own, and of which one may be lost while
// the others wait for it: what goes wrong ends the exchange for all, and they go on together from
// the newest file that they have in common.
type Saver interface {
	Team
	// Save has write make a file on which the run depends, and then waits until all agents have
	// theirs. All call it at the same point between exchanges.
	Save(ctx context.Context, write func() error) error
}

// A Waiter is a [Team] that knows for whom it has waited.
type Waiter interface {
	// Waited returns for how many seconds this process's exchanges have waited for the vectors of
	// each agent of the run.
	Waited() []float64
}
