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
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// Between two attempts to connect passes firstRetry, then twice as long each time up to two heartbeats, which is a second unless
// others are set, less up to a half that is drawn. A stream that brings nothing new counts as an attempt.
const firstRetry = 20 * time.Millisecond

// dial keeps a stream to a neighbour that this agent connects to open until the mixer is closed.
func (m *Mixer) dial(e *edge) {
	wait := firstRetry
	logged := ""
	draw := rand.New(rand.NewPCG(m.config.Instance, uint64(e.id)))
	for {
		var unreachable atomic.Bool // nobody listens
		before := e.progress()
		opened, err := m.connect(e, &unreachable)
		if status.Code(err) == fencedCode {
			m.fence(e.id)
		}
		if m.dialing.Err() != nil {
			return
		}
		if opened {
			logged = ""
			if e.progress() != before {
				wait = firstRetry
			}
		} else {
			err = errors.New(wording.Plain(err.Error()))
			m.mu.Lock()
			e.lastErr = err
			m.mu.Unlock()
			if logged != err.Error() {
				logged = err.Error()
				level := slog.LevelWarn
				if unreachable.Load() { // which may pass by itself
					level = slog.LevelInfo
				}
				m.config.Log.Log(m.dialing, level, "cannot connect to a neighbour", "neighbour", e.id, "reason", err)
			}
		}
		pause := wait - time.Duration(draw.Int64N(int64(wait)/2))
		select {
		case <-time.After(max(pause, e.penalty())):
		case <-m.dialing.Done():
			return
		}
		wait = min(2*wait, max(firstRetry, 2*m.config.Heartbeat))
	}
}

// dialTCP is what Config.Dial is if nothing else is said.
func dialTCP(ctx context.Context, address string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", address)
}

// dialer returns how a connection to a neighbour is opened: to its address, or over the relay. unreachable says whether nobody listens there.
func (m *Mixer) dialer(e *edge, unreachable *atomic.Bool) func(ctx context.Context, address string) (net.Conn, error) {
	if !m.config.isRelayed(e.id) {
		return func(ctx context.Context, address string) (net.Conn, error) {
			conn, err := m.config.Dial(ctx, address)
			unreachable.Store(err != nil)
			return conn, err
		}
	}
	return func(ctx context.Context, _ string) (net.Conn, error) {
		conn, err := m.relay().Dial(ctx, e.id)
		unreachable.Store(errors.Is(err, relay.ErrAbsent))
		return conn, err
	}
}

// connect opens a connection and its stream, and moves frames until it ends. opened reports whether
// both sides agreed to it.
func (m *Mixer) connect(e *edge, unreachable *atomic.Bool) (opened bool, err error) {
	ctx, cancel := context.WithCancel(m.streams)
	defer cancel()
	undo := context.AfterFunc(m.dialing, cancel)
	defer undo()
	limit := time.AfterFunc(handshakeTimeout, cancel)
	defer limit.Stop()

	conn, err := m.newConn(e, m.dialer(e, unreachable))
	if err != nil {
		return false, err
	}
	defer conn.Close()
	s, err := conn.NewStream(ctx, &service.Streams[0], method, rpc.ForceCodecV2(codec{}))
	if err != nil {
		return false, err
	}
	h, auth, err := m.greet(e, s)
	if err != nil {
		return false, err
	}
	if !undo() || !limit.Stop() { // or the mixer is closed, and nobody asks why
		return false, fmt.Errorf("no connection in %v", handshakeTimeout)
	}
	n := newSession(e, s, m.connectionExpiry(auth))
	if err := n.open(h); err != nil {
		return false, err
	}
	in, err := n.run()
	if err == nil && s.CloseSend() == nil {
		<-in // the neighbour has read all, or Close waits no longer
	}
	return true, err
}

// greet exchanges hellos with a neighbour that this agent has connected to. auth says by which certificates.
func (m *Mixer) greet(e *edge, s rpc.ClientStream) (h hello, auth credentials.AuthInfo, err error) {
	m.mu.Lock()
	greeting := e.hello()
	m.mu.Unlock()
	if err := s.SendMsg(greeting); err != nil && err != io.EOF { // with io.EOF the reason comes from RecvMsg
		return h, nil, err
	}
	var f frame
	if err := s.RecvMsg(&f); err != nil {
		if refusal := status.Convert(err); refusal.Code() == codes.PermissionDenied {
			return h, nil, errors.New(refusal.Message())
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
	if err := m.checkIdentity(h, auth); err != nil {
		return h, auth, err
	}
	return h, auth, m.checkHello(h)
}

func (m *Mixer) newConn(e *edge, dial func(context.Context, string) (net.Conn, error)) (*rpc.ClientConn, error) {
	creds, readBuffer := m.protection(func() *tls.Config { return m.identity().Client(e.id) })
	return rpc.NewClient("passthrough:///"+m.config.address(e.id),
		rpc.WithTransportCredentials(creds),
		rpc.WithContextDialer(dial),
		rpc.WithDefaultCallOptions(rpc.MaxCallRecvMsgSize(m.maxMessage())),
		rpc.WithStaticStreamWindowSize(m.streamWindow()),
		rpc.WithStaticConnWindowSize(m.streamWindow()),
		rpc.WithReadBufferSize(readBuffer),
		rpc.WithWriteBufferSize(bufferSize),
		rpc.WithMaxHeaderListSize(8<<10),
		rpc.WithDisableRetry(),
		rpc.WithDisableServiceConfig(),
	)
}

// protection returns what a connection has below gRPC, by this agent's certificate if it has one, and the size of gRPC's
// buffer for reading: TLS has one of its own, from which pieces go where they belong.
func (m *Mixer) protection(settings func() *tls.Config) (creds credentials.TransportCredentials, readBuffer int) {
	if m.identity() == nil {
		return insecure.NewCredentials(), bufferSize
	}
	return batchingTLS{credentials.NewTLS(settings()), m.refuse}, 0
}
