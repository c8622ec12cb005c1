package mpi

import "context"

// A collective is a transfer of all ranks that an exchange repeats at the same points in each:
// gatherings, or reductions.
type collective struct {
	x     *Exchange
	begin func()        // has the transfer polled; made once
	ready chan struct{} // holds one wake-up

	waiting bool // under the exchange's mu, like round
	round   int  // how many are completed
}

func (x *Exchange) newCollective(t *transfer) collective {
	return collective{x: x, ready: make(chan struct{}, 1), begin: func() {
		if !x.hasEnded() {
			x.world.begin(t)
		}
	}}
}

// run begins the transfer and waits until it is completed.
func (c *collective) run(ctx context.Context) error {
	c.x.mu.Lock()
	c.waiting = true
	c.x.mu.Unlock()
	c.x.endIfAbandoned()
	c.x.world.call(c.begin)
	return c.x.await(ctx, c.ready)
}

// complete wakes run.
func (c *collective) complete() {
	c.x.mu.Lock()
	defer c.x.mu.Unlock()
	c.waiting = false
	c.round++
	c.ready <- struct{}{}
}

// isAbandoned reports whether it waits for a rank that has left after n of them.
func (c *collective) isAbandoned(completed int64) bool {
	return c.waiting && completed <= int64(c.round)
}
