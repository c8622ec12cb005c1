package session

import (
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
	"dsbo/network/relay"

	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
)

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
