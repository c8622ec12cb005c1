package pki

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/internal/wording"
)

// A pipeListener is a listener of connections in memory.
type pipeListener struct{ c chan net.Conn }

func (h pipeListener) Accept() (net.Conn, error) {
	c, ok := <-h.c
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (h pipeListener) Close() error   { close(h.c); return nil }
func (h pipeListener) Addr() net.Addr { return memoryAddr("here:0") }

type memoryAddr string

func (memoryAddr) Network() string  { return "memory" }
func (a memoryAddr) String() string { return string(a) }

type from struct {
	net.Conn
	memoryAddr
}

func (f from) RemoteAddr() net.Addr { return f.memoryAddr }

// visit connects from an address, and returns both ends.
func visit(h pipeListener, l net.Listener, address string) (there net.Conn, here *Conn) {
	there, other := net.Pipe()
	go func() { h.c <- from{other, memoryAddr(address)} }()
	return there, testkit.Get(l.Accept()).(*Conn)
}

// open reports whether the other end of a connection is open.
func open(c net.Conn) bool {
	if c.SetReadDeadline(time.Now().Add(time.Second)) != nil {
		return false
	}
	_, err := c.Read(make([]byte, 1))
	return !errors.Is(err, io.EOF)
}

// TestCrowd: where there are too many strangers, the host that has the most loses its oldest, and
// one that comes alone gets in.
func TestCrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := pipeListener{make(chan net.Conn)}
		l := LimitStrangers(h, Limits{Strangers: 3})
		known, k := visit(h, l, "a:1")
		k.Admit()
		var crowd []net.Conn
		var ends []*Conn
		for _, address := range []string{"a:2", "b:1", "a:3", "a:4", "c:1", "d:1"} {
			there, here := visit(h, l, address)
			crowd, ends = append(crowd, there), append(ends, here)
		}
		for i, want := range []bool{false, false, false, true, true, true} { // b:1 is the oldest when no host has two
			if got := open(crowd[i]); got != want {
				t.Errorf("stranger %d is there: %v, want %v", i, got, want)
			}
		}
		if !open(known) {
			t.Error("one that was admitted had to make room")
		}
		for _, c := range append(ends, k) {
			c.Close()
		}
		testkit.OK(h.Close())
	})
}

// TestStranger has a number of bytes and a time; one that was admitted has all.
func TestStranger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := pipeListener{make(chan net.Conn)}
		l := LimitStrangers(h, Limits{Strangers: 9, Bytes: 10, Time: time.Minute})
		read := func(c *Conn) (n int, err error) {
			for b := make([]byte, 7); err == nil && n < 21; {
				var more int
				more, err = c.Read(b)
				n += more
			}
			return n, err
		}
		for _, admitted := range []bool{false, true} {
			there, here := visit(h, l, "a:1")
			if ConnOf(here.RemoteAddr()) != here {
				t.Error("a connection is not found by its address")
			}
			if admitted {
				here.Admit()
			}
			go func() { _, _ = there.Write(make([]byte, 21)) }()
			n, err := read(here)
			if admitted && (n != 21 || err != nil) || !admitted && (n != 10 || !errors.Is(err, errStranger)) {
				t.Errorf("admitted %v: %d bytes were read, error %v", admitted, n, err)
			}
			here.Close()
		}
		_, slow := visit(h, l, "a:1")
		stays, known := visit(h, l, "a:1")
		known.Admit()
		time.Sleep(time.Minute)
		synctest.Wait()
		if _, err := slow.Read(make([]byte, 1)); err == nil || !open(stays) {
			t.Errorf("after its time a stranger gets %v, and one that was admitted is there: %v", err, open(stays))
		}
		known.Dismiss()
		time.Sleep(time.Minute)
		synctest.Wait()
		if _, err := known.Read(make([]byte, 1)); err == nil {
			t.Error("one that was dismissed is there after its time")
		}
		testkit.OK(h.Close())
	})
}

// FuzzFiles: the content of certificate and key files is read, or refused with an error; what is
// read as a certificate is one.
func FuzzFiles(f *testing.F) {
	a := testkit.Get(NewAuthority("run", time.Unix(0, 0), time.Unix(1, 0)))
	f.Add(append([]byte("text before it\n"), certificatesPEM(a.all...)...))
	f.Add(
		[]byte(
			"-----BEGIN EC PARAMETERS-----\nBgA=\n-----END EC PARAMETERS-----\n-----BEGIN PRIVATE " +
				"KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if key, err := parseKey(text); err == nil && key.Public() == nil {
			t.Error("a key without a public one")
		}
		all, err := parseCertificates(text)
		if err != nil {
			return
		}
		if again := testkit.Get(parseCertificates(certificatesPEM(all...))); len(again) != len(all) ||
			!bytes.Equal(again[0].Raw, all[0].Raw) {
			t.Errorf("%d certificates were written as %d", len(all), len(again))
		}
	})
}

// TestHosts: agents connect to a server whose certificate their authority has signed for its host,
// by name or address, and to no other one; agents' certificates are none of hosts.
func TestHosts(t *testing.T) {
	from, until := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	ours, others := testkit.Get(NewAuthority("ours", from, until)), testkit.Get(NewAuthority("others", from, until))
	id := testkit.Get(ours.Issue(1, from, until))
	host := func(a *Authority, name string) tls.Certificate {
		dir := t.TempDir()
		testkit.OK(a.SaveHost(dir, "relay", name, from, until))
		if err := a.SaveHost(dir, "relay", name, from, until); !errors.Is(err, dsbo.ErrConfig) {
			t.Errorf("error %v for files that are there", err)
		}
		return *testkit.Get(LoadHost(dir, "relay"))
	}
	for _, c := range []struct {
		name        string
		certificate tls.Certificate
		to          string
		want        string
	}{
		{"a name", host(ours, "relay.example"), "relay.example", ""},
		{"an address", host(ours, "127.0.0.1"), "127.0.0.1", ""},
		{"another name", host(ours, "relay.example"), "other.example", "valid for relay.example, not other.example"},
		{"another authority", host(others, "relay.example"), "relay.example", "unknown authority"},
		{"an agent's", id.certificate, "relay.example", "valid for agent-1, not relay.example"},
	} {
		l := testkit.Get(tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{c.certificate}}))
		go func() {
			conn := testkit.Get(l.Accept())
			_ = conn.(*tls.Conn).Handshake()
			conn.Close()
		}()
		near := testkit.Get(net.Dial("tcp", l.Addr().String()))
		err := tls.Client(near, id.ToHost(c.to)).Handshake()
		near.Close()
		l.Close()
		if c.want != "" {
			testkit.WantError(t, c.name, err, nil, c.want)
		} else if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := LoadHost(t.TempDir(), "relay"); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("error %v without files", err)
	}
}

// TestOthersTextInLogs: what others have sent moves no terminal, in none of the forms of a log.
func TestOthersTextInLogs(t *testing.T) {
	for name, handler := range map[string]func(io.Writer) slog.Handler{
		"text": func(w io.Writer) slog.Handler { return slog.NewTextHandler(w, nil) },
		"json": func(w io.Writer) slog.Handler { return slog.NewJSONHandler(w, nil) },
	} {
		var b bytes.Buffer
		const sent = "bad\x1b[2J\u202e\nlevel=ERROR"
		LimitLog(slog.New(handler(&b))).Warn("refused", "reason", errors.New(sent), "says", sent)
		line := strings.TrimSuffix(b.String(), "\n")
		if !wording.Printable(line) || strings.Count(line, "202e") != 2 {
			t.Errorf("%s: the line is %q; it must be one, and show what was sent twice", name, line)
		}
	}
}

// TestLimit: lines of a kind come ten at once, then one each ten seconds with the number of those
// left out; other kinds come beside them.
func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		log := LimitLog(slog.New(slog.NewTextHandler(&b, nil))).With("agent", 3)
		lines := func() int {
			n := strings.Count(b.String(), "\n")
			return n
		}
		for range 1000 {
			log.Info("refused", "from", "a stranger")
		}
		if lines() != burst {
			t.Errorf("%d lines of 1000 came; they must be %d", lines(), burst)
		}
		log.Info("lost", "neighbour", 1)
		log.Info("lost", "neighbour", 2)
		if lines() != burst+2 {
			t.Errorf("%d lines; those of other kinds must come", lines())
		}
		b.Reset()
		for range 100 {
			time.Sleep(time.Second)
			log.Info("refused")
		}
		if got := b.String(); lines() != 10 || !strings.Contains(got, `agent=3 left_out=999`) ||
			!strings.Contains(got, `left_out=9`+"\n") {
			t.Errorf(
				"in 100 s came\n%s\nthey must be 10 lines, the first of which says that 999 were left out, the "+
					"others 9", got)
		}
	})
}

// TestRemembered: what is remembered is bounded, has the newest, and is good for nothing but the
// agent, certificate, message, signature, authorities and time that it was found of.
func TestRemembered(t *testing.T) {
	now := time.Now()
	a, other := testkit.Get(NewAuthority("one", now, now.Add(time.Hour))),
		testkit.Get(NewAuthority("other", now, now.Add(time.Hour)))
	id := testkit.Get(a.Issue(1, now, now.Add(time.Minute)))
	message := []byte("vote 1")
	signature := testkit.Get(id.Sign(message))
	ofRun := testkit.Get(a.Issue(2, now, now.Add(time.Minute), "one"))
	signed := testkit.Get(ofRun.Sign(message))
	whole, known := a.Trust(), func(agent int, message, signature []byte, now time.Time) bool {
		return a.Trust().Verify(agent, id.Certificate(), message, signature, now) == nil
	}
	for range 2 { // before it is remembered, and after
		if known(1, []byte("vote 2"), signature, now) || known(2, message, signature, now) ||
			known(1, append(message, signature[0]), signature[1:], now) ||
			known(1, message, signature, now.Add(2*time.Minute)) ||
			other.Trust().Verify(1, id.Certificate(), message, signature, now) == nil {
			t.Error("what was not signed is good")
		}
		if !known(1, message, signature, now) {
			t.Error("what was signed is not good")
		}
		for run, good := range map[string]bool{"one": true, "another": false} {
			err := a.Trust().InRun(run, nil).Verify(2, ofRun.Certificate(), message, signed, now)
			if (err == nil) != good {
				t.Errorf("in run %s a certificate of run one: %v", run, err)
			}
		}
		for key, good := range map[string]bool{"": false, "00": false, KeyDigest(id.certificate.Leaf): true} {
			err := a.Trust().InRun("another", []string{"", key}).Verify(1, id.Certificate(), message, signature, now)
			if (err == nil) != good {
				t.Errorf("in a run that has key %q for it: %v", key, err)
			}
		}
	}
	proofs.of = map[digest]proof{}
	for k := range mostRemembered {
		proofs.of[whole.digestOf(k, nil, nil, nil)] = proof{}
	}
	if !known(1, message, signature, now) || len(proofs.of) != 1 {
		t.Errorf("%d are remembered after one too many", len(proofs.of))
	}
	none := []byte("none that a key makes")
	proofs.of[whole.digestOf(1, id.Certificate(), message, none)] = proof{now, now}
	if !known(1, message, none, now) {
		t.Error("what is remembered is proved again")
	}
}
