package relay

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"dsbo/internal/testkit"
	"dsbo/network/pki"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newAuthority() *pki.Authority {
	now := time.Now()
	return testkit.Get(pki.NewAuthority("test", now.Add(-time.Hour), now.Add(time.Hour)))
}

// A hall is a relay of a test.
type hall struct {
	*pki.Authority
	address string
}

// newHall runs a relay until the test ends.
func newHall(t *testing.T, connections int) hall {
	l := testkit.Get(net.Listen("tcp", "127.0.0.1:0"))
	h := hall{newAuthority(), l.Addr().String()}
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() {
		testkit.OK(Serve(ctx, l,
			Options{Trust: func() (*pki.Trust, error) { return h.Trust(), nil }, Connections: connections}))
	})
	t.Cleanup(func() {
		cancel()
		work.Wait()
	})
	return h
}

func (h hall) identity(agent int) *pki.Identity {
	return testkit.Get(h.Issue(agent, time.Now().Add(-time.Hour), time.Now().Add(time.Hour)))
}

// client returns an agent of run "r".
func (h hall) client(agent int) Client {
	id := h.identity(agent)
	return Client{Address: h.address, Run: "r", Identity: func() *pki.Identity { return id }}
}

// listen has an agent wait, and returns what it gets.
func (h hall) listen(t *testing.T, c Client) chan net.Conn {
	l := c.Listen(slog.New(slog.DiscardHandler))
	came := make(chan net.Conn)
	var work sync.WaitGroup
	work.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			came <- conn
		}
	})
	t.Cleanup(func() {
		testkit.OK(l.Close())
		work.Wait()
	})
	return came
}

// dial calls an agent until it is there.
func dial(t *testing.T, c Client, to int) net.Conn {
	t.Helper()
	for {
		conn, err := c.Dial(t.Context(), to)
		if err == nil {
			t.Cleanup(func() { conn.Close() })
			return conn
		}
		if !errors.Is(err, ErrAbsent) {
			t.Fatal(err)
		}
	}
}

// TestJoined: what one end says the other one hears, both ways, with the end of each, and one pair
// does not hear another.
func TestJoined(t *testing.T) {
	h := newHall(t, 0)
	came := h.listen(t, h.client(5))
	for i := range 3 {
		caller := dial(t, h.client(i), 5)
		called := <-came
		long := bytes.Repeat([]byte{byte(i)}, 1<<20)
		var work sync.WaitGroup
		work.Go(func() {
			testkit.Get(called.Write(long[:10]))
			if got := testkit.Get(io.ReadAll(called)); !bytes.Equal(got, long) {
				t.Errorf("%d bytes were heard", len(got))
			}
			testkit.OK(called.Close())
		})
		testkit.Get(caller.Write(long))
		testkit.OK(caller.(*net.TCPConn).CloseWrite())
		if got := testkit.Get(io.ReadAll(caller)); !bytes.Equal(got, long[:10]) {
			t.Errorf("%d bytes came back", len(got))
		}
		work.Wait()
	}
}

// TestAbsent: who does not wait is absent, also in another run, and when it has gone.
func TestAbsent(t *testing.T) {
	h := newHall(t, 0)
	absent := func(c Client, to int) {
		t.Helper()
		if conn, err := c.Dial(t.Context(), to); !errors.Is(err, ErrAbsent) {
			t.Errorf("%v, %v, want that agent %d is absent", conn, err, to)
		}
	}
	absent(h.client(1), 5)
	came := h.listen(t, h.client(5))
	caller := dial(t, h.client(1), 5)
	testkit.OK((<-came).Close())
	if _, err := caller.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("%v after the other end has closed", err)
	}
	other := h.client(1)
	other.Run = "another"
	absent(other, 5)

	lost := h.client(7)
	conn := testkit.Get(lost.connect(t.Context(), nil))
	testkit.OK(conn.Close())
	absent(h.client(1), 7)
}

// TestOldestMakesRoom: of connections that wait under one name, the newest stay.
func TestOldestMakesRoom(t *testing.T) {
	h := newHall(t, 0)
	c := h.client(5)
	var all []net.Conn
	for range maxWaiting + 1 {
		conn := testkit.Get(c.connect(t.Context(), nil))
		defer conn.Close()
		all = append(all, conn)
	}
	ended := make(chan error, len(all))
	for _, conn := range all {
		go func() {
			_, err := conn.Read(make([]byte, 1))
			ended <- err
		}()
	}
	if err := <-ended; errors.Is(err, net.ErrClosed) {
		t.Errorf("%v; the relay must have closed it", err)
	}
	for _, conn := range all {
		conn.Close()
	}
	for range maxWaiting {
		if err := <-ended; !errors.Is(err, net.ErrClosed) {
			t.Errorf("%v; the relay must have closed one alone", err)
		}
	}
}

// answerTo says something to a relay after its greeting, and returns its answer.
func answerTo(t *testing.T, address string, say func(nonce []byte) []byte) string {
	t.Helper()
	conn := testkit.Get(net.Dial("tcp", address))
	defer conn.Close()
	nonce := testkit.Get(readNonce(conn))
	testkit.Get(conn.Write(say(nonce)))
	line, err := readLine(conn)
	if err != nil {
		return err.Error()
	}
	return line
}

// TestRefused: who is not an agent of the authority, or another one than it says, cannot use
// the relay.
func TestRefused(t *testing.T) {
	h := newHall(t, 0)
	stranger := hall{newAuthority(), h.address}
	signed := func(id *pki.Identity, change func(*request)) func([]byte) []byte {
		return func(nonce []byte) []byte {
			to := 5
			r := request{Run: "r", Agent: 1, To: &to}
			testkit.OK(r.sign(id, nonce))
			change(&r)
			var b bytes.Buffer
			testkit.OK(r.write(&b))
			return b.Bytes()
		}
	}
	sized := func(size uint32, text string) func([]byte) []byte {
		return func([]byte) []byte { return append(binary.BigEndian.AppendUint32(nil, size), text...) }
	}
	var before []byte // what agent 1 has said on another connection
	answerTo(t, h.address, func(nonce []byte) []byte {
		before = signed(h.identity(1), func(*request) {})(nonce)
		return before
	})
	for _, c := range []struct {
		name string
		say  func(nonce []byte) []byte
		want string
	}{
		{"good", signed(h.identity(1), func(*request) {}), "agent 5 is not at the relay"},
		{"another authority", signed(stranger.identity(1), func(*request) {}), "unknown authority"},
		{"another agent", signed(h.identity(2), func(*request) {}),
			"it must be the certificate of agent 1; it is that of agent 2"},
		{"another run", signed(h.identity(1), func(r *request) { r.Run = "s" }), "verification failure"},
		{"another wish", signed(h.identity(1), func(r *request) { r.To = nil }), "verification failure"},
		{"said before", func([]byte) []byte { return before }, "verification failure"},
		{"no run", signed(h.identity(1), func(r *request) { r.Run = "" }), "a request must name a run"},
		{"too long", sized(1<<20, ""), "a request must have at most 16384 bytes; it has 1048576"},
		{"no JSON", sized(2, "xx"), "a request must be a JSON object"},
		{"more", sized(15, `{"run":"r","x":1}`[:15]), "a request must be a JSON object"},
	} {
		if got := answerTo(t, h.address, c.say); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	_, err := stranger.client(1).Dial(t.Context(), 5)
	testkit.WantError(t, "the relay's reason", err, nil, "unknown authority")
}

// TestBounds: strangers that say nothing make room, and agents are served up to a number
// of connections.
func TestBounds(t *testing.T) {
	h := newHall(t, 2)
	for range 9 {
		silent := testkit.Get(net.Dial("tcp", h.address))
		defer silent.Close()
		testkit.Get(readNonce(silent))
	}
	if _, err := h.client(1).Dial(t.Context(), 5); !errors.Is(err, ErrAbsent) {
		t.Errorf("error %v beside strangers that say nothing; the agent must be served", err)
	}
	r := &relay{Options: Options{Connections: 2}, admitted: 2}
	testkit.WantError(t, "one too many", r.admit(3), nil, "there are 2 connections, and may be no more")
	r = &relay{Options: Options{Connections: 200}, agents: map[int]int{3: agentConnections - 1}}
	testkit.OK(r.admit(3))
	testkit.WantError(t, "an agent with too many", r.admit(3), nil, "agent 3 has 128 connections")
}

// TestCancelled: a call ends with its context.
func TestCancelled(t *testing.T) {
	silent := testkit.Get(net.Listen("tcp", "127.0.0.1:0"))
	defer silent.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		conn := testkit.Get(silent.Accept())
		cancel() // which says nothing
		_, _ = io.Copy(io.Discard, conn)
		conn.Close()
	}()
	id := hall{newAuthority(), ""}.identity(1)
	_, err := Client{Address: silent.Addr().String(), Run: "r", Identity: func() *pki.Identity { return id }}.Dial(ctx,
		2)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}

// FuzzReadRequest: what is read is in bounds, and nobody's.
func FuzzReadRequest(f *testing.F) {
	var b bytes.Buffer
	to := 5
	testkit.OK((&request{Run: "r", Agent: 3, To: &to, Certificate: []byte{1}, Signature: []byte{2}}).write(&b))
	f.Add(b.Bytes())
	f.Add([]byte{0, 0, 0, 2, '{', '}'})
	trust := newAuthority().Trust()
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := readRequest(bytes.NewReader(b))
		if err == nil && r.check(trust, []byte("nonce"), time.Now()) == nil {
			t.Errorf("%q is taken for an agent's", b)
		}
	})
}
