package session

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"time"

	"dsbo/internal/wording"
	"dsbo/network/pki"
	"dsbo/network/relay"

	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
)

// method is the name under which a client asks for it.
const method = "/dsbo.Session/Frames"

// service describes the one method, a stream in both directions.
var service = rpc.ServiceDesc{
	ServiceName: "dsbo.Session",
	HandlerType: (*any)(nil),
	Streams: []rpc.StreamDesc{{
		StreamName:    "Frames",
		Handler:       func(m any, s rpc.ServerStream) error { return m.(*links).accept(s) },
		ServerStreams: true,
		ClientStreams: true,
	}},
}

// newServer returns the gRPC server, with bounds on messages, windows and headers that hold for
// strangers too.
func (l *links) newServer() *rpc.Server {
	creds, readBuffer := l.protection(l.serverSettings)
	s := rpc.NewServer(
		rpc.Creds(creds),
		rpc.ForceServerCodecV2(l.codec()),
		rpc.MaxRecvMsgSize(l.maxMessage()),
		rpc.StaticStreamWindowSize(l.streamWindow()),
		rpc.StaticConnWindowSize(l.streamWindow()),
		rpc.ReadBufferSize(readBuffer),
		rpc.WriteBufferSize(bufferSize),
		rpc.MaxConcurrentStreams(1),
		rpc.MaxHeaderListSize(8<<10),
		rpc.ConnectionTimeout(handshakeTimeout),
		rpc.WaitForHandlers(true),
		rpc.UnknownServiceHandler(l.refuseProtocol),
	)
	s.RegisterService(&service, l)
	return s
}

// refuseProtocol refuses a stream of another name than method, as another version opens. The log
// and, if it is a neighbour's, the host learn it.
func (l *links) refuseProtocol(_ any, s rpc.ServerStream) error {
	p, _ := peer.FromContext(s.Context()) // each stream of a server has one
	name, _ := rpc.MethodFromServerStream(s)
	err := &settingsError{fmt.Errorf("it exchanges by %.60q, agent %d by %s: all agents must have the same program",
		name, l.config.Agent, method)}
	l.refuse(p.Addr, err)
	if agent, known := l.peerOf(p.AuthInfo); known == nil {
		l.host.refused(agent, err)
	}
	return statusOf(err, refusedCode)
}

// accept serves one stream that a neighbour has opened, until it ends. The error is the status by
// which the neighbour learns why.
func (l *links) accept(s rpc.ServerStream) error {
	p, _ := peer.FromContext(s.Context())
	c, err := l.admit(s, p.AuthInfo)
	if err != nil {
		if removed, is := errors.AsType[*removedError](err); is {
			_ = s.SendMsg(l.greet(removed.agent)) // with the removal, by which it ends; the stream ends anyway
		}
		l.refuse(p.Addr, err)
		return statusOf(err, refusedCode)
	}
	if known := pki.ConnOf(p.Addr); known != nil { // nil: a listener of a test's own
		known.Admit()
		defer known.Dismiss() // its next stream, if any, must say hello again
	}
	if err := s.SendMsg(l.greet(c.to)); err != nil {
		l.host.detach(c, err)
		return err
	}
	if _, err = l.run(c); err == nil || err == io.EOF { // in good order
		return nil
	}
	return statusOf(err, codes.Aborted)
}

// admit returns the connection to the neighbour that a stream comes from, which has it from then
// on.
func (l *links) admit(s stream, auth credentials.AuthInfo) (*conn, error) {
	id := l.identity() // of before the hello: run drops the connection if it is renewed meanwhile
	h, err := l.awaitHello(s)
	if err != nil {
		return nil, err
	}
	if err := l.check(h, auth); err != nil {
		return nil, err
	}
	c := l.newConn(h.From, s, id, auth)
	return c, l.host.attach(c, h)
}

// awaitHello returns the hello with which a stream must begin, within handshakeTimeout. RecvMsg has
// no time of its own: its goroutine ends with the stream.
func (l *links) awaitHello(s stream) (hello, error) {
	var f received
	came := make(chan error, 1)
	l.work.Go(func() { came <- s.RecvMsg(&f) })
	t := time.NewTimer(handshakeTimeout)
	defer t.Stop()
	select {
	case err := <-came:
		if err != nil {
			return hello{}, err
		}
		return readHello(&f.frame)
	case <-t.C:
		return hello{}, fmt.Errorf("no hello for %v", handshakeTimeout)
	case <-l.closing.Done():
		return hello{}, errors.New("closed")
	}
}

// check returns an error unless a hello comes from an agent that has the right to connect now.
func (l *links) check(h hello, auth credentials.AuthInfo) error {
	if err := l.checkIdentity(h, auth); err != nil {
		return err
	}
	if err := cmp.Or(l.checkHello(h), l.checkDirection(h.From)); err != nil {
		l.host.refused(h.From, err)
		return err
	}
	return l.host.admit(h)
}

// checkIdentity returns an error unless the certificate, if there has to be one, belongs to the
// agent of this run that the hello names.
func (l *links) checkIdentity(h hello, auth credentials.AuthInfo) error {
	if l.identity() == nil {
		return nil
	}
	agent, err := l.peerOf(auth)
	if err == nil && agent != h.From {
		err = fmt.Errorf("it claims to be agent %d, but shows the certificate of agent %d", h.From, agent)
	}
	return err
}

// peerOf returns the agent of this run whose certificate a connection has. This agent has one too.
func (l *links) peerOf(auth credentials.AuthInfo) (agent int, err error) {
	theirs := stateOf(auth).PeerCertificates
	if len(theirs) == 0 {
		return 0, errors.New("no certificate")
	}
	return l.identity().Peer(theirs)
}

// stateOf returns the TLS state of a connection; the zero value without TLS.
func stateOf(auth credentials.AuthInfo) tls.ConnectionState {
	info, _ := auth.(credentials.TLSInfo)
	return info.State
}

// Between two attempts to connect passes firstRetry, then twice as long each time up to two
// heartbeats, which is a second unless others are set, less up to a half that is drawn. A stream
// that ends within a heartbeat, or brought nothing but heartbeats, counts as an attempt.
const firstRetry = 20 * time.Millisecond

// An attempt is one to connect to a neighbour.
type attempt struct {
	opened      bool // both sides agreed
	useful      bool // and it was good for something
	unreachable bool // nobody listens
}

// dial keeps a stream to a neighbour that this agent connects to open until the links are closed.
func (l *links) dial(to int) {
	wait := firstRetry
	logged := ""
	draw := rand.New(rand.NewPCG(l.config.Instance, uint64(to)))
	for {
		var a attempt
		err := l.connect(to, &a)
		if l.closing.Err() != nil {
			return
		}
		_, fenced := errors.AsType[*fencedError](err)
		if a.useful {
			wait = firstRetry
		}
		if !a.opened || fenced { // the end of an open stream is in detach
			l.host.refused(to, err)
		}
		if a.opened {
			logged = ""
		} else if text := wording.Plain(err.Error()); text != logged {
			logged = text
			level := slog.LevelWarn
			if a.unreachable { // which may pass by itself
				level = slog.LevelInfo
			}
			l.config.Log.Log(l.closing, level, "cannot connect to a neighbour", "neighbour", to, "reason", text)
		}
		select {
		case <-time.After(wait - time.Duration(draw.Int64N(int64(wait)/2))):
		case <-l.closing.Done():
			return
		}
		wait = min(2*wait, max(firstRetry, 2*l.config.Heartbeat)) // a heartbeat of a test may be shorter
	}
}

// reach opens a connection to a neighbour: to its address, or over the relay.
func (l *links) reach(ctx context.Context, to int, a *attempt) (conn net.Conn, err error) {
	if l.config.isRelayed(to) {
		conn, err = l.relay().Dial(ctx, to)
		a.unreachable = errors.Is(err, relay.ErrAbsent)
		return conn, err
	}
	conn, err = l.config.Dial(ctx, l.config.address(to))
	a.unreachable = err != nil
	return conn, err
}

// connect opens a connection and its stream, and moves frames until it ends. a records the outcome.
func (l *links) connect(to int, a *attempt) error {
	ctx, cancel := context.WithCancel(l.streams)
	defer cancel()
	undo := context.AfterFunc(l.closing, cancel) // until the hellos: afterwards close waits for the queues
	defer undo()
	limit := time.AfterFunc(handshakeTimeout, cancel)
	defer limit.Stop()

	id := l.identity()
	wire, err := l.reach(ctx, to, a) // before there is a client, which costs more than an attempt that fails
	if err != nil {
		return err
	}
	defer wire.Close()
	client, err := l.newClient(to, wire)
	if err != nil {
		return err
	}
	defer client.Close()
	s, err := client.NewStream(ctx, &service.Streams[0], method, rpc.ForceCodecV2(l.codec()))
	if err != nil {
		return l.readRefusal(to, err)
	}
	h, auth, err := l.exchangeHellos(to, s)
	if err != nil {
		return err
	}
	if !undo() || !limit.Stop() { // ctx is over: by the limit, or as the links are closed and nobody asks why
		return fmt.Errorf("no connection in %v", handshakeTimeout)
	}
	c := l.newConn(to, s, id, auth)
	if err := l.host.attach(c, h); err != nil {
		return err
	}
	a.opened = true
	in, err := l.run(c)
	a.useful = c.useful.Load() && time.Since(c.began) >= l.config.Heartbeat
	if err == nil && s.CloseSend() == nil { // this side is closed, and has sent everything
		<-in // the neighbour has read all, or close waits no longer
	}
	return err
}

// exchangeHellos exchanges hellos with a neighbour that this agent has connected to. auth has the
// certificates.
func (l *links) exchangeHellos(to int, s rpc.ClientStream) (h hello, auth credentials.AuthInfo, err error) {
	if err := s.SendMsg(l.greet(to)); err != nil && err != io.EOF { // with io.EOF the reason comes from RecvMsg
		return h, nil, err
	}
	var f received
	if err := s.RecvMsg(&f); err != nil {
		if f.fault != nil {
			return h, nil, f.fault
		}
		return h, nil, l.readRefusal(to, err)
	}
	if h, err = readHello(&f.frame); err != nil {
		return h, nil, err
	}
	if h.From != to {
		return h, nil, fmt.Errorf("it must be agent %d; it claims to be agent %d", to, h.From)
	}
	if p, ok := peer.FromContext(s.Context()); ok {
		auth = p.AuthInfo
	}
	if err := l.checkIdentity(h, auth); err != nil {
		return h, auth, err
	}
	return h, auth, l.checkHello(h)
}

// newClient returns a gRPC client of agent to over a connection. Retries are off: the dial loop
// makes new connections.
func (l *links) newClient(to int, wire net.Conn) (*rpc.ClientConn, error) {
	creds, readBuffer := l.protection(func() *tls.Config { return l.identity().Client(to) })
	return rpc.NewClient("passthrough:///"+l.config.address(to),
		rpc.WithTransportCredentials(creds),
		rpc.WithContextDialer(func(context.Context, string) (net.Conn, error) { return wire, nil }),
		rpc.WithDefaultCallOptions(rpc.MaxCallRecvMsgSize(l.maxMessage())),
		rpc.WithStaticStreamWindowSize(l.streamWindow()),
		rpc.WithStaticConnWindowSize(l.streamWindow()),
		rpc.WithReadBufferSize(readBuffer),
		rpc.WithWriteBufferSize(bufferSize),
		rpc.WithMaxHeaderListSize(8<<10),
		rpc.WithDisableRetry(),
		rpc.WithDisableServiceConfig(),
	)
}
