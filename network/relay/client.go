package relay

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"dsbo/network/pki"
)

// ErrAbsent marks the error of [Client.Dial] when the other agent does not wait at the relay now.
var ErrAbsent = errors.New("is not at the relay")

// A Client is an agent of a run as a relay knows it.
type Client struct {
	Address  string               // host:port of the relay
	Run      string               // name of the run
	Identity func() *pki.Identity // the agent's certificate at the time
}

// Dial returns a connection to another agent of the run. Nothing is said on it yet.
func (c Client) Dial(ctx context.Context, to int) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, greetingTime)
	defer cancel()
	conn, err := c.connect(ctx, &to)
	if err != nil {
		return nil, err
	}
	return c.await(ctx, conn, to)
}

// connect says what the agent wants.
func (c Client) connect(ctx context.Context, to *int) (net.Conn, error) {
	d := net.Dialer{KeepAliveConfig: keepAlive}
	conn, err := d.DialContext(ctx, "tcp", c.Address)
	if err != nil {
		return nil, fmt.Errorf("relay: %w", err)
	}
	id := c.Identity()
	r := request{Run: c.Run, Agent: id.Agent, To: to}
	err = withContext(ctx, conn, func() error {
		nonce, err := readNonce(conn)
		if err == nil {
			err = r.sign(id, nonce)
		}
		if err == nil {
			err = r.write(conn)
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("relay %s: %w", c.Address, err), conn.Close())
	}
	return conn, nil
}

// await waits for the relay's answer, on a connection that it closes if that is a refusal.
func (c Client) await(ctx context.Context, conn net.Conn, to int) (net.Conn, error) {
	var line string
	err := withContext(ctx, conn, func() (err error) {
		line, err = readLine(conn)
		return err
	})
	switch {
	case err == nil && line == joinedLine:
		return conn, nil
	case err == nil && line == absentText(to):
		err = ErrAbsent
	case err == nil:
		err = fmt.Errorf("%q", line)
	}
	conn.Close()
	if errors.Is(err, ErrAbsent) {
		return nil, fmt.Errorf("agent %d %w", to, ErrAbsent)
	}
	return nil, fmt.Errorf("relay %s: %w", c.Address, err)
}

// absentText is what the relay answers where an agent does not wait.
func absentText(to int) string { return fmt.Sprintf("agent %d %v", to, ErrAbsent) }

// withContext does something with a connection, whose reads and writes fail when ctx ends.
// Afterwards they do no longer.
func withContext(ctx context.Context, conn net.Conn, do func() error) error {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	err := do()
	if !stop() { // it has ended
		return ctx.Err()
	}
	return err
}

// Listen returns a listener whose connections come from agents that name this one at the relay. It
// connects to the relay when Accept is called, again and again until it is closed, and says in the
// log why it cannot.
func (c Client) Listen(log *slog.Logger) net.Listener {
	l := &listener{client: c, log: log}
	l.ctx, l.close = context.WithCancel(context.Background())
	return l
}

type listener struct {
	client  Client
	log     *slog.Logger
	ctx     context.Context
	close   context.CancelFunc
	closing sync.Once
}

// Between two attempts to connect passes firstRetry, then twice as long each time up to lastRetry.
const (
	firstRetry = 20 * time.Millisecond
	lastRetry  = time.Second
)

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	logged := ""
	for pause := firstRetry; ; pause = min(2*pause, lastRetry) {
		conn, err := l.wait()
		if l.ctx.Err() != nil {
			if conn != nil {
				conn.Close()
			}
			return nil, net.ErrClosed
		}
		if err == nil {
			return conn, nil
		}
		if logged != err.Error() {
			logged = err.Error()
			l.log.Warn("cannot wait at the relay", "reason", err)
		}
		select {
		case <-time.After(pause):
		case <-l.ctx.Done():
		}
	}
}

// wait waits at the relay until an agent wants to talk to this one.
func (l *listener) wait() (net.Conn, error) {
	greeting, cancel := context.WithTimeout(l.ctx, greetingTime)
	defer cancel()
	conn, err := l.client.connect(greeting, nil)
	if err != nil {
		return nil, err
	}
	return l.client.await(l.ctx, conn, -1)
}

// Close implements net.Listener.
func (l *listener) Close() error {
	l.closing.Do(l.close)
	return nil
}

// Addr implements net.Listener: it is the relay's address.
func (l *listener) Addr() net.Addr { return address(l.client.Address) }

type address string

func (address) Network() string  { return "tcp" }
func (a address) String() string { return string(a) }
