package relay

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
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

// A testRelay is a relay of a test.
type testRelay struct {
	*pki.Authority
	address string
}

// hostCertificate returns a certificate of the authority for this machine.
func hostCertificate(t *testing.T, a *pki.Authority) *tls.Certificate {
	dir := t.TempDir()
	testkit.OK(a.SaveHost(dir, "relay", "127.0.0.1", time.Now().Add(-time.Hour), time.Now().Add(time.Hour)))
	return testkit.Get(pki.LoadHost(dir, "relay"))
}

// newTestRelay runs a relay until the test ends.
func newTestRelay(t *testing.T, connections int) testRelay {
	a := newAuthority()
	certificate := hostCertificate(t, a)
	return serve(t, a, Options{Connections: connections, Certificate: func() (*tls.Certificate, error) {
		return certificate, nil
	}})
}

// serve runs a relay with options until the test ends.
func serve(t *testing.T, a *pki.Authority, o Options) testRelay {
	l := testkit.Get(net.Listen("tcp", "127.0.0.1:0"))
	h := testRelay{a, l.Addr().String()}
	o.Trust = func() (*pki.Trust, error) { return h.Trust(), nil }
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() { testkit.OK(Serve(ctx, l, o)) })
	t.Cleanup(func() {
		cancel()
		work.Wait()
	})
	return h
}

func (h testRelay) identity(agent int) *pki.Identity {
	return testkit.Get(h.Issue(agent, time.Now().Add(-time.Hour), time.Now().Add(time.Hour)))
}

// client returns an agent of run "r".
func (h testRelay) client(agent int) Client {
	id := h.identity(agent)
	return Client{Address: h.address, Run: "r", Identity: func() *pki.Identity { return id }}
}

// listen has an agent wait, and returns what it gets.
func (h testRelay) listen(t *testing.T, c Client) chan net.Conn {
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

// TestJoined: bytes of one end arrive at the other, both ways, with the end of each, and pairs are
// separate.
func TestJoined(t *testing.T) {
	h := newTestRelay(t, 0)
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
		testkit.OK(caller.(*tls.Conn).CloseWrite())
		if got := testkit.Get(io.ReadAll(caller)); !bytes.Equal(got, long[:10]) {
			t.Errorf("%d bytes came back", len(got))
		}
		work.Wait()
	}
}

// TestAbsent: who does not wait is absent, also in another run, and when it has gone.
func TestAbsent(t *testing.T) {
	h := newTestRelay(t, 0)
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

	testkit.OK(waiting(t, h.client(7)).Close())
	// The relay may have learned of that end, or not yet: then one call gets the connection, and no
	// second one does.
	if conn, err := h.client(1).Dial(t.Context(), 7); err == nil {
		conn.Close()
	}
	absent(h.client(1), 7)
}

// waiting returns a connection that waits.
func waiting(t *testing.T, c Client) net.Conn {
	return testkit.Get(c.request(t.Context(), "wait"))
}

// TestRefused: who is not an agent of the authority, or another one than the request names, cannot
// use the relay, nor who shows what an agent has signed for another request.
func TestRefused(t *testing.T) {
	h := newTestRelay(t, 0)
	stranger := testRelay{newAuthority(), h.address}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: h.identity(1).ToHost("127.0.0.1")}}
	defer client.CloseIdleConnections()
	request := func(path string) *http.Request {
		r := testkit.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+h.address+path, nil))
		r.Header.Set("Upgrade", protocol)
		return r
	}
	get := func(r *http.Request) (status int, text string) {
		answer := testkit.Get(client.Do(r))
		defer answer.Body.Close()
		return answer.StatusCode, string(testkit.Get(io.ReadAll(answer.Body)))
	}
	signed := func(id *pki.Identity, after time.Duration, change func(*http.Request)) func() *http.Request {
		return func() *http.Request {
			r := request("/runs/r/agents/5")
			testkit.OK(sign(r, id, time.Now().Add(after)))
			change(r)
			return r
		}
	}
	header := func(text string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Set("Authorization", protocol+" "+base64.StdEncoding.EncodeToString([]byte(text)))
		}
	}
	path := func(to string) func(*http.Request) { return func(r *http.Request) { r.URL.Path = to } }
	same := func(*http.Request) {}
	again := signed(h.identity(1), 0, same)()
	const near, far = validTime - time.Minute, validTime + time.Minute
	for _, c := range []struct {
		name   string
		make   func() *http.Request
		status int
		want   string
	}{
		{"a page", func() *http.Request { return request("/") }, 200, "relay of dsbo"},
		{"health", func() *http.Request { return request("/healthz") }, 200, "ok"},
		{"no page", func() *http.Request { return request("/runs") }, 404, ""},
		{"good", func() *http.Request { return again }, 503, "agent 5 is not at the relay"},
		{"used before", func() *http.Request { return again }, 403, "agent 1 has used this signature before"},
		{"a clock that is behind", signed(h.identity(1), -near, same), 503, "agent 5 is not at the relay"},
		{"a clock far behind", signed(h.identity(1), -far, same), 403, "the clock of agent 1 must be within 5m0s"},
		{"a clock far ahead", signed(h.identity(1), far, same), 403, "it is -6m0s behind"},
		{"another authority", signed(stranger.identity(1), 0, same), 403, "unknown authority"},
		{"another run", signed(h.identity(1), 0, path("/runs/s/agents/5")), 403, "verification failure"},
		{"another agent", signed(h.identity(1), 0, path("/runs/r/agents/6")), 403, "verification failure"},
		{"another wish", signed(h.identity(1), 0, path("/runs/r/wait")), 403, "verification failure"},
		{"another relay", signed(h.identity(1), 0, func(r *http.Request) { r.Host = "relay.example" }), 403,
			"verification failure"},
		{"no number", signed(h.identity(1), 0, path("/runs/r/agents/x")), 403, "verification failure"},
		{"no upgrade", signed(h.identity(1), 0, func(r *http.Request) { r.Header.Del("Upgrade") }), 403,
			"Upgrade: dsbo"},
		{"no ticket", func() *http.Request { return request("/runs/r/wait") }, 403, "this is for agents of dsbo"},
		{"no base64", signed(h.identity(1), 0, func(r *http.Request) { r.Header.Set("Authorization", "dsbo !") }), 403,
			"must be in base64"},
		{"no JSON", signed(h.identity(1), 0, header("xx")), 403, "must have a JSON object"},
		{"more", signed(h.identity(1), 0, header(`{"agent": 1, "x": 1}`)), 403, "must have a JSON object"},
	} {
		if status, text := get(c.make()); status != c.status || !strings.Contains(text, c.want) {
			t.Errorf("%s: %d %q, want %d %q", c.name, status, text, c.status, c.want)
		}
	}
	two := h.identity(2)
	two.Agent = 1 // which claims to be another one
	if status, text := get(signed(two, 0, same)()); status != 403 ||
		!strings.Contains(text, "it must be the certificate of agent 1; it is that of agent 2") {
		t.Errorf("another agent: %d %q", status, text)
	}
	_, err := stranger.client(1).Dial(t.Context(), 5)
	testkit.WantError(t, "a relay of another authority", err, nil, "unknown authority")
}

// TestWithoutTLS: behind a server that ends TLS, agents use the relay as they do otherwise.
func TestWithoutTLS(t *testing.T) {
	behind := serve(t, newAuthority(), Options{})
	certificate := hostCertificate(t, behind.Authority)
	l := testkit.Get(tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{*certificate}}))
	h := testRelay{behind.Authority, l.Addr().String()}
	var work sync.WaitGroup
	work.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			work.Go(func() { join(conn, testkit.Get(net.Dial("tcp", behind.address))) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		work.Wait()
	})
	came := h.listen(t, h.client(5))
	caller := dial(t, h.client(1), 5)
	called := <-came
	testkit.Get(io.WriteString(caller, "word"))
	testkit.OK(caller.Close())
	if got := testkit.Get(io.ReadAll(called)); string(got) != "word" {
		t.Errorf("%q was heard", got)
	}
	testkit.OK(called.Close())
}

// TestBounds: strangers that send nothing make room, agents are served up to a number of
// connections, and signatures are remembered for as long as they are valid.
func TestBounds(t *testing.T) {
	h := newTestRelay(t, 2)
	for range 9 {
		silent := testkit.Get(net.Dial("tcp", h.address))
		defer silent.Close()
	}
	if _, err := h.client(1).Dial(t.Context(), 5); !errors.Is(err, ErrAbsent) {
		t.Errorf("error %v beside strangers that send nothing; the agent must be served", err)
	}
	p := &places{most: 2, admitted: 2}
	testkit.WantError(t, "one too many", p.admit(3), nil, "there are 2 connections, and may be no more")
	p = &places{most: 200, agents: map[int]int{3: agentConnections - 1}}
	testkit.OK(p.admit(3))
	testkit.WantError(t, "an agent with too many", p.admit(3), nil, "agent 3 has 128 connections")
	p.unregister(3)
	testkit.OK(p.admit(3))

	var used usedTickets
	now := time.Now()
	numbered := func(k int) *ticket {
		return &ticket{Time: now, Random: [16]byte{byte(k), byte(k >> 8), byte(k >> 16)}}
	}
	ahead := numbered(0)
	ahead.Time = now.Add(validTime)
	testkit.OK(used.add(ahead, now))
	for k := 1; k < maxUsed; k++ {
		testkit.OK(used.add(numbered(k), now))
	}
	testkit.WantError(t, "one more", used.add(numbered(maxUsed), now.Add(validTime)), nil, "too many requests")
	testkit.OK(used.add(numbered(maxUsed), now.Add(validTime+1)))
	err := used.add(ahead, now.Add(validTime+1))
	testkit.WantError(t, "one of a clock ahead", err, nil, "used this signature before")
}

// TestCancelled: a call ends with its context.
func TestCancelled(t *testing.T) {
	silent := testkit.Get(net.Listen("tcp", "127.0.0.1:0"))
	defer silent.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		conn := testkit.Get(silent.Accept())
		cancel() // which sends nothing
		_, _ = io.Copy(io.Discard, conn)
		conn.Close()
	}()
	id := testRelay{newAuthority(), ""}.identity(1)
	_, err := Client{Address: silent.Addr().String(), Run: "r", Identity: func() *pki.Identity { return id }}.Dial(ctx,
		2)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}

// FuzzReadTicket: what is read is nobody's.
func FuzzReadTicket(f *testing.F) {
	a := newAuthority()
	r := testkit.Get(http.NewRequest(http.MethodGet, "https://relay.example/runs/r/wait", nil))
	id := testkit.Get(a.Issue(3, time.Now().Add(-time.Hour), time.Now().Add(time.Hour)))
	testkit.OK(sign(r, id, time.Now()))
	f.Add(r.Header.Get("Authorization"))
	f.Add("dsbo e30=")
	other := newAuthority().Trust()
	f.Fuzz(func(t *testing.T, header string) {
		r.Header.Set("Authorization", header)
		ticket, err := readTicket(r)
		if err == nil && ticket.check(r, other, ticket.Time) == nil {
			t.Errorf("%q is taken for an agent's", header)
		}
	})
}

// TestNewestFour: of connections that wait under one name the oldest ends, four stay, and the
// newest is taken.
func TestNewestFour(t *testing.T) {
	var p places
	var all []*waiter
	at := place{"r", 5}
	for range 5 {
		conn, _ := net.Pipe()
		defer conn.Close()
		all = append(all, &waiter{conn: conn})
		p.add(at, all[len(all)-1])
	}
	if !slices.Equal(p.waiting[at], all[1:]) || p.takeNewest(at) != all[4] {
		t.Errorf("%d of 5 wait; 4 must, of which the last is taken", len(p.waiting[at]))
	}
	if _, err := all[0].conn.Write(nil); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("%v; the oldest must be closed", err)
	}
}

// A half is a connection of which one direction can end.
type half struct{ net.Conn }

func (half) CloseWrite() error { return nil }

// TestHalfOpen: when one direction of a pair has ended, the other one continues for a minute.
func TestHalfOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, ended := net.Pipe()
		b, silent := net.Pipe()
		defer silent.Close()
		testkit.OK(ended.Close())
		began := time.Now()
		join(half{a}, half{b})
		if d := time.Since(began); d != time.Minute {
			t.Errorf("it went on for %v", d)
		}
	})
}
