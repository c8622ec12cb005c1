package grpc

import (
	"errors"
	"fmt"
	"time"
)

// An offence is what a neighbour sent and must not have sent. Its stream ends, and it is refused for a while.
type offence struct{ error }

func (o *offence) Unwrap() error { return o.error }

// After an offence a neighbour is refused for firstBar, then for twice as long each time up to lastBar, until it sends a vector.
const (
	firstBar = time.Second
	lastBar  = time.Minute
)

// punish refuses the neighbour for a while if a stream ended because of an offence.
func (e *edge) punish(err error) {
	if _, offends := errors.AsType[*offence](err); offends {
		e.stats.Offences++
		e.bar = min(max(2*e.bar, firstBar), lastBar)
		e.barredUntil = time.Now().Add(e.bar)
	}
}

// penalty returns for how long the neighbour is still refused.
func (e *edge) penalty() time.Duration {
	e.m.mu.Lock()
	defer e.m.mu.Unlock()
	return time.Until(e.barredUntil)
}

// barred returns an error while the neighbour is refused.
func (e *edge) barred() error {
	if left := e.penalty(); left > 0 {
		return fmt.Errorf("agent %d is refused for %v because of what it sent", e.id, left.Round(time.Second))
	}
	return nil
}

// exchanged returns a number that changes when a vector of the neighbour comes.
func (e *edge) exchanged() int {
	e.m.mu.Lock()
	defer e.m.mu.Unlock()
	return e.received + e.credit
}

// What a neighbour may send in a heartbeat beside new vectors: its keys once, heartbeats, and as many vectors again as
// an agent that repeats itself can make.
const (
	mostIdle     = 100
	repeatedEach = 10 * time.Microsecond
)

// countFrame counts a frame of the neighbour, which may be a vector that is new. It returns an error if too many bring nothing new.
func (e *edge) countFrame(fresh bool) error {
	if fresh {
		return nil
	}
	c := &e.m.config
	most := mostIdle + 2*len(c.Addresses) + int(c.Heartbeat/repeatedEach)
	if e.idle++; e.idle > most {
		return fmt.Errorf("it sends more than %d frames in %v that bring nothing new", most, c.Heartbeat)
	}
	return nil
}
