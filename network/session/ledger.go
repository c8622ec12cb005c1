package session

import (
	"slices"
	"sync/atomic"
	"time"

	"dsbo/network/register"
)

// A ledger is the register of an agent, on its disk, and the turn of all that write files on which
// the run depends: no promise is made while one is written. Its methods but read and busy may block
// on the disk.
type ledger struct {
	store register.Store
	turn  chan struct{}                  // has one element while somebody has the turn
	state atomic.Pointer[register.State] // as the disk has it
	since atomic.Pointer[time.Time]      // when the turn was taken; nil: nobody has it
}

func openLedger(store register.Store) (*ledger, error) {
	state, err := store.Register()
	l := &ledger{store: store, turn: make(chan struct{}, 1)}
	l.state.Store(&state)
	return l, err
}

// read returns the state that the disk has.
func (l *ledger) read() register.State { return *l.state.Load() }

// busy returns the time that the present holder has had the ledger's turn; 0: nobody has it.
func (l *ledger) busy(now time.Time) time.Duration {
	if since := l.since.Load(); since != nil {
		return now.Sub(*since)
	}
	return 0
}

// during calls do with the turn.
func (l *ledger) during(do func() error) error {
	l.turn <- struct{}{}
	now := time.Now()
	l.since.Store(&now)
	defer func() {
		l.since.Store(nil)
		<-l.turn
	}()
	return do()
}

// change changes the state by a function, which reports whether there is anything to write, and
// returns once the disk has it.
func (l *ledger) change(by func(*register.State) (bool, error)) error {
	return l.during(func() error {
		state := l.read()
		if changed, err := by(&state); err != nil || !changed {
			return err
		}
		err := l.store.SaveRegister(state)
		if err == nil {
			l.state.Store(&state)
		}
		return err
	})
}

// seal notes that the result is final or, forAll, that all members know that it is.
func (l *ledger) seal(forAll bool) error {
	return l.change(func(state *register.State) (changed bool, _ error) {
		mark := &state.Final
		if forAll {
			mark = &state.Known
		}
		changed, *mark = !*mark, true
		return changed, nil
	})
}

func (l *ledger) hasResult() (has bool, err error) {
	err = l.during(func() error {
		points, err := l.points(l.read())
		has = slices.ContainsFunc(points, func(p register.Point) bool { return p.Iteration == register.Result })
		return err
	})
	return has, err
}

// points returns what a session can begin with. What was taken over in a session that ended before
// this agent had begun it is none: the log that belongs to it is not in the state.
func (l *ledger) points(state register.State) ([]register.Point, error) {
	points, err := l.store.Points()
	return slices.DeleteFunc(points, func(p register.Point) bool { return p.Epoch > state.Last }), err
}
