package relay

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"dsbo/internal/wording"
	"dsbo/network/pki"
)

// Options are the settings of [Serve].
type Options struct {
	// Trust returns the authorities whose agents may use the relay. It is called for
	// each connection.
	Trust func() (*pki.Trust, error)
	// Certificate returns what the relay shows to who connects, at each connection: of a public
	// authority, or of one in the agents' ca.pem. nil: connections come without TLS, from a server
	// before the relay that ends it.
	Certificate func() (*tls.Certificate, error)
	// Connections is how many there may be at once of agents that have shown who they are, and a
	// quarter of it of others. 0 means 1024.
	Connections int
	// Log gets a line for each pair that is joined, and for each request that is refused. nil logs
	// nothing.
	Log *slog.Logger
}

const defaultConnections = 1024

// keepAlive ends connections whose other end has vanished.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 10 * time.Second, Count: 3}

// A relay serves the requests of a [Serve].
type relay struct {
	Options
	ctx    context.Context // until the relay ends
	places places
	used   usedTickets

	mu     sync.Mutex
	closed bool
	work   sync.WaitGroup // requests that are served
}

// Serve joins connections that come from a listener until ctx ends, and then closes them all, and
// the listener.
func Serve(ctx context.Context, l net.Listener, o Options) error {
	if o.Connections == 0 {
		o.Connections = defaultConnections
	}
	o.Log = pki.LimitLog(o.Log)
	ctx, cancel := context.WithCancel(ctx)
	r := &relay{Options: o, ctx: ctx, places: places{most: o.Connections}}
	l = pki.LimitStrangers(keptAlive{l}, pki.Limits{Strangers: max(1, o.Connections/4), Time: greetingTime})
	if o.Certificate != nil {
		l = tls.NewListener(l, &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return o.Certificate() }})
	}
	server := &http.Server{Handler: r.routes(), ReadHeaderTimeout: greetingTime, MaxHeaderBytes: maxRequest,
		ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, strangerKey{}, pki.ConnOf(c.RemoteAddr()))
		}}
	server.SetKeepAlivesEnabled(false)
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	err := server.Serve(l)
	if ctx.Err() != nil {
		err = nil
	}
	cancel() // which ends connections that were upgraded, of which the server knows no more
	r.mu.Lock()
	r.closed = true // nothing is added to work from here on
	r.mu.Unlock()
	r.work.Wait()
	return err
}

// strangerKey is under what the context of a request has its *pki.Conn.
type strangerKey struct{}

// A keptAlive is a listener whose connections end when their other end has vanished.
type keptAlive struct{ net.Listener }

// Accept implements net.Listener.
func (l keptAlive) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetKeepAliveConfig(keepAlive) // else the system's
	}
	return conn, err
}

func (r *relay) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "A relay of dsbo, which joins the connections of agents.\n")
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	mux.HandleFunc("GET /runs/{run}/wait", r.admitted(r.serveWaiting))
	mux.HandleFunc("GET /runs/{run}/agents/{agent}", r.admitted(r.serveCall))
	return mux
}

// admitted returns a handler that serves requests of agents alone, and ends their connections.
func (r *relay) admitted(serve func(w http.ResponseWriter, q *http.Request, agent int)) http.HandlerFunc {
	return func(w http.ResponseWriter, q *http.Request) {
		if !r.begin() {
			return
		}
		defer r.work.Done()
		agent, err := r.agentOf(q)
		if err == nil {
			err = r.places.admit(agent)
		}
		if err != nil {
			r.Log.Warn("refused a request", "from", q.RemoteAddr, "reason", wording.Plain(err.Error()))
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		defer r.places.unregister(agent)
		q.Context().Value(strangerKey{}).(*pki.Conn).Admit()
		serve(w, q, agent)
	}
}

// begin counts a request that is served, unless the relay ends.
func (r *relay) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.work.Add(1)
	}
	return !r.closed
}

// agentOf returns the agent that has signed a request, once and at about this time. The error is
// what the client is told.
func (r *relay) agentOf(q *http.Request) (agent int, err error) {
	if q.Header.Get("Upgrade") != protocol || len(q.PathValue("run")) > maxRun {
		return 0, errors.New("a request of an agent must name a run and have the header Upgrade: " + protocol)
	}
	t, err := readTicket(q)
	if err != nil {
		return 0, err
	}
	trust, err := r.Trust()
	if err != nil {
		r.Log.Error("the relay's authorities", "reason", err)
		return 0, errors.New("the relay has no authorities")
	}
	now := time.Now()
	if err := t.check(q, trust, now); err != nil {
		return 0, err
	}
	return t.Agent, r.used.add(t, now)
}

func (r *relay) serveWaiting(w http.ResponseWriter, q *http.Request, agent int) {
	conn, undo, err := r.upgrade(w)
	if err != nil {
		return
	}
	defer undo()
	r.places.wait(place{q.PathValue("run"), agent}, conn)
}

// serveCall joins an agent to the agent that its request names, and returns when both directions
// have ended. Where that one does not wait, the agent is told to try again.
func (r *relay) serveCall(w http.ResponseWriter, q *http.Request, agent int) {
	run := q.PathValue("run")
	to, err := strconv.Atoi(q.PathValue("agent"))
	if err != nil {
		http.Error(w, "an agent must be a number", http.StatusForbidden)
		return
	}
	other, release := r.places.newestAlive(place{run, to})
	if other == nil {
		http.Error(w, absentText(to), http.StatusServiceUnavailable)
		return
	}
	defer release()
	conn, undo, err := r.upgrade(w)
	if err != nil {
		return
	}
	defer undo()
	began := time.Now()
	sent, received := join(conn, other)
	r.Log.Info("connection", "run", run, "agent", agent, "to", to, "bytes", sent, "bytes_back", received, "took",
		time.Since(began).Round(time.Second))
}

// upgrade answers a request that its connection is the agent's from now on. undo closes it, as the
// end of the relay does.
func (r *relay) upgrade(w http.ResponseWriter) (conn net.Conn, undo func(), err error) {
	under, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, nil, err
	}
	if c, ok := under.(*pki.Conn); ok { // without TLS
		under = c.Conn // which can end one of its directions
	}
	stop := context.AfterFunc(r.ctx, func() { under.Close() })
	undo = func() {
		stop()
		under.Close()
	}
	_ = under.SetDeadline(time.Now().Add(greetingTime))
	_, err = io.WriteString(under,
		"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "+protocol+"\r\n\r\n")
	if buffered.Reader.Buffered() > 0 {
		err = errors.New("nothing must follow a request before its answer")
	}
	if err != nil {
		undo()
		return nil, nil, err
	}
	return under, undo, under.SetDeadline(time.Time{})
}

const (
	// protocol is what a connection is upgraded to, and the scheme of the header Authorization.
	protocol   = "dsbo"
	maxRequest = 16 << 10
	maxRun     = 128 // bytes of the name of a run
	// greetingTime is within which a request, and its answer where one is due at once, must come.
	greetingTime = 10 * time.Second
	// validTime is how far the time of a signature may be from the relay's.
	validTime = 5 * time.Minute
)

// A ticket shows which agent a request is from.
type ticket struct {
	Agent       int       `json:"agent"`
	Certificate []byte    `json:"certificate"`
	Time        time.Time `json:"time"`
	Random      [16]byte  `json:"random"`
	Signature   []byte    `json:"signature"`
}

// text is what an agent signs of a request.
func (t *ticket) text(r *http.Request) []byte {
	return fmt.Appendf(nil, "dsbo relay: agent %d, %s %s %s, %s, %x", t.Agent, r.Method, r.Host, r.URL.EscapedPath(),
		t.Time.UTC().Format(time.RFC3339Nano), t.Random)
}

// sign gives a request the ticket of an agent, in its header Authorization.
func sign(r *http.Request, id *pki.Identity, now time.Time) error {
	t := ticket{Agent: id.Agent, Certificate: id.Certificate(), Time: now}
	_, _ = rand.Read(t.Random[:]) // which never fails
	var err error
	if t.Signature, err = id.Sign(t.text(r)); err != nil {
		return err
	}
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", protocol+" "+base64.StdEncoding.EncodeToString(text))
	return nil
}

// readTicket reads a request's ticket, without checking it. The error is what the client is told.
func readTicket(r *http.Request) (*ticket, error) {
	scheme, code, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if scheme != protocol {
		return nil, errors.New("this is for agents of dsbo: a request must show who it is from")
	}
	text, err := base64.StdEncoding.DecodeString(code)
	if err != nil {
		return nil, fmt.Errorf("the header Authorization must be in base64: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	t := &ticket{}
	if err := d.Decode(t); err != nil {
		return nil, fmt.Errorf("the header Authorization must have a JSON object: %w", err)
	}
	return t, nil
}

// check returns an error unless an agent has signed the request with this ticket at about this
// time.
func (t *ticket) check(r *http.Request, trust *pki.Trust, now time.Time) error {
	if apart := now.Sub(t.Time); apart.Abs() > validTime {
		return fmt.Errorf("the clock of agent %d must be within %v of the relay's; it is %v behind", t.Agent, validTime,
			apart.Round(time.Second))
	}
	if err := trust.Verify(t.Agent, t.Certificate, t.text(r), t.Signature, now); err != nil {
		return fmt.Errorf("agent %d: %w", t.Agent, err)
	}
	return nil
}

// maxUsed is how many tickets a relay remembers at once.
const maxUsed = 1 << 16

// A usedTickets remembers tickets for as long as they would be valid.
type usedTickets struct {
	mu    sync.Mutex
	until map[[16]byte]time.Time
}

// add notes the use of a ticket that has been checked. A ticket that was used before is an error,
// and so is one too many: tickets are forgotten once their time is over, and not before.
func (u *usedTickets) add(t *ticket, now time.Time) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, used := u.until[t.Random]; used {
		return fmt.Errorf("agent %d has used this signature before", t.Agent)
	}
	if len(u.until) >= maxUsed {
		maps.DeleteFunc(u.until, func(_ [16]byte, until time.Time) bool { return now.After(until) })
	}
	if len(u.until) >= maxUsed { // all are valid still
		return errors.New("the relay has too many requests")
	}
	if u.until == nil {
		u.until = map[[16]byte]time.Time{}
	}
	u.until[t.Random] = t.Time.Add(validTime)
	return nil
}
