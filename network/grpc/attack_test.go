package grpc

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dsbo"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/network/grpc/holdup"
	"dsbo/network/grpc/masks"
	"dsbo/network/pki"

	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// A siege is a run of agents 0, 1 and 2, a path, of which 1 and 2 mix and wait for agent 0, whom an
// attacker plays. It belongs into a bubble of testing/synctest: networks are in memory and time
// is virtual.
type siege struct {
	t       *testing.T
	configs []Config
	target  int           // whom the attacker visits
	outside *testkit.Host // of the attacker
	ms      []*Mixer      // agents 1 and 2
	errs    chan error
	lines   atomic.Int64 // of the logs of both
	over    atomic.Bool  // one of them has ended
}

// Write counts the lines of the log.
func (s *siege) Write(b []byte) (int, error) {
	s.lines.Add(1)
	return len(b), nil
}

const (
	siegeExchanges = 3
	siegeLength    = vectorLength
	siegeTime      = time.Minute // bounds it
)

// newSiege opens agents 1 and 2, which give up soon if the run is to end.
func newSiege(t *testing.T, ends bool) *siege {
	configs, wires := virtual(newGraph("path", 3))
	s := &siege{t: t, configs: configs, errs: make(chan error, 2), target: self, outside: wires.Host("outside")}
	for i := range configs {
		c := &configs[i]
		c.MaxFloats = 1000
		c.Heartbeat, c.SilentAfter, c.PeerTimeout = 20*time.Millisecond, 100*time.Millisecond, siegeTime
		if ends {
			c.PeerTimeout = 400 * time.Millisecond
		}
		c.Log = slog.New(slog.NewTextHandler(s, nil))
	}
	var closeAll func()
	s.ms, closeAll = open(s.configs[1:])
	t.Cleanup(closeAll)
	return s
}

// mix has an agent mix a few times, and checks the sums: they are the sums of a run in which all
// are honest.
func (s *siege) mix(ctx context.Context, m *Mixer) error {
	x := make([]float64, siegeLength)
	for k := range siegeExchanges {
		for e := range x {
			x[e] = float64(k)
		}
		if err := m.Mix(ctx, x, x); err != nil {
			return err
		}
		for _, v := range x {
			// the weights of a row sum to 1, up to the rounding of three products below 3
			if math.Abs(v-float64(k)) > 1e-12 {
				return fmt.Errorf("a sum is %v; it must be %d", v, k)
			}
		}
	}
	return nil
}

// address is the target's.
func (s *siege) address() string { return machine(s.target) + ":7000" }

// visit connects to the target and sends frames.
func (s *siege) visit(frames ...[]byte) (rpc.ClientStream, error) {
	ctx, cancel := context.WithTimeout(s.t.Context(), siegeTime)
	s.t.Cleanup(cancel)
	return visitOver(ctx, s.t, s.outside.Dial, s.address(), s.creds(), frames...)
}

// client returns the settings with which agent 0 connects to the target.
func (s *siege) client() *tls.Config { return certificate(0).Client(s.target) }

func (s *siege) creds() credentials.TransportCredentials { return credentials.NewTLS(s.client()) }

// hello returns what agent 0 says to the target.
func (s *siege) hello() hello {
	h := goodHello(0)
	h.to, h.offers = s.target, ownCapabilities
	return h
}

// as connects with a hello as agent 0 and says what follows. The stream stays until the end of
// the test.
func (s *siege) as(h hello, frames ...[]byte) {
	stream, err := s.visit(h.encode())
	for _, f := range frames {
		if err == nil {
			err = stream.SendMsg(f)
		}
	}
}

// sendFrames is an attack by frames after a good hello.
func sendFrames(frames ...[]byte) func(*siege) { return func(s *siege) { s.as(s.hello(), frames...) } }

// sendVector is one by the vector of exchange 0.
func sendVector(purpose int, v []float64) func(*siege) {
	return sendFrames(encodeVector(0, purpose, v))
}

// atFault begins the end of a run for such a vector.
const atFault = "agent 0 is at fault in exchange 0: "

// floods sends frames after a good hello until the target ends the stream.
func floods(frames ...[]byte) func(*siege) {
	return func(s *siege) {
		stream := testkit.Get(s.visit(s.hello().encode()))
		ended := make(chan error)
		go func() {
			var err error
			for err == nil {
				var f frame
				err = stream.RecvMsg(&f)
			}
			ended <- err
		}()
		for {
			select {
			case <-ended:
				return
			default:
				for _, f := range frames {
					_ = stream.SendMsg(f)
				}
			}
		}
	}
}

// hellos is an attack by a hello that is not good.
func hellos(change func(*hello)) func(*siege) {
	return func(s *siege) {
		h := s.hello()
		change(&h)
		if _, err := s.visit(h.encode()); err == nil {
			s.t.Error("the hello was accepted")
		}
	}
}

// crowds opens many connections, on each of which something is done, and leaves them open until the
// end of the test.
func crowds(n int, do func(s *siege, c net.Conn)) func(*siege) {
	return func(s *siege) {
		for range n {
			c := testkit.Get(s.outside.Dial(s.t.Context(), s.address()))
			s.t.Cleanup(func() { c.Close() })
			do(s, c)
		}
	}
}

// connects again and again with a good hello, and sends heartbeats that say this, until the target
// has ended.
func connects(frames ...[]byte) func(*siege) {
	return func(s *siege) {
		for !s.over.Load() {
			conn := testkit.Get(rpc.NewClient("passthrough:///"+s.address(), rpc.WithTransportCredentials(s.creds()),
				rpc.WithContextDialer(s.outside.Dial)))
			ctx, cancel := context.WithTimeout(s.t.Context(), 60*time.Millisecond)
			if stream, err := conn.NewStream(ctx, &service.Streams[0], method, rpc.ForceCodecV2(codec{})); err == nil {
				_ = stream.SendMsg(s.hello().encode())
				for _, f := range frames {
					_ = stream.SendMsg(f)
				}
				for err == nil {
					var f frame
					err = stream.RecvMsg(&f)
				}
			}
			cancel()
			conn.Close()
		}
	}
}

func fails(agent, kind int, text string) []byte {
	return encode(header{kindFail, agent, kind}, []byte(text))
}

func full(v float64) []float64 { return slices.Repeat([]float64{v}, siegeLength) }

// An attack is a way in which a member or a stranger misbehaves, and what the run ends with; ""
// where it goes on as if nothing had been, with an honest agent 0.
type attack struct {
	name string
	do   func(*siege)
	ends string
}

var attacks = []attack{
	// Vectors that a member sends.
	{"NaN", sendVector(mixing, full(math.NaN())), atFault + "it sends numbers that are not finite"},
	{"infinite", sendVector(mixing, full(math.Inf(1))), atFault + "it sends numbers that are not finite"},
	{"short", sendVector(mixing, full(0)[:3]), atFault + "neighbours must send equally many numbers"},
	{"empty", sendVector(mixing, nil), atFault + "neighbours must send equally many numbers"},
	{"long", sendVector(mixing, make([]float64, 999)), atFault + "neighbours must send equally many numbers"},
	{"other work", sendVector(gathering(4), full(0)), atFault + "neighbours must do the same"},
	{"work of no kind", sendVector(3, full(0)), atFault + "neighbours must do the same"},
	{"other numbers again", sendFrames(encodeVector(0, mixing, full(0)), encodeVector(0, mixing, full(1))),
		atFault + "an exchange was repeated"},
	{"future", sendFrames(encodeVector(1, mixing, full(0))), ""},
	{"far future", sendFrames(encodeVector(maxNumber, mixing, full(0))), ""},
	{"huge", sendVector(mixing, make([]float64, 1100)), ""},
	{"good vectors, again and again", floods(encodeVector(0, mixing, full(0))), ""},

	// Other frames of a member.
	{"no kind", sendFrames(encode(header{kind: 77}, nil)), ""},
	{"no frame", sendFrames([]byte("GET / HTTP/1.1\r\n\r\n")), ""},
	{"two versions later", sendFrames(ofVersion(version+2, alive(0))), ""},
	{"a second hello", sendFrames(goodHello(0).encode()), ""},
	{"heartbeats of absurd numbers",
		sendFrames(reporting(saying(holdup.Exchanging, maxNumber, math.MaxUint32, holdup.ByWithholding)),
			alive(maxNumber), encode(header{kindAlive, 7, 7}, []byte{255, 255})), ""},
	{"a storm of heartbeats", floods(alive(0)), ""},
	{"a storm of resends", floods(encode(header{kindResend, 0, 0}, nil)), ""},
	{"a resend of what will be", sendFrames(encode(header{kindResend, maxNumber, maxNumber}, nil)), ""},
	{"a storm of keys", floods(keyFrame(keyConfig(2, nil))), "the key of agent 2, which came from agent 0, is refused"},
	{"a key of nobody", sendFrames(encode(header{kindKey, maxNumber, 0}, make([]byte, masks.KeyLength))),
		"which came from agent 0, is refused"},
	{"failure of another", sendFrames(fails(2, 0, "disk full")), "agent 0 says that agent 2 ended the run: disk full"},
	{"failure of this agent", sendFrames(fails(1, 0, "disk full")), ""},
	{"failure of nobody", sendFrames(fails(maxNumber, 0, "")), ""},
	{"failure by bad settings", sendFrames(fails(0, 4, "-K must be at least 1")), "agent 0 ended the run: -K"},
	{"failure of no kind", sendFrames(fails(0, maxNumber, "")), "agent 0 ended the run"},
	{"control characters", sendFrames(fails(0, 0, "\x1b[2J\u202e\nagent 2: ")),
		`agent 0 ended the run: \x1b[2J\u202e\nagent 2: `},

	// A member that is there, and sends nothing.
	{"nothing after the hello", sendFrames(), "silent"},
	{"hellos alone", connects(), "agent 0 holds up the run"},
	{"heartbeats alone", connects(alive(0)), "agent 0 holds up the run"},
	{"says that it waits for agent 2", connects(reporting(saying(holdup.Exchanging, 0, 2, holdup.BySilence))),
		"agent 0 holds up the run"},
	{"says that it waits for agent 1", connects(reporting(saying(holdup.Exchanging, 0, 1, holdup.BySilence))),
		"agent 0 holds up the run"},

	// Hellos, all of which TestVisitorsRefused has.
	{"another run", hellos(func(h *hello) { h.run = "walk" }), ""},
	{"texts of control characters", hellos(func(h *hello) { h.form = "\x1b[2J" }), ""},
	{"has sent and needs what is not", func(s *siege) {
		h := s.hello()
		h.sent, h.next = maxNumber, maxNumber
		s.as(h)
	}, "silent"},
}

// strangerAttacks are the attacks of strangers, and of members that do not come as far as a
// good hello.
var strangerAttacks = []attack{
	{"nothing after TCP", crowds(200, func(*siege, net.Conn) {}), ""},
	{"nothing after TLS", crowds(80, func(s *siege, c net.Conn) {
		_ = tls.Client(c, s.client()).Handshake() // those that had to make room fail
	}), ""},
	{"garbage after TCP", crowds(100, func(_ *siege, c net.Conn) {
		_, _ = c.Write([]byte(strings.Repeat("x", 1<<16)))
	}), ""},
	{"megabytes after TLS", crowds(3, func(s *siege, c net.Conn) {
		_ = c.SetDeadline(time.Now().Add(siegeTime))
		t := tls.Client(c, s.client())
		testkit.OK(t.Handshake())
		go func() { // one that reads learns that the other end is closed
			_, _ = io.Copy(io.Discard, t)
			c.Close()
		}()
		if n, err := io.Copy(t, io.LimitReader(endless{}, 64<<20)); err == nil {
			s.t.Errorf("agent %d took %d bytes before it knew whose they are", s.target, n)
		}
	}), ""},
	{"a storm of refusals", func(s *siege) {
		for range 70 {
			hellos(func(h *hello) { h.run = "walk" })(s)
		}
	}, ""},
	{"another authority", crowds(40, func(s *siege, c net.Conn) {
		_ = tls.Client(c, foreign(0, func(id *pki.Identity) *tls.Config { return id.Client(self) })).Handshake()
	}), ""},
}

// endless is zeros, as fast as a line brings them.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	time.Sleep(time.Millisecond)
	return len(b), nil
}

// TestAttacks: whatever one that plays agent 0 does, the others' run goes on with the right
// numbers, or ends with exit code 1 and an error that names agent 0; they write few lines and take
// little memory. TestMain sees that no goroutine stays.
func TestAttacks(t *testing.T) {
	for k, a := range slices.Concat(attacks, strangerAttacks) {
		if testing.Short() && k%8 != 0 {
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { a.run(t) })
		})
	}
}

// run has an attack happen and looks at what becomes of it.
func (a attack) run(t *testing.T) {
	s := newSiege(t, a.ends != "")
	before := allocated()
	ctx, cancel := context.WithTimeout(t.Context(), siegeTime)
	defer cancel()
	for _, m := range s.ms {
		go func() {
			err := s.mix(ctx, m)
			s.over.Store(true)
			s.errs <- err
		}()
	}
	a.do(s)
	if a.ends == "" {
		honest := testkit.Get(Open(s.configs[0]))
		t.Cleanup(func() { testkit.OK(honest.Close()) })
		if err := errors.Join(s.mix(ctx, honest), <-s.errs, <-s.errs); err != nil {
			t.Errorf("the run ended with %v; it must go on with an honest agent 0", err)
		}
	} else if err := errors.Join(<-s.errs, <-s.errs); !errors.Is(err, dsbo.ErrPeer) ||
		!strings.Contains(err.Error(), "agent 0") || !strings.Contains(err.Error(), a.ends) ||
		cli.Code(err) != cli.Failure {
		t.Errorf("the run ended with %v and exit code %d; it must be %d, with agent 0 and %q", err, cli.Code(err),
			cli.Failure, a.ends)
	}
	if n := s.lines.Load(); n > 60 {
		t.Errorf("%d lines in the logs of two agents; there must be 60 at most", n)
	}
	if m := allocated() - before; m > 64<<20 {
		t.Errorf("%d MiB of memory more than before; there must be 64 at most", m>>20)
	}
}

// allocated returns the memory in use, of all that the test has: attackers too.
func allocated() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse)
}
