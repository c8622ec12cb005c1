package relay

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"dsbo/internal/guard"
	"dsbo/internal/wording"
	"dsbo/network/pki"
)

// Options are the settings of [Serve].
type Options struct {
	// Trust returns the authorities whose agents may use the relay. It is called for
	// each connection.
	Trust func() (*pki.Trust, error)
	// Connections is how many there may be at once of agents that have said who they are, and a
	// quarter of it of others. 0 means 1024.
	Connections int
	// Log gets a line for each pair that is joined, and for each connection that is refused. nil
	// logs nothing.
	Log *slog.Logger
}

const (
	defaultConnections = 1024
	// agentConnections is how many connections of one agent there may be at once: more than it has
	// neighbours in a graph of which each needs its relay.
	agentConnections = 128
	// maxWaiting is how many connections of an agent may wait under one name. The oldest makes
	// room: connections of an agent that was lost may still be here.
	maxWaiting = 4
	// halfOpenTime is how long one direction of a pair may go on when the other one has ended.
	halfOpenTime = time.Minute
)

// keepAlive ends connections whose other end has vanished.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 10 * time.Second, Count: 3}

// A place is where an agent waits.
type place struct {
	run   string
	agent int
}

// A waiter is a connection of an agent that waits.
type waiter struct {
	conn  net.Conn
	alive bool          // set before woken is closed
	woken chan struct{} // closed when its goroutine no longer reads from conn
	done  chan struct{} // closed when conn is no longer needed
}

// A relay has the connections of a [Serve].
type relay struct {
	Options
	work sync.WaitGroup

	mu       sync.Mutex
	admitted int         // connections of agents that have said who they are
	agents   map[int]int // connections of each
	places   map[place][]*waiter
}

// Serve joins connections that come from a listener until ctx ends, and then closes them all, and
// the listener.
func Serve(ctx context.Context, l net.Listener, o Options) error {
	if o.Connections == 0 {
		o.Connections = defaultConnections
	}
	o.Log = guard.LimitLog(o.Log)
	r := &relay{Options: o, agents: map[int]int{}, places: map[place][]*waiter{}}
	l = guard.Wrap(l, guard.Limits{Strangers: max(1, o.Connections/4), Time: greetingTime})
	ctx, cancel := context.WithCancel(ctx)
	defer r.work.Wait()
	defer cancel()
	defer closeAfter(ctx, l)()
	for {
		conn, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				conn.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return err
		case err != nil: // such as too many open files: those that are here may go on
			r.Log.Error("cannot accept a connection", "reason", err)
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
		default:
			c := conn.(*guard.Conn)
			if tcp, ok := c.Conn.(*net.TCPConn); ok {
				_ = tcp.SetKeepAliveConfig(keepAlive) // else the system's
			}
			r.work.Go(func() {
				defer closeAfter(ctx, c)()
				r.serve(c)
			})
		}
	}
}

// closeAfter has something closed as ctx ends, or as the result is called.
func closeAfter(ctx context.Context, c io.Closer) (now func()) {
	stop := context.AfterFunc(ctx, func() { c.Close() })
	return func() {
		stop()
		c.Close()
	}
}

// serve does what the agent of a connection wants, to its end.
func (r *relay) serve(stranger *guard.Conn) {
	conn := stranger.Conn // which can end one of its directions
	q, err := r.greet(conn)
	if err == nil {
		err = r.admit(q.Agent)
	}
	if err != nil {
		r.Log.Warn("refused a connection", "from", conn.RemoteAddr().String(), "reason", wording.Plain(err.Error()))
		answer(conn, err.Error())
		return
	}
	defer r.unregister(q.Agent)
	_ = conn.SetDeadline(time.Time{})
	stranger.Admit()
	if q.To == nil {
		r.wait(place{q.Run, q.Agent}, conn)
		return
	}
	w := r.call(place{q.Run, *q.To})
	if w == nil {
		answer(conn, absentText(*q.To))
		return
	}
	defer close(w.done)
	if !answer(w.conn, joinedLine) || !answer(conn, joinedLine) {
		return
	}
	began := time.Now()
	sent, received := join(conn, w.conn)
	r.Log.Info("connection", "run", q.Run, "agent", q.Agent, "to", *q.To, "bytes", sent, "bytes back", received, "time",
		time.Since(began).Round(time.Second))
}

// greet reads what an agent wants, and checks that it is the agent.
func (r *relay) greet(conn net.Conn) (*request, error) {
	_ = conn.SetDeadline(time.Now().Add(greetingTime))
	nonce := make([]byte, nonceLength)
	_, _ = rand.Read(nonce) // which never fails
	if _, err := conn.Write(append([]byte(magic), nonce...)); err != nil {
		return nil, err
	}
	q, err := readRequest(conn)
	if err != nil {
		return nil, err
	}
	trust, err := r.Trust()
	if err != nil {
		r.Log.Error("the relay's authorities", "reason", err)
		return nil, errors.New("the relay has no authorities")
	}
	return q, q.check(trust, nonce, time.Now())
}

// answer sends a line, and reports whether it could.
func answer(conn net.Conn, line string) bool {
	_ = conn.SetWriteDeadline(time.Now().Add(greetingTime))
	line, _, _ = strings.Cut(line, "\n")
	line = line[:min(len(line), maxLine-1)]
	_, err := io.WriteString(conn, line+"\n")
	_ = conn.SetWriteDeadline(time.Time{})
	return err == nil
}

// admit counts a connection of an agent, unless it has too many.
func (r *relay) admit(agent int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.admitted >= r.Connections {
		return fmt.Errorf("there are %d connections, and may be no more", r.admitted)
	}
	if r.agents[agent] >= agentConnections {
		return fmt.Errorf("agent %d has %d connections, and may have no more", agent, agentConnections)
	}
	r.admitted++
	r.agents[agent]++
	return nil
}

func (r *relay) unregister(agent int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.admitted--
	if r.agents[agent]--; r.agents[agent] == 0 {
		delete(r.agents, agent)
	}
}

// wait has a connection wait until it is called and no longer needed, or ends.
func (r *relay) wait(at place, conn net.Conn) {
	w := &waiter{conn: conn, woken: make(chan struct{}), done: make(chan struct{})}
	r.mu.Lock()
	if all := r.places[at]; len(all) == maxWaiting {
		all[0].conn.Close()
		r.places[at] = all[1:]
	}
	r.places[at] = append(r.places[at], w)
	r.mu.Unlock()
	// An agent that waits says nothing, so that this ends when the connection does, or by the
	// deadline that call sets.
	_, err := conn.Read(make([]byte, 1))
	w.alive = errors.Is(err, os.ErrDeadlineExceeded)
	close(w.woken)
	if w.alive {
		<-w.done
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.places[at] = slices.DeleteFunc(r.places[at], func(o *waiter) bool { return o == w }); len(r.places[at]) == 0 {
		delete(r.places, at)
	}
}

// call takes a connection that waits, the newest, or returns nil if there is none.
func (r *relay) call(at place) *waiter {
	for {
		r.mu.Lock()
		all := r.places[at]
		if len(all) == 0 {
			r.mu.Unlock()
			return nil
		}
		w := all[len(all)-1]
		if r.places[at] = all[:len(all)-1]; len(all) == 1 {
			delete(r.places, at)
		}
		r.mu.Unlock()
		_ = w.conn.SetReadDeadline(time.Unix(1, 0))
		<-w.woken
		if w.alive {
			_ = w.conn.SetReadDeadline(time.Time{})
			return w
		}
	}
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
