package session

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dsbo/internal/testkit"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// A fakeHost is an agent that has links alone. It keeps what they tell it as lines.
type fakeHost struct {
	config *Config
	links  *links

	mu       sync.Mutex
	conns    map[int]*conn
	latest   map[int]uint64 // instances
	greeted  hello          // what its hellos have of the session
	bad      string         // payload of a frame that must not be sent
	events   chan string
	seen     []string    // events that nobody has waited for
	payloads chan []byte // of vectors
}

func (a *fakeHost) note(format string, args ...any) {
	select {
	case a.events <- fmt.Sprintf(format, args...):
	default: // nobody waits
	}
}

func (a *fakeHost) greeting(int) (session uint64, due int, removal string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.greeted.Session, a.greeted.Due, a.greeted.Removal
}

func (a *fakeHost) admit(h hello) error {
	if !slices.Contains(a.config.neighbours(), h.From) {
		return fmt.Errorf("agent %d is not a neighbour of agent %d", h.From, a.config.Agent)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.conns[h.From] != nil && h.Instance < a.latest[h.From] {
		return errFenced
	}
	return nil
}

func (a *fakeHost) attach(c *conn, h hello) error {
	if err := a.admit(h); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if before := a.conns[c.to]; before != nil {
		why := errReplaced
		if h.Instance != a.latest[c.to] {
			why = errFenced
		}
		before.drop(why)
	}
	a.conns[c.to], a.latest[c.to] = c, h.Instance
	a.note("attach %d: session %d due %d", c.to, h.Session, h.Due)
	return nil
}

func (a *fakeHost) handle(c *conn, f frame) error {
	if a.bad != "" && string(f.payload) == a.bad {
		return badFramef("%s must not be sent", a.bad)
	}
	if f.kind == kindVector {
		a.payloads <- f.payload
	}
	a.note("frame of %d: kind %d exchange %d session %d purpose %d: %d bytes", c.to, f.kind, f.exchange, f.session,
		f.purpose, len(f.payload))
	return nil
}

func (a *fakeHost) detach(c *conn, why error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.conns[c.to] == c {
		delete(a.conns, c.to)
	}
	a.note("detach %d: %T: %v", c.to, why, why)
}

func (a *fakeHost) refused(agent int, why error) {
	_, settings := errors.AsType[*settingsError](why)
	a.note("refused %d: settings %t: %v", agent, settings, why)
}

// conn waits until a neighbour is attached, and returns the connection.
func (a *fakeHost) conn(t *testing.T, to int) *conn {
	t.Helper()
	a.await(t, fmt.Sprintf("attach %d", to))
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.conns[to]
}

// await waits for an event with all the words, takes it out, and returns it.
func (a *fakeHost) await(t *testing.T, words ...string) string {
	t.Helper()
	return takeLine(t, a.events, &a.seen, words)
}

// takeLine waits for a line with all the words and returns it; lines before it are kept in seen.
func takeLine(t *testing.T, from chan string, seen *[]string, words []string) string {
	t.Helper()
	end := time.After(patience)
	for k := 0; ; k++ {
		if k == len(*seen) {
			select {
			case line := <-from:
				*seen = append(*seen, line)
			case <-end:
				t.Fatalf("no line with %q; there were\n%s", words, strings.Join(*seen, "\n"))
			}
		}
		line := (*seen)[k]
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, w) }) {
			*seen = slices.Delete(*seen, k, k+1)
			return line
		}
	}
}

// patience is how long a test waits for what takes milliseconds.
const patience = 20 * time.Second

// openHost starts the links of a host until the test ends.
func openHost(t *testing.T, c Config) *fakeHost {
	t.Helper()
	if c.Log == nil {
		c.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
	}
	c = c.withDefaults()
	a := &fakeHost{config: &c, conns: map[int]*conn{}, latest: map[int]uint64{}, events: make(chan string, 10000),
		payloads: make(chan []byte, 10000), greeted: hello{Session: uint64(c.Agent) + 1, Due: 10 * (c.Agent + 1)}}
	if c.Identity != nil {
		c.Identity = testkit.Get(c.Identity.InRun(c.Run, c.Keys))
	}
	a.links = newLinks(&c, a)
	a.links.start()
	t.Cleanup(a.links.close)
	return a
}

// openHosts starts the links of several.
func openHosts(t *testing.T, cs []Config) (hosts []*fakeHost) {
	t.Helper()
	for _, c := range cs {
		hosts = append(hosts, openHost(t, c))
	}
	return hosts
}

// numbered returns a vector of length numbers that begins with k.
func numbered(exchange, length int) []byte {
	v := make([]float64, length)
	v[0] = float64(exchange)
	return encodeVector(frame{exchange: exchange, session: 7, purpose: 3}, v)
}

// TestFramesInOrder: with and without certificates, what is queued comes whole, once and in order,
// each vector with memory of its own.
func TestFramesInOrder(t *testing.T) {
	const frames, length = 200, 1000
	w := newGraph("ring", 3)
	for _, cs := range [][]Config{configs(w, nil), configs(w, identities(3))} {
		hosts := openHosts(t, cs)
		var from *conn
		for i, a := range hosts {
			for _, j := range w.Neighbours(i) {
				c := a.conn(t, j)
				if i == 0 && j == 1 {
					from = c
				}
			}
		}
		for k := range frames {
			from.send(numbered(k, length))
		}
		for k := range frames {
			if got, want := hosts[1].await(t, "frame of 0"), fmt.Sprintf(
				"frame of 0: kind 4 exchange %d session 7 purpose 3: %d bytes", k, 8*length); got != want {
				t.Fatalf("%s; it must be %s", got, want)
			}
		}
		for k := range frames { // all at the end, when each has its memory
			if v := vectorOf(<-hosts[1].payloads); len(v) != length || v[0] != float64(k) {
				t.Errorf("vector %d has %d numbers and begins with %v", k, len(v), v[0])
			}
		}
	}
}

// TestLastWords: what is queued when links are closed still comes, and then the end in good order.
func TestLastWords(t *testing.T) {
	for closes := range 2 { // who dials, who listens
		cs := configs(newGraph("path", 2), identities(2))
		cs[closes].Heartbeat = patience / 2 // how long a busy machine may take for them
		hosts := openHosts(t, cs)
		other := 1 - closes
		hosts[other].conn(t, closes)
		c := hosts[closes].conn(t, other)
		for k := range maxQueued / 2 {
			c.send(numbered(k, 2000))
		}
		hosts[closes].links.close()
		hosts[closes].await(t, "detach", "<nil>")
		hosts[other].await(t, fmt.Sprintf("exchange %d ", maxQueued/2-1))
		hosts[other].await(t, "detach", io.EOF.Error())
	}
}

// TestReconnect: a connection that was dropped at either end is made again, with hellos of then.
func TestReconnect(t *testing.T) {
	hosts := openHosts(t, configs(newGraph("path", 2), identities(2)))
	conns := [2]*conn{hosts[0].conn(t, 1), hosts[1].conn(t, 0)}
	for k := range 4 {
		by, other := hosts[k%2], hosts[1-k%2]
		by.mu.Lock()
		by.greeted.Due = 100 + k
		by.mu.Unlock()
		conns[k%2].drop(errors.New("a test"))
		by.await(t, "detach", "a test")
		other.await(t, "detach")
		conns[k%2] = by.conn(t, 1-k%2)
		other.await(t, "attach", fmt.Sprintf("due %d", 100+k))
		other.mu.Lock()
		conns[1-k%2] = other.conns[k%2]
		other.mu.Unlock()
		conns[k%2].send(numbered(k, 1))
		other.await(t, "frame", fmt.Sprintf("exchange %d ", k))
	}
}

// TestStrangers: whoever does not show who it is costs an agent a bounded number of connections for
// ten seconds, and keeps no neighbour away.
func TestStrangers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cs, wires := virtual(newGraph("path", 2))
		openHost(t, cs[1])
		stranger := wires.Host("stranger")
		call := func() net.Conn { return testkit.Get(stranger.Dial(t.Context(), cs[0].Addresses[1])) }
		began := time.Now()
		garbage := call()
		testkit.Get(garbage.Write(make([]byte, 100<<10)))
		testkit.Get(io.ReadAll(garbage))
		if took := time.Since(began); took > time.Second {
			t.Errorf("garbage is refused after %v", took)
		}
		silent := []net.Conn{call(), tls.Client(call(), certificate(0).Client(1))}
		testkit.OK(silent[1].(*tls.Conn).Handshake()) // a member that has no hello
		began = time.Now()
		for _, c := range silent {
			_, _ = io.Copy(io.Discard, c)
		}
		if took := time.Since(began); took > handshakeTimeout+time.Second || took < handshakeTimeout-time.Second {
			t.Errorf("those who are silent are cut off after %v; it must be %v", took, handshakeTimeout)
		}
		for range 2 * strangerLimits.Strangers {
			defer call().Close()
		}
		began = time.Now()
		openHost(t, cs[0]).conn(t, 1)
		if took := time.Since(began); took > time.Second {
			t.Errorf("a neighbour is connected after %v in spite of a crowd", took)
		}
	})
}

// TestBadFrames: a neighbour that sends what it must not send loses its connection, both sides
// learn why, and it may come back.
func TestBadFrames(t *testing.T) {
	a, _ := openSelf(t, "127.0.0.1:1")
	a.bad = "bad"
	for _, c := range []struct {
		name  string
		frame []byte
		want  string
	}{
		{"a second hello", goodHello(0).encode(), "a second hello on one stream"},
		{"an unknown kind", framed(kindEnd, nil), "frames that begin with 05000000 are not known"},
		{"a long heartbeat", framed(kindAlive, []byte{0}), "at most 24 bytes; it has 25"},
		{"a long vector", framed(kindVector, make([]byte, 8*leastWords+1)), "at most 65560 bytes; it has 65561"},
		{"a long flood", framed(kindFlood, make([]byte, maxFlood+1)), "larger than max"},
		{"what the host refuses", framed(kindFlood, []byte("bad")), "bad must not be sent"},
	} {
		s, err := visit(t, a.config.Listener.Addr().String(), client(0), goodHello(0).encode())
		testkit.OK(err)
		a.conn(t, 0)
		_ = s.SendMsg(c.frame)
		a.await(t, "detach 0: *session.badFrame: ", c.want)
		var f received
		err = s.RecvMsg(&f)
		if len(c.frame) > maxFlood && status.Code(err) == codes.Unavailable {
			continue // the rest of so long a frame may reset the connection before the answer is read
		}
		testkit.WantError(t, c.name, err, nil, c.want)
	}
}

// TestNobodyReads: frames for a neighbour that reads nothing wait up to a number, and keep nobody
// from ending the connection.
func TestNobodyReads(t *testing.T) {
	a, _ := openSelf(t, "127.0.0.1:1")
	testkit.Get(visit(t, a.config.Listener.Addr().String(), client(0), goodHello(0).encode()))
	c, frame := a.conn(t, 0), framed(kindFlood, make([]byte, maxFlood))
	taken := 0
	for c.dropped.Err() == nil {
		c.send(frame)
		taken++
	}
	if taken <= maxQueued || taken > maxQueued+10 {
		t.Errorf("%d frames are taken; %d may wait", taken, maxQueued)
	}
	a.await(t, "detach 0", "does not read")
	a.links.close()
}
