package session

import (
	"context"
	"time"
)

// A clerk has promises made, one after the other, outside of the lock under which they are asked
// for, as a disk may take long.
type clerk struct {
	asked chan uint64 // the highest number that is proposed and not promised yet
}

func newClerk() clerk { return clerk{make(chan uint64, 1)} }

// request notes that a number is proposed. It does not wait, and no two goroutines call it at once.
func (c clerk) request(number uint64) {
	select {
	case before := <-c.asked:
		number = max(number, before)
	default:
	}
	select {
	case c.asked <- number:
	default:
	}
}

// run makes promises until ctx is over, or one fails. notBefore returns when the next one may be
// made.
func (c clerk) run(ctx context.Context, notBefore func() time.Time, promise func(number uint64) error) error {
	for {
		select {
		case number := <-c.asked:
			number, ok := c.await(ctx, number, notBefore())
			if !ok {
				return nil
			}
			if err := promise(number); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// await waits until a promise may be made, and returns the number that is proposed then; false once
// ctx is over.
func (c clerk) await(ctx context.Context, number uint64, until time.Time) (uint64, bool) {
	select {
	case <-time.After(time.Until(until)):
	case <-ctx.Done():
		return 0, false
	}
	select {
	case number = <-c.asked: // a higher one
	default:
	}
	return number, true
}
