package grpc

import (
	"context"
	"crypto/tls"
	"maps"
	"net"
	"time"

	"dsbo/internal/wording"
	"dsbo/network/grpc/masks"
	"dsbo/network/relay"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

const (
	// handshakeTimeout bounds the opening of a connection, from the first packet to the
	// neighbour's hello.
	handshakeTimeout = 10 * time.Second
	// closeTimeout bounds how long Close waits until a neighbour has what was sent to it.
	closeTimeout = time.Second
	// maxWindow is how many bytes may be on their way before they are read, minWindow the least
	// number for short vectors.
	maxWindow, minWindow = 16 << 20, 256 << 10
	// bufferSize is the size of the buffers for reading from and writing to a connection: two
	// vectors of MNIST's weights, as an agent that was late has two to send at once.
	bufferSize = 128 << 10
)

// method is the name under which a client asks for it.
const method = "/dsbo.Exchange/Frames"

func newLinks(m *Mixer) *links {
	l := &links{m: m, refusals: map[string]time.Time{}}
	l.dialing, l.stopDial = context.WithCancel(context.Background())
	l.streams, l.stopAll = context.WithCancel(context.Background())
	return l
}

// maxMessage returns the size of the largest frame.
func (l *links) maxMessage() int {
	return headerSize + max(8*l.m.config.MaxFloats, masks.MaxText)
}

// streamWindow returns how many bytes may be on their way before they are read: two frames if they
// are short.
func (l *links) streamWindow() int32 {
	return int32(min(max(2*l.maxMessage(), minWindow), maxWindow))
}

// relay returns this agent as the relay knows it.
func (l *links) relay() relay.Client {
	c := l.m.config
	return relay.Client{Address: c.Relay, Run: c.Run, Identity: l.m.identity, Connect: c.Dial}
}

// protection returns what a connection has below gRPC, by this agent's certificate if it has one,
// and the size of gRPC's buffer for reading: TLS has one of its own, from which pieces go where
// they belong.
func (l *links) protection(settings func() *tls.Config) (creds credentials.TransportCredentials, readBuffer int) {
	if l.m.identity() == nil {
		return insecure.NewCredentials(), bufferSize
	}
	return batchingTLS{credentials.NewTLS(settings()), l.refuse}, 0
}

// refusalPeriod is how long a refusal is not logged again: an agent that is refused tries again
// each second.
const refusalPeriod = time.Minute

// maxRefusals bounds how many of them are kept in mind: strangers find many reasons.
const maxRefusals = 256

// refuse counts a connection that was refused and logs why, unless it has just logged the same of
// that host.
func (l *links) refuse(from net.Addr, reason error) {
	host, _, _ := net.SplitHostPort(from.String())
	text := wording.Plain(reason.Error())
	key, now := host+" "+text, time.Now()
	l.m.mu.Lock()
	l.refused++
	maps.DeleteFunc(l.refusals, func(_ string, logged time.Time) bool { return now.Sub(logged) >= refusalPeriod })
	_, again := l.refusals[key]
	if !again && len(l.refusals) < maxRefusals {
		l.refusals[key] = now
	}
	l.m.mu.Unlock()
	if !again {
		l.m.config.Log.Warn("refused a connection", "from", from.String(), "reason", text)
	}
}
