package relay

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"time"
)

const (
	// agentConnections is how many connections of one agent there may be at once: more than it has
	// neighbours in a graph of which each needs its relay.
	agentConnections = 128
	// maxWaiting is how many connections of an agent may wait under one name. The oldest makes
	// room: connections of an agent that was lost may still be here.
	maxWaiting = 4
	// halfOpenTime is the time that one direction of a pair may continue after the other one has
	// ended.
	halfOpenTime = time.Minute
)

// What an agent that waits is sent: a byte in each beat, which keeps what lies between from ending
// a connection without traffic, and one when an agent has named it.
const (
	stillWaiting = '.'
	joined       = '!'
	waitingBeat  = 20 * time.Second
)

// A place is where an agent waits.
type place struct {
	run   string
	agent int
}

// A waiter is a connection of an agent that waits.
type waiter struct {
	conn  net.Conn
	taken chan struct{} // closed when an agent names this one
	alive chan bool     // gets then whether the connection is still there
	over  chan struct{} // closed when it is no longer needed
}

// places are the agents that wait, and how many connections each has.
type places struct {
	most int // connections of all agents

	mu       sync.Mutex
	admitted int         // connections of agents that have shown who they are
	agents   map[int]int // connections of each
	waiting  map[place][]*waiter
}

// admit counts a connection of an agent, unless it has too many. unregister ends that.
func (p *places) admit(agent int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.admitted >= p.most {
		return fmt.Errorf("there are %d connections, and may be no more", p.admitted)
	}
	if p.agents[agent] >= agentConnections {
		return fmt.Errorf("agent %d has %d connections, and may have no more", agent, agentConnections)
	}
	if p.agents == nil {
		p.agents = map[int]int{}
	}
	p.admitted++
	p.agents[agent]++
	return nil
}

// unregister counts a connection of an agent no longer.
func (p *places) unregister(agent int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.admitted--
	if p.agents[agent]--; p.agents[agent] == 0 {
		delete(p.agents, agent)
	}
}

// wait has a connection wait until it ends, or is taken and then no longer needed.
func (p *places) wait(at place, conn net.Conn) {
	w := &waiter{conn, make(chan struct{}), make(chan bool, 1), make(chan struct{})}
	p.add(at, w)
	defer p.remove(at, w)
	ended := make(chan error, 1)
	go func() { // an agent that waits sends nothing, so that this ends with the connection, or by wake
		_, err := conn.Read(make([]byte, 1))
		ended <- err
	}()
	beat := time.NewTicker(waitingBeat)
	defer beat.Stop()
	for {
		select {
		case <-w.taken:
			alive := w.wake(ended)
			if w.alive <- alive; alive {
				<-w.over
			}
			return
		case <-ended:
			w.alive <- false
			return
		case <-beat.C:
			if !send(conn, stillWaiting) {
				conn.Close()
			}
		}
	}
}

// wake ends the reading of a connection that waits, and sends its agent that it is joined.
func (w *waiter) wake(ended <-chan error) (alive bool) {
	_ = w.conn.SetReadDeadline(time.Unix(1, 0)) // long ago: a Read ends at once, with nothing read
	return errors.Is(<-ended, os.ErrDeadlineExceeded) && w.conn.SetReadDeadline(time.Time{}) == nil &&
		send(w.conn, joined)
}

// add has a connection wait beside others under its name, of which the oldest makes room.
func (p *places) add(at place, w *waiter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting == nil {
		p.waiting = map[place][]*waiter{}
	}
	if all := p.waiting[at]; len(all) == maxWaiting {
		all[0].conn.Close() // which ends its wait
		p.waiting[at] = all[1:]
	}
	p.waiting[at] = append(p.waiting[at], w)
}

// remove ends the waiting of a connection; of one that has been taken it does nothing.
func (p *places) remove(at place, w *waiter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting[at] = slices.DeleteFunc(p.waiting[at], func(o *waiter) bool { return o == w })
	if len(p.waiting[at]) == 0 {
		delete(p.waiting, at)
	}
}

// takeNewest takes the connection that came last under a name, if there is one.
func (p *places) takeNewest(at place) *waiter {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.waiting[at]
	if len(all) == 0 {
		return nil
	}
	p.waiting[at] = all[:len(all)-1]
	return all[len(all)-1]
}

// newestAlive returns a connection that waits, and the function to call when it is no longer
// needed; nil if there is none.
func (p *places) newestAlive(at place) (conn net.Conn, release func()) {
	for w := p.takeNewest(at); w != nil; w = p.takeNewest(at) {
		close(w.taken)
		if <-w.alive {
			return w.conn, func() { close(w.over) }
		}
	}
	return nil, nil
}

// send sends a byte, and reports whether it could.
func send(conn net.Conn, b byte) bool {
	_ = conn.SetWriteDeadline(time.Now().Add(greetingTime))
	_, err := conn.Write([]byte{b})
	_ = conn.SetWriteDeadline(time.Time{})
	return err == nil
}

// join moves bytes between two connections until both directions have ended, and returns how many
// went to b and to a.
func join(a, b net.Conn) (toB, toA int64) {
	var back sync.WaitGroup
	back.Go(func() { toA = copyHalf(a, b) })
	toB = copyHalf(b, a)
	back.Wait()
	return toB, toA
}

// copyHalf moves bytes until src ends. Then dst gets that end, and the other direction has a while
// to end too.
func copyHalf(dst, src net.Conn) int64 {
	n, err := io.Copy(dst, src)
	half, ok := dst.(interface{ CloseWrite() error })
	if err != nil || !ok || half.CloseWrite() != nil {
		dst.Close()
		src.Close()
	}
	_ = dst.SetReadDeadline(time.Now().Add(halfOpenTime))
	return n
}
