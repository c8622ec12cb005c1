package mpi

import (
	"fmt"
	"slices"

	"dsbo/network"
)

// Fail ends the exchange: every Mix, waiting or later, returns an error that wraps err, on other
// ranks as soon as they have completed what this one has. Only the first call counts.
func (x *Exchange) Fail(err error) { x.end(err, x.giveNotice) }

// Close ends the exchange with [network.ErrClosed] unless it has failed before, and waits until no
// Mix uses it. It may be called twice.
func (x *Exchange) Close() {
	x.Fail(network.ErrClosed)
	x.closing.Do(func() {
		x.frameUsers.Wait()
		x.world.callAndWait(x.release)
		x.world.unregister(x)
	})
}

// end sets the cause, unless there is one, and has serve call then with what to tell the other
// ranks: before all that is asked of serve by those who see the end.
func (x *Exchange) end(err error, then func(notice)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.cause != nil {
		return
	}
	x.cause = err
	close(x.stopped)
	n := notice{exchange: int64(x.number), rank: int64(x.world.rank), mixed: int64(x.round),
		reduced: int64(x.sum.round), kind: int64(network.Kind(err))}
	n.setReason(err.Error())
	x.world.call(func() { then(n) })
}

// giveNotice gives up what is under way and tells the other ranks.
func (x *Exchange) giveNotice(n notice) {
	x.giveUp()
	for r := range x.blocks.ranks {
		if r != x.world.rank {
			// A rank that cannot be told finds out when its time is over: this error is not
			// worth another.
			_ = x.world.lib.sendNotice(r, n)
		}
	}
}

func (x *Exchange) giveUp() {
	x.world.remove(&x.mixing.transfer)
	x.world.remove(&x.sum.transfer)
}

// noteDeparture notes that another rank has left.
func (x *Exchange) noteDeparture(n notice) {
	x.mu.Lock()
	x.departures = append(x.departures, n)
	x.mu.Unlock()
	x.endIfAbandoned()
}

// endIfAbandoned ends this rank's part too if it waits for what a rank that has left will not send.
// What that one has completed this one can complete as well, so that it does not matter who is
// faster. The others have been told.
func (x *Exchange) endIfAbandoned() {
	x.mu.Lock()
	i := slices.IndexFunc(x.departures, func(n notice) bool {
		return x.arrived > 0 && n.mixed <= int64(x.round) || x.sum.waiting && n.reduced <= int64(x.sum.round)
	})
	var n notice
	if i >= 0 {
		n = x.departures[i]
	}
	x.mu.Unlock()
	if i >= 0 {
		x.end(n.error(x.blocks), func(notice) { x.giveUp() })
	}
}

// holdFrames keeps the frames in place until x.inside.Done.
func (x *Exchange) holdFrames() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.cause != nil {
		return x.stopError()
	}
	x.frameUsers.Add(1)
	return nil
}

func (x *Exchange) hasEnded() bool {
	select {
	case <-x.stopped:
		return true
	default:
		return false
	}
}

// stopError says why the exchange has ended, which it has.
func (x *Exchange) stopError() error { return fmt.Errorf("the exchange has ended: %w", x.cause) }

// release gives the memory back, unless MPI may still use it.
func (x *Exchange) release() {
	x.giveUp()
	x.world.lib.closeSum(&x.sum.transfer)
	if !x.world.lib.drop(&x.mixing.transfer, dropTime) {
		return // some vectors of a failed exchange are lost
	}
	for _, a := range x.local {
		a.slot[0].release()
		a.slot[1].release()
	}
	x.mixing.release()
}
