package grpc

import (
	"errors"
	"fmt"
	"time"
)

// An offence is what a neighbour sent and must not have sent. Its stream ends, and it is refused
// for a while.
type offence struct{ error }

func (o *offence) Unwrap() error { return o.error }

// After an offence a neighbour is refused for firstBar heartbeats, then for twice as long each time
// up to lastBar, until an exchange with it has ended. Where there is a council, one that is to be
// refused for failedBar counts as failed: it is left out at once, and that process of it does not
// come in again, of which the others would have to go back each time.
const (
	firstBar  = 2
	failedBar = 8
	lastBar   = 120
)

// punish refuses the neighbour for a while if a stream ended because of an offence.
func (e *conduct) punish(err error) {
	if _, offends := errors.AsType[*offence](err); offends {
		e.stats.Offences++
		e.barBeats = min(max(2*e.barBeats, firstBar), lastBar)
		e.barredUntil = time.Now().Add(e.m.watch.Beats(e.barBeats))
		if e.m.chamber != nil && e.barBeats >= failedBar && e.failure == nil {
			e.failure = err
			e.m.config.Log.Warn("a member is at fault again and again: left out until another process of it comes",
				"neighbour", e.id, "reason", err)
		}
	}
}

// penalty returns for how long the neighbour is still refused.
func (e *conduct) penalty() time.Duration {
	e.m.mu.Lock()
	defer e.m.mu.Unlock()
	return time.Until(e.barredUntil)
}

// barred returns an error while the neighbour is refused.
func (e *conduct) barred() error {
	if left := e.penalty(); left > 0 {
		return fmt.Errorf("agent %d is refused for %v because of what it sent", e.id, left.Round(time.Second))
	}
	return nil
}

// progress returns a number that changes when a vector of the neighbour comes.
func (e *edge) progress() int {
	e.m.mu.Lock()
	defer e.m.mu.Unlock()
	return e.received + e.credit
}

// What a neighbour may send in a heartbeat beside new vectors: the keys of all once, heartbeats and
// such, and as many vectors again as an agent that repeats itself can make.
const (
	maxControlFrames = 100
	leastRepeatTime  = 50 * time.Microsecond
)

// countFrame counts a frame of the neighbour that brings no new vector. It returns an error if
// there are too many.
func (e *conduct) countFrame(f *frame) error {
	c := &e.m.config
	count, most, what := &e.controlFrames, maxControlFrames+2*c.agents(), "frames that are no vectors"
	switch f.kind {
	case kindVector:
		if f.exchange >= e.received {
			return nil
		}
		count, most, what = &e.repeats, maxControlFrames+int(c.Heartbeat/leastRepeatTime), "vectors again"
	case kindControl, kindEpoch, kindAsk, kindPiece:
		count, most, what = &e.repeats, maxControlFrames+int(c.Heartbeat/leastRepeatTime), "frames of the council"
	}
	if *count++; *count > most {
		return fmt.Errorf("it sends more than %d %s in %v", most, what, c.Heartbeat)
	}
	return nil
}
