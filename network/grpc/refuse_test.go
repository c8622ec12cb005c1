package grpc

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"dsbo/network"
	"dsbo/pki"

	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// lines is a log whose lines a test can wait for.
type lines struct{ c chan string }

func newLog() (*slog.Logger, lines) {
	l := lines{make(chan string, 1000)}
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug})), l
}

func (l lines) Write(b []byte) (int, error) {
	select {
	case l.c <- string(b):
	default: // nobody waits
	}
	return len(b), nil
}

// want waits for a line with all the words.
func (l lines) want(t *testing.T, words ...string) {
	t.Helper()
	limit := time.After(20 * time.Second)
	var seen []string
next:
	for {
		select {
		case line := <-l.c:
			seen = append(seen, line)
			for _, w := range words {
				if !strings.Contains(line, w) {
					continue next
				}
			}
			return
		case <-limit:
			t.Fatalf("no line with %q in the log:\n%s", words, strings.Join(seen, ""))
		}
	}
}

// The agents of these tests are 0-1-2-3, a path, and the one under test is agent 1.
const self = 1

type office struct {
	t   *testing.T
	ca  *pki.Authority
	now time.Time
}

func newOffice(t *testing.T) *office {
	o := &office{t: t, now: time.Now()}
	o.ca = o.authority()
	return o
}

func (o *office) authority() *pki.Authority {
	o.t.Helper()
	a, err := pki.NewAuthority("test", o.now.Add(-time.Hour), o.now.Add(time.Hour))
	if err != nil {
		o.t.Fatal(err)
	}
	return a
}

func (o *office) issue(a *pki.Authority, agent int, until time.Time) *pki.Identity {
	o.t.Helper()
	id, err := a.Issue(agent, o.now.Add(-time.Hour), until)
	if err != nil {
		o.t.Fatal(err)
	}
	return id
}

func (o *office) good(agent int) *pki.Identity { return o.issue(o.ca, agent, o.now.Add(time.Hour)) }

func (o *office) expired(agent int) *pki.Identity {
	return o.issue(o.ca, agent, o.now.Add(-time.Minute))
}

// foreign returns an identity of another authority, that trusts the right one.
func (o *office) foreign(agent int) *pki.Identity {
	return o.issue(o.authority(), agent, o.now.Add(time.Hour))
}

// open starts agent 1. Agent 2 is at the given address.
func (o *office) open(address2 string) (*Mixer, lines) {
	o.t.Helper()
	g, err := network.New("path", 4, network.Options{})
	if err != nil {
		o.t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		o.t.Fatal(err)
	}
	log, lines := newLog()
	m, err := Open(Config{Agent: self, Matrix: g.W, Run: "run", Hash: "hash", Listener: l, Identity: o.good(self), Log: log,
		Addresses: []string{"", l.Addr().String(), address2, ""}, MaxFloats: 1000, Heartbeat: time.Hour,
		SilentAfter: 3 * time.Hour, PeerTimeout: 4 * time.Hour})
	if err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(func() { m.Close() })
	return m, lines
}

// trust makes a client or server with a foreign certificate trust the right authority, so that
// the refusal comes from the other end.
func (o *office) trust(c *tls.Config) *tls.Config {
	right := o.good(9)
	c.RootCAs, c.ClientCAs = right.Client(self).RootCAs, right.Server().ClientCAs
	return c
}

// goodHello returns what an agent says to agent 1.
func goodHello(from int) hello {
	return hello{from: from, to: self, run: "run", config: "hash", program: network.ThisProgram()}
}

// with returns the hello with something changed.
func (h hello) with(change func(*hello)) hello {
	change(&h)
	return h
}

// changedHellos are reasons for which both ends refuse one who has the right to its name, and what the log has then.
var changedHellos = []struct {
	name   string
	change func(*hello)
	log    string
}{
	{"another run", func(h *hello) { h.run = "walk" }, `is of run \"walk\", agent 1 of run \"run\"`},
	{"another configuration", func(h *hello) { h.config = "mash" }, `has configuration \"mash\", agent 1 has \"hash\"`},
	{"for another", func(h *hello) { h.to = 3 }, "takes agent 1 for agent 3"},
	{"other kernels", func(h *hello) { h.program.Kernels = "abacus" }, "computes with kernels abacus, agent 1 with " + network.ThisProgram().Kernels},
	{"another architecture", func(h *hello) { h.program.Architecture = "pdp11" }, "runs on pdp11, agent 1 on " + network.ThisProgram().Architecture},
}

func otherVersion(frame []byte) []byte {
	frame[4]++
	return frame
}

// visit connects to agent 1 and says the frames.
func visit(t *testing.T, address string, creds credentials.TransportCredentials, frames ...[]byte) (rpc.ClientStream, error) {
	t.Helper()
	conn, err := rpc.NewClient("passthrough:///"+address, rpc.WithTransportCredentials(creds))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	desc := &rpc.StreamDesc{StreamName: streamName, ServerStreams: true, ClientStreams: true}
	s, err := conn.NewStream(ctx, desc, "/"+serviceName+"/"+streamName, rpc.ForceCodecV2(codec{}))
	if err != nil {
		return nil, err
	}
	for _, f := range frames {
		if err := s.SendMsg(f); err != nil {
			break // the reason comes with the first message
		}
	}
	var f frame
	return s, s.RecvMsg(&f)
}

// TestVisitorsRefused: agent 1 refuses those who connect to it, says why, and tells those who have a
// right to know.
func TestVisitorsRefused(t *testing.T) {
	o := newOffice(t)
	asAgent := func(id *pki.Identity) credentials.TransportCredentials { return credentials.NewTLS(id.Client(self)) }
	bare := o.good(0).Client(self)
	bare.GetClientCertificate = nil
	foreign := o.trust(o.foreign(0).Client(self))
	type visitor struct {
		name   string
		creds  credentials.TransportCredentials
		frame  []byte
		log    string
		answer string // "" where it is a matter of chance whether an alert of TLS gets through before the connection ends
	}
	cases := []visitor{
		{"another authority", credentials.NewTLS(foreign), goodHello(0).encode(), "unknown authority", ""},
		{"no certificate", credentials.NewTLS(bare), goodHello(0).encode(), "didn't provide a certificate", ""},
		{"no encryption", insecure.NewCredentials(), goodHello(0).encode(), "does not look like a TLS handshake", ""},
		{"expired", asAgent(o.expired(0)), goodHello(0).encode(), "expired", ""},
		{"another identity", asAgent(o.good(2)), goodHello(0).encode(), "claims to be agent 0, but shows the certificate of agent 2", "claims to be agent 0"},
		{"another identity as itself", asAgent(o.good(0)), goodHello(1).encode(), "claims to be agent 1, but shows the certificate of agent 0", "claims to be agent 1"},
		{"no neighbour", asAgent(o.good(3)), goodHello(3).encode(), "agent 3 is not a neighbour of agent 1", "not a neighbour"},
		{"itself", asAgent(o.good(1)), goodHello(1).encode(), "agent 1 is not a neighbour of agent 1", "not a neighbour"},
		{"the wrong direction", asAgent(o.good(2)), goodHello(2).encode(), "the one with the lower number is to connect", "lower number"},
		{"no hello", asAgent(o.good(0)), alive(0), "must begin with a hello", "must begin with a hello"},
		{"a short hello", asAgent(o.good(0)), encode(header{kind: kindHello}, []byte("short")), "a hello has the wrong length", "wrong length"},
		{"another version", asAgent(o.good(0)), otherVersion(goodHello(0).encode()), "and version 3", "and version 3"},
		{"too long", asAgent(o.good(0)), make([]byte, headerSize+8001), "larger than max (8025 vs. 8024)", "larger than max"},
	}
	for _, c := range changedHellos {
		frame := goodHello(0).with(c.change).encode()
		cases = append(cases, visitor{c.name, asAgent(o.good(0)), frame, "agent 0 " + c.log, "agent 0 "})
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m, log := o.open("127.0.0.1:1")
			_, err := visit(t, m.config.Listener.Addr().String(), c.creds, c.frame)
			if err == nil || !strings.Contains(err.Error(), c.answer) {
				t.Errorf("the visitor got error %v; it must have %q", err, c.answer)
			}
			log.want(t, "level=WARN", "refused a connection", "from=127.0.0.1:", c.log)
			s := m.Status()
			if s.Refused == 0 || s.Neighbours[0].Connects+s.Neighbours[1].Connects != 0 {
				t.Errorf("%+v: connections must be refused and none made", s)
			}
		})
	}
}

// host listens as agent 2 and answers each hello with the frames.
func host(t *testing.T, creds credentials.TransportCredentials, frames ...[]byte) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := rpc.NewServer(rpc.Creds(creds), rpc.ForceServerCodecV2(codec{}), rpc.WaitForHandlers(true))
	m := &Mixer{}
	desc := m.service()
	desc.Streams[0].Handler = func(_ any, s rpc.ServerStream) error {
		var f frame
		if err := s.RecvMsg(&f); err != nil {
			return err
		}
		for _, f := range frames {
			if err := s.SendMsg(f); err != nil {
				return err
			}
		}
		return s.RecvMsg(&f)
	}
	s.RegisterService(desc, nil)
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// TestHostsRefused: agent 1 refuses those to which it connects, and says why.
func TestHostsRefused(t *testing.T) {
	o := newOffice(t)
	asAgent := func(id *pki.Identity) credentials.TransportCredentials { return credentials.NewTLS(id.Server()) }
	type answer struct {
		name  string
		creds credentials.TransportCredentials
		frame []byte
		log   string
	}
	cases := []answer{
		{"another authority", credentials.NewTLS(o.trust(o.foreign(2).Server())), goodHello(2).encode(), "unknown authority"},
		{"one that trusts another authority", asAgent(o.foreign(2)), goodHello(2).encode(), "tls: "},
		{"no encryption", insecure.NewCredentials(), goodHello(2).encode(), "does not look like a TLS handshake"},
		{"expired", asAgent(o.expired(2)), goodHello(2).encode(), "expired"},
		{"another identity", asAgent(o.good(3)), goodHello(2).encode(), "valid for agent-3, not agent-2"},
		{"another claim", asAgent(o.good(2)), goodHello(3).encode(), "it must be agent 2; it says that it is agent 3"},
		{"no hello", asAgent(o.good(2)), alive(0), "must begin with a hello"},
		{"another version", asAgent(o.good(2)), otherVersion(goodHello(2).encode()), "and version 3"},
		{"too long", asAgent(o.good(2)), make([]byte, headerSize+8001), "larger than max (8025 vs. 8024)"},
	}
	for _, c := range changedHellos {
		cases = append(cases, answer{c.name, asAgent(o.good(2)), goodHello(2).with(c.change).encode(), "agent 2 " + c.log})
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m, log := o.open(host(t, c.creds, c.frame))
			log.want(t, "level=WARN", "cannot connect to a neighbour", "neighbour=2", c.log)
			if n := m.Status().Neighbours[1]; n.Connects != 0 {
				t.Errorf("%+v: there must be no connection", n)
			}
		})
	}
}

// TestBadFrames: what a neighbour says after its hello, and must not, ends the stream.
func TestBadFrames(t *testing.T) {
	o := newOffice(t)
	vector := make([]float64, 3)
	for _, c := range []struct {
		name  string
		frame []byte
		log   string
	}{
		{"too long", encodeVector(0, mixing, make([]float64, 1001)), "larger than max"},
		{"of another version", otherVersion(encodeVector(0, mixing, vector)), "and version 3"},
		{"of no kind", encode(header{kind: 77}, nil), "frames of kind 77 are not known"},
		{"a second hello", goodHello(0).encode(), "a second hello"},
		{"out of order", encodeVector(1, mixing, vector), "must be that of exchange 0; it is that of exchange 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, log := o.open("127.0.0.1:1")
			s, err := visit(t, m.config.Listener.Addr().String(), credentials.NewTLS(o.good(0).Client(self)), goodHello(0).encode())
			if err != nil {
				t.Fatal(err)
			}
			if err := s.SendMsg(c.frame); err != nil {
				t.Fatal(err)
			}
			log.want(t, "level=WARN", "neighbour=0", "lost the connection", c.log)
		})
	}
}
