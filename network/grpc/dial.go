package grpc

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"time"

	"dsbo/internal/wording"
	"dsbo/network/relay"

	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// Between two attempts to connect passes firstRetry, then twice as long each time up to two
// heartbeats, which is a second unless others are set, less up to a half that is drawn. A stream
// that brings nothing new counts as an attempt.
const firstRetry = 20 * time.Millisecond

// dial keeps a stream to a neighbour that this agent connects to open until the mixer is closed.
func (l *links) dial(e *edge) {
	wait := firstRetry
	logged := ""
	draw := rand.New(rand.NewPCG(l.m.config.Instance, uint64(e.id)))
	for {
		var unreachable atomic.Bool // nobody listens
		before := e.progress()
		opened, err := l.connect(e, &unreachable)
		if status.Code(err) == fencedCode {
			l.fence(e.id)
		}
		if l.dialing.Err() != nil {
			return
		}
		if opened {
			logged = ""
			if e.progress() != before {
				wait = firstRetry
			}
		} else {
			e.noteRefusal(err)
			err = errors.New(wording.Plain(err.Error()))
			if logged != err.Error() {
				logged = err.Error()
				level := slog.LevelWarn
				if unreachable.Load() { // which may pass by itself
					level = slog.LevelInfo
				}
				l.m.config.Log.Log(l.dialing, level, "cannot connect to a neighbour", "neighbour", e.id, "reason", err)
			}
		}
		pause := wait - time.Duration(draw.Int64N(int64(wait)/2))
		select {
		case <-time.After(max(pause, e.conduct.penalty())):
		case <-l.dialing.Done():
			return
		}
		wait = min(2*wait, max(firstRetry, 2*l.m.config.Heartbeat))
	}
}

// dialer returns how a connection to a neighbour is opened: to its address, or over the relay.
// unreachable says whether nobody listens there.
func (l *links) dialer(e *edge, unreachable *atomic.Bool) func(ctx context.Context, address string) (net.Conn, error) {
	if !l.m.config.isRelayed(e.id) {
		return func(ctx context.Context, address string) (net.Conn, error) {
			conn, err := l.m.config.Dial(ctx, address)
			unreachable.Store(err != nil)
			return conn, err
		}
	}
	return func(ctx context.Context, _ string) (net.Conn, error) {
		conn, err := l.relay().Dial(ctx, e.id)
		unreachable.Store(errors.Is(err, relay.ErrAbsent))
		return conn, err
	}
}

// connect opens a connection and its stream, and moves frames until it ends. opened reports whether
// both sides agreed to it.
func (l *links) connect(e *edge, unreachable *atomic.Bool) (opened bool, err error) {
	ctx, cancel := context.WithCancel(l.streams)
	defer cancel()
	undo := context.AfterFunc(l.dialing, cancel)
	defer undo()
	limit := time.AfterFunc(handshakeTimeout, cancel)
	defer limit.Stop()

	conn, err := l.newConn(e, l.dialer(e, unreachable))
	if err != nil {
		return false, err
	}
	defer conn.Close()
	s, err := conn.NewStream(ctx, &service.Streams[0], method, rpc.ForceCodecV2(codec{}))
	if err != nil {
		return false, err
	}
	h, auth, err := l.greet(e, s)
	if err != nil {
		return false, err
	}
	if !undo() || !limit.Stop() { // or the mixer is closed, and nobody asks why
		return false, fmt.Errorf("no connection in %v", handshakeTimeout)
	}
	n := newSession(e, s, l.connectionExpiry(auth))
	if err := n.open(h); err != nil {
		return false, err
	}
	in, err := n.run()
	if err == nil && s.CloseSend() == nil {
		<-in // the neighbour has read all, or Close waits no longer
	}
	return true, err
}

// greet exchanges hellos with a neighbour that this agent has connected to. auth says by
// which certificates.
func (l *links) greet(e *edge, s rpc.ClientStream) (h hello, auth credentials.AuthInfo, err error) {
	l.m.mu.Lock()
	greeting := e.hello()
	l.m.mu.Unlock()
	if err := s.SendMsg(greeting); err != nil && err != io.EOF { // with io.EOF the reason comes from RecvMsg
		return h, nil, err
	}
	var f frame
	if err := s.RecvMsg(&f); err != nil {
		switch refusal := status.Convert(err); refusal.Code() {
		case codes.PermissionDenied:
			return h, nil, errors.New(refusal.Message())
		case strangeCode:
			return h, nil, &settingsError{errors.New(refusal.Message())}
		}
		return h, nil, err
	}
	if h, err = readHello(&f); err != nil {
		return h, nil, err
	}
	if h.from != e.id {
		return h, nil, fmt.Errorf("it must be agent %d; it says that it is agent %d", e.id, h.from)
	}
	if p, ok := peer.FromContext(s.Context()); ok {
		auth = p.AuthInfo
	}
	if err := l.checkIdentity(h, auth); err != nil {
		return h, auth, err
	}
	return h, auth, l.checkHello(h)
}

func (l *links) newConn(e *edge, dial func(context.Context, string) (net.Conn, error)) (*rpc.ClientConn, error) {
	creds, readBuffer := l.protection(func() *tls.Config { return l.m.identity().Client(e.id) })
	return rpc.NewClient("passthrough:///"+l.m.config.address(e.id),
		rpc.WithTransportCredentials(creds),
		rpc.WithContextDialer(dial),
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
