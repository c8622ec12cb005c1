package network

import "context"

// A Saver is a [Team] whose processes each have files, and may be lost and come back while the
// other ones wait. An error ends the exchange for all, and they resume from the newest file that
// they have in common.
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
