package session

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"maps"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"dsbo"
	"dsbo/internal/wording"
	"dsbo/network/pki"
	"dsbo/network/register"
	"dsbo/network/relay"

	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

const (
	// handshakeTimeout bounds the opening of a connection, from the first packet to the
	// neighbour's hello.
	handshakeTimeout = 10 * time.Second
	// closeTimeout bounds the time that close waits for a neighbour to receive the last frames, or
	// two heartbeats do if they are longer.
	closeTimeout = time.Second
	// maxWindow is the number of bytes in flight before they are read, minWindow the least number
	// for short vectors.
	maxWindow, minWindow = 16 << 20, 256 << 10
	// bufferSize is the size of the buffers for reading from and writing to a connection: two
	// vectors of MNIST's weights, as an agent that was late has two to send at once.
	bufferSize = 128 << 10
)

// strangerLimits bound connections before a valid hello: enough for a TLS handshake and a hello,
// with room.
var strangerLimits = pki.Limits{Strangers: 64, Bytes: 64 << 10, Time: handshakeTimeout}

// A host is the agent as its links see it. Several goroutines may call it at once, and none of its
// methods waits.
type host interface {
	// greeting returns the host's part of a hello to a neighbour: the session's id, the number of
	// the neighbour's next vector and, of a neighbour that is out for good, its removal.
	greeting(to int) (session uint64, due int, removal string)
	// admit returns an error unless an agent whose hello is good in itself may connect now: it is a
	// neighbour, by the graph or by an admission, and no later process of it is known (errFenced).
	// The error for a neighbour that is out for good is a *removedError.
	admit(h hello) error
	// attach makes c the connection to the neighbour that has said h, in place of an older one,
	// which it drops with errReplaced or, of an earlier process, errFenced. Of a process that is
	// itself an earlier one it returns errFenced.
	attach(c *conn, h hello) error
	// handle takes in a frame of any kind but hello; its payload is the host's from then on. An
	// error ends the connection: a *badFrame with its reason.
	handle(c *conn, f frame) error
	// detach ends c, unless another connection has taken its place: nil where the links are closed,
	// io.EOF where the neighbour's are. What c brings after that is of no interest, though a last
	// frame may still be under way to handle.
	detach(c *conn, why error)
	// refused records the reason why a neighbour is not connected: a *settingsError if its settings
	// or program differ, a *fencedError if this process must end. An agent that is no neighbour is
	// ignored.
	refused(agent int, why error)
}

// links are the connections of an agent, and the attempts to make them.
type links struct {
	config   *Config                      // valid, with its defaults
	host     host                         // whose links these are
	settings string                       // Config.Settings as in hellos
	server   *rpc.Server                  // for connections to this agent
	member   atomic.Pointer[pki.Identity] // certificate of now; nil: there is none

	closing context.Context    // until close
	stop    context.CancelFunc // ends closing
	streams context.Context    // until close has sent the queues
	stopAll context.CancelFunc // ends streams
	work    sync.WaitGroup     // of all goroutines but gRPC's
	refused atomic.Int64       // connections
	waits   atomic.Value       // the reason why listening waits; "": it does not

	mu     sync.Mutex           // guards the fields below
	conns  map[*conn]bool       // that move frames
	logged map[string]time.Time // refusals, and when
}

// newLinks returns links that do nothing before start. The configuration is valid and has its
// defaults, and its certificate is of the run.
func newLinks(c *Config, h host) *links {
	l := &links{config: c, host: h, settings: c.settingsText(), conns: map[*conn]bool{},
		logged: map[string]time.Time{}}
	l.member.Store(c.Identity)
	l.closing, l.stop = context.WithCancel(context.Background())
	l.streams, l.stopAll = context.WithCancel(context.Background())
	l.server = l.newServer()
	return l
}

// start begins to listen and to connect, and returns before anything is connected. The host may be
// called from then on, until close has returned.
func (l *links) start() {
	c := l.config
	if c.Listener != nil || c.address(c.Agent) != "" {
		l.work.Go(func() { l.listen(c.Listener) })
	}
	if c.waitsAtRelay() {
		l.work.Go(func() { l.serve(l.relay().Listen(c.Log)) })
	}
	for _, i := range c.neighbours() {
		if c.dials(i) {
			l.work.Go(func() { l.dial(i) })
		}
	}
}

// close ends all connections after sending the queues, within closeTimeout. It may be called twice.
func (l *links) close() {
	l.stop()
	late := time.AfterFunc(max(closeTimeout, 2*l.config.Heartbeat), func() {
		l.stopAll()
		l.server.Stop()
	})
	l.server.GracefulStop() // waits for streams to this agent, whose queues are sent first
	l.work.Wait()           // and for its own
	late.Stop()
	l.stopAll()
}

// track notes a connection as long as it moves frames. One that was opened before the last renewal
// ends.
func (l *links) track(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns[c] = true
	if c.by != l.identity() {
		c.drop(errRenewed)
	}
}

func (l *links) untrack(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
}

func (l *links) maxMessage() int { return headerSize + max(8*l.config.mostWords(), maxFlood) }

// streamWindow returns the number of bytes in flight before they are read: two vectors if they are
// short.
func (l *links) streamWindow() int32 {
	return int32(min(max(2*(headerSize+8*l.config.MaxFloats), minWindow), maxWindow))
}

func (l *links) codec() codec { return codec{8 * l.config.mostWords()} }

func (l *links) relay() relay.Client {
	return relay.Client{Address: l.config.Relay, Run: l.config.Run, Identity: l.identity, Connect: l.config.Dial}
}

// protection returns the credentials below gRPC, by this agent's certificate if it has one, and the
// size of gRPC's read buffer. TLS has a buffer of its own, from which gRPC's reads are served
// directly.
func (l *links) protection(settings func() *tls.Config) (creds credentials.TransportCredentials, readBuffer int) {
	if l.identity() == nil {
		return insecure.NewCredentials(), bufferSize
	}
	return batchingTLS{credentials.NewTLS(settings()), l.refuse}, 0
}

// refusalPeriod is the time for which a repeated refusal is not logged: a refused agent retries
// each second.
const refusalPeriod = time.Minute

// maxRefusals bounds the refusals that are remembered: strangers find many reasons.
const maxRefusals = 256

// refuse counts a connection that was refused and logs why, unless it has logged the same of that
// host within refusalPeriod. With maxRefusals remembered, further ones are logged each time, at the
// bounded rate of [pki.LimitLog].
func (l *links) refuse(from net.Addr, reason error) {
	host, _, _ := net.SplitHostPort(from.String())
	text := wording.Plain(reason.Error())
	key, now := host+" "+text, time.Now()
	l.refused.Add(1)
	l.mu.Lock()
	maps.DeleteFunc(l.logged, func(_ string, at time.Time) bool { return now.Sub(at) >= refusalPeriod })
	_, again := l.logged[key]
	if !again && len(l.logged) < maxRefusals {
		l.logged[key] = now
	}
	l.mu.Unlock()
	if !again {
		l.config.Log.Warn("refused a connection", "from", from.String(), "reason", text)
	}
}

// Between two attempts to listen passes firstRetry, then twice as long each time up to lastListen.
const lastListen = 2 * time.Second

// waitLogPeriod is the period at which the log repeats the reason why listening waits.
const waitLogPeriod = time.Minute

// listen serves a listener or, without one, Config.Listen or this agent's address. If the port is
// taken or the name is not known yet, it retries, with a connecting agent's back-off, and so it
// does where its own listener ends by itself.
func (l *links) listen(given net.Listener) {
	if given != nil {
		l.serve(given)
		return
	}
	address := cmp.Or(l.config.Listen, l.config.address(l.config.Agent))
	var logged time.Time
	for pause := firstRetry; l.closing.Err() == nil; pause = min(2*pause, lastListen) {
		listener, err := new(net.ListenConfig).Listen(l.closing, "tcp", address)
		if err == nil {
			l.waits.Store("")
			l.config.Log.Info("listening", "address", address)
			l.serve(listener)
			pause, logged = firstRetry, time.Time{}
		} else if l.closing.Err() == nil {
			reason := wording.Plain(err.Error())
			l.waits.Store("it cannot listen on its address, " + address + ": " + reason)
			if now := time.Now(); logged.IsZero() || now.Sub(logged) >= waitLogPeriod {
				logged = now
				l.config.Log.Warn("cannot listen yet, and tries again", "address", address, "reason", reason)
			}
		}
		select {
		case <-time.After(pause):
		case <-l.closing.Done():
		}
	}
}

// serve accepts connections of a listener until the links are closed, or the listener is.
func (l *links) serve(listener net.Listener) {
	err := l.server.Serve(pki.LimitStrangers(listener, strangerLimits))
	if err != nil && !errors.Is(err, rpc.ErrServerStopped) { // before it began
		l.config.Log.Error("no longer listening", "reason", err)
	}
}

// waiting returns the reason why the agent cannot listen at its address yet; "" if it listens, or
// has none.
func (l *links) waiting() string {
	text, _ := l.waits.Load().(string)
	return text
}

// identity returns the certificate of now, as a member of the run; nil: there is none.
func (l *links) identity() *pki.Identity { return l.member.Load() }

func (l *links) rule() register.Rule { return l.config.rule(l.identity()) }

// renew gives this agent another certificate, or other authorities, and remakes all its
// connections. The key may change unless Config.Keys has it. Anything else is an error that matches
// dsbo.ErrConfig, and changes nothing.
func (l *links) renew(id *pki.Identity) error {
	c := l.config
	switch {
	case l.identity() == nil:
		return dsbo.ConfigErrorf("agent %d began without a certificate, and must go on without one", c.Agent)
	case id.Agent != c.Agent:
		return dsbo.ConfigErrorf("the certificate must be that of agent %d; it is that of agent %d",
			c.Agent, id.Agent)
	}
	id, err := id.InRun(c.Run, c.Keys)
	if err != nil {
		return err
	}
	l.member.Store(id)
	l.mu.Lock()
	defer l.mu.Unlock()
	for conn := range l.conns {
		conn.drop(errRenewed)
	}
	return nil
}

// serverSettings are the settings of a listener, each of whose connections has the certificate of
// its time.
func (l *links) serverSettings() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			now := l.identity().Server()
			now.NextProtos = []string{"h2"} // which gRPC adds to the settings that it is given, and requires
			return now, nil
		},
	}
}

// keyOf returns the SHA-256 of the public key with which the other side of a connection came, in
// hexadecimal; "" if it has none.
func keyOf(auth credentials.AuthInfo) string {
	theirs := stateOf(auth).PeerCertificates
	if len(theirs) == 0 {
		return ""
	}
	return pki.KeyDigest(theirs[0])
}

// connectionExpiry returns when the first certificate of a connection expires, of either side; the
// zero time if it has none.
func connectionExpiry(own *pki.Identity, auth credentials.AuthInfo) time.Time {
	theirs := pki.ExpiryOf(stateOf(auth).VerifiedChains)
	if own != nil && own.Expires().Before(theirs) {
		return own.Expires()
	}
	return theirs
}
