package relay

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"dsbo/internal/wording"
	"dsbo/network/pki"
)

// ErrAbsent marks the error of [Client.Dial] when the other agent does not wait at the relay now.
var ErrAbsent = errors.New("is not at the relay")

// A Client is an agent of a run as a relay knows it.
type Client struct {
	Address  string               // host:port of the relay
	Run      string               // name of the run
	Identity func() *pki.Identity // the agent's certificate at the time
	// Connect opens a connection to an address; nil: [Dial] does.
	Connect func(ctx context.Context, address string) (net.Conn, error)
}

// Dial returns a connection to another agent of the run, on which nothing has been sent.
func (c Client) Dial(ctx context.Context, to int) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, greetingTime)
	defer cancel()
	conn, err := c.request(ctx, "agents/"+strconv.Itoa(to))
	if errors.Is(err, refusal(absentText(to))) {
		err = fmt.Errorf("agent %d %w", to, ErrAbsent)
	}
	return conn, err
}

// absentText is what the relay answers where an agent does not wait.
func absentText(to int) string { return fmt.Sprintf("agent %d %v", to, ErrAbsent) }

// A refusal is why a relay has not upgraded a connection.
type refusal string

func (r refusal) Error() string { return string(r) }

// request sends a request for what is below the run's path, and returns the connection that the
// relay has upgraded.
func (c Client) request(ctx context.Context, what string) (_ net.Conn, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("relay %s: %w", c.Address, err)
		}
	}()
	connect := c.Connect
	if connect == nil {
		connect = Dial
	}
	raw, err := connect(ctx, c.Address)
	if err != nil {
		return nil, err
	}
	if tcp, ok := raw.(*net.TCPConn); ok {
		_ = tcp.SetKeepAliveConfig(keepAlive) // else the system's
	}
	host, _, err := net.SplitHostPort(c.Address)
	if err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	id := c.Identity()
	conn := tls.Client(raw, id.ToHost(host, "http/1.1"))
	answer, err := c.upgrade(ctx, conn, id, what)
	if err == nil && answer.StatusCode != http.StatusSwitchingProtocols {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 512))
		err = refusal(cmp.Or(wording.Plain(strings.TrimSpace(string(text))), answer.Status))
	}
	if err != nil {
		raw.Close() // without the end that TLS would send, for which the relay may not be there
		return nil, err
	}
	return conn, nil
}

// upgrade sends a signed request for what is below the run's path on a connection, and returns the
// head of the answer.
func (c Client) upgrade(ctx context.Context, conn net.Conn, id *pki.Identity, what string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet,
		"https://"+c.Address+"/runs/"+url.PathEscape(c.Run)+"/"+what, nil)
	if err != nil {
		return nil, err
	}
	r.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {protocol}, "User-Agent": {"dsbo"}}
	if err := sign(r, id, time.Now()); err != nil {
		return nil, err
	}
	return roundTrip(ctx, conn, r)
}

// Listen returns a listener whose connections come from agents that name this one at the relay. It
// connects to the relay when Accept is called, again and again until it is closed, and logs why it
// cannot.
func (c Client) Listen(log *slog.Logger) net.Listener {
	l := &listener{client: c, log: log}
	l.ctx, l.close = context.WithCancel(context.Background())
	return l
}

type listener struct {
	client Client
	log    *slog.Logger
	ctx    context.Context    // until Close
	close  context.CancelFunc // ends ctx
}

// Between two attempts to connect passes firstRetry, then twice as long each time up to lastRetry.
const (
	firstRetry = 20 * time.Millisecond
	lastRetry  = time.Second
)

// Accept implements net.Listener: it waits at the relay, and tries again after an error, which it
// logs when it is another one than before. After Close it returns net.ErrClosed.
func (l *listener) Accept() (net.Conn, error) {
	logged := ""
	for pause := firstRetry; ; pause = min(2*pause, lastRetry) {
		conn, err := l.client.await(l.ctx)
		if l.ctx.Err() != nil {
			if conn != nil { // it came as the listener was closed
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

// await waits at the relay until an agent names this one, and returns the connection to that agent.
// It fails if the relay says nothing for three beats, or ctx ends.
func (c Client) await(ctx context.Context) (net.Conn, error) {
	greeting, cancel := context.WithTimeout(ctx, greetingTime)
	defer cancel()
	conn, err := c.request(greeting, "wait")
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	for b := []byte{0}; ; {
		_ = conn.SetReadDeadline(time.Now().Add(3 * waitingBeat)) // the relay is gone after three beats
		_, err := conn.Read(b)
		switch {
		case err != nil:
		case b[0] == stillWaiting:
			continue
		case b[0] == joined:
			return conn, conn.SetReadDeadline(time.Time{})
		default:
			err = errors.New("it is no relay: it must send . and ! alone to who waits")
		}
		conn.Close()
		return nil, fmt.Errorf("relay %s: %w", c.Address, err)
	}
}

// Close implements net.Listener.
func (l *listener) Close() error {
	l.close()
	return nil
}

// Addr implements net.Listener: it is the relay's address.
func (l *listener) Addr() net.Addr { return address(l.client.Address) }

type address string

func (address) Network() string  { return "tcp" }
func (a address) String() string { return string(a) }
