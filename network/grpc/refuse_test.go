package grpc

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/carrier"
	"dsbo/network/grpc/masks"
	"dsbo/network/networktest"
	"dsbo/network/pki"

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

// waitFor waits for a line with all the words.
func (l lines) waitFor(t *testing.T, words ...string) {
	t.Helper()
	end := networktest.Context(t).Done()
	var seen []string
	for {
		select {
		case line := <-l.c:
			seen = append(seen, line)
			if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, w) }) {
				return
			}
		case <-end:
			t.Fatalf("no line with %q in the log:\n%s", words, strings.Join(seen, ""))
		}
	}
}

// The agents of these tests are 0-1-2-3, a path, and the one under test is agent 1.
const self = 1

// foreign returns the settings of a certificate of another authority that trusts the right one, so
// that the refusal comes from the other end.
func foreign(agent int, config func(*pki.Identity) *tls.Config) *tls.Config {
	c, right := config(issue(newAuthority(), agent, time.Hour)), certificate(9)
	c.RootCAs, c.ClientCAs = right.Client(self).RootCAs, right.Server().ClientCAs
	return c
}

// openSelf starts agent 1. Agent 2 is at the given address.
func openSelf(t *testing.T, address2 string) (*Mixer, lines) {
	l := listen()
	log, lines := newLog()
	ms, closeAll := open([]Config{{Agent: self, Matrix: newGraph("path", 4), Run: "run", Hash: "hash", Listener: l,
		Identity: certificate(self), Log: log, Addresses: []string{"", l.Addr().String(), address2, ""},
		MaxFloats: 1000,
		Heartbeat: time.Hour, SilentAfter: 3 * time.Hour, PeerTimeout: 4 * time.Hour}})
	t.Cleanup(closeAll)
	return ms[0], lines
}

// goodHello returns what an agent says to agent 1.
func goodHello(from int) hello {
	return hello{from: from, to: self, run: "run", config: "hash", form: Config{}.form(),
		offers:  ownCapabilities,
		program: network.ThisProgram()}
}

// ofVersion returns the frame as a program with another version of the protocol sends it.
func ofVersion(version byte, frame []byte) []byte {
	frame[4] = version
	return frame
}

// A refusal is what agent 1 refuses in another one, and says in its log.
type refusal struct {
	name  string
	creds credentials.TransportCredentials
	frame []byte // what the other one says first
	log   string
	// answer is what a visitor is told; "" where it is a matter of chance whether an alert of TLS
	// gets through before the connection ends.
	answer string
}

// refusals returns the refusals of an agent on either side of a connection.
func refusals(agent int, config func(*pki.Identity) *tls.Config) []refusal {
	good, frame := credentials.NewTLS(config(certificate(agent))), goodHello(agent).encode()
	expired := config(issue(ca(), agent, -time.Minute))
	walker := config(testkit.Get(ca().Issue(agent, dawn, dusk, "walk"))) // the same agent of another run
	all := []refusal{
		{"another authority", credentials.NewTLS(foreign(agent, config)), frame, "unknown authority", ""},
		{"no encryption", insecure.NewCredentials(), frame, "does not look like a TLS handshake", ""},
		{"expired", credentials.NewTLS(expired), frame, "expired", ""},
		{"another run's certificate", credentials.NewTLS(walker), frame, `must name run`, `must name run`},
		{"no hello", good, alive(0), "must begin with a hello", "must begin with a hello"},
		{"a short hello", good, encode(header{kind: kindHello}, []byte("short")), "a hello has the wrong length",
			"wrong length"},
		{"the version before capabilities", good, ofVersion(leastVersion-1, goodHello(agent).encode()),
			"must be of version 6 to 7; it is of version 5", "version 5"},
		{"two versions later", good, ofVersion(version+2, goodHello(agent).encode()),
			"must be of version 6 to 7; it is of version 8", "version 8"},
		{"a hello of 1025 bytes", good, encode(header{kind: kindHello}, make([]byte, 1001)),
			"must have at most 1024 bytes", "at most 1024"},
		{"too long", good, make([]byte, headerSize+masks.MaxText+1), "larger than max (8217 vs. 8216)",
			"larger than max"},
	}
	for _, c := range []struct {
		name   string
		change func(*hello)
		log    string
	}{
		{"another run", func(h *hello) { h.run = "walk" }, `is of run \"walk\", agent 1 of run \"run\"`},
		{"another configuration", func(h *hello) { h.config = "mash" },
			"has other settings than agent 1 (SHA-256 mash and hash)"},
		{"another wire", func(h *hello) { h.form = Config{Wire: network.BF16}.form() },
			"exchanges bf16, sums with masks, agent 1 float64, sums with masks: Wire and Unmasked must be the same"},
		{"without masks", func(h *hello) { h.form = Config{Unmasked: true}.form() },
			"exchanges float64, sums without masks"},
		{"a need that is not known", func(h *hello) { h.needs = 1 << 40 },
			"needs, capability 40: the program of agent 1 must be replaced"},
		{"for another", func(h *hello) { h.to = 3 }, "takes agent 1 for agent 3"},
		{"other kernels", func(h *hello) { h.program.Kernels, h.program.Arithmetic = "abacus", "clay" },
			"does not compute as agent 1 does: it is " + network.ThisProgram().Architecture},
		{"another architecture", func(h *hello) { h.program.Architecture, h.program.Arithmetic = "pdp11", "octal" },
			"does not compute as agent 1 does: it is pdp11 "},
		{"another compiler", func(h *hello) { h.program.Arithmetic = "fused" },
			"does not compute as agent 1 does: it is " + network.ThisProgram().Architecture},
	} {
		h, name := goodHello(agent), fmt.Sprintf("agent %d ", agent)
		c.change(&h)
		all = append(all, refusal{c.name, good, h.encode(), name + c.log, name})
	}
	return all
}

// visit connects to agent 1 and says the frames.
func visit(t *testing.T, address string, creds credentials.TransportCredentials,
	frames ...[]byte) (rpc.ClientStream, error) {
	t.Helper()
	return visitOver(networktest.Context(t), t, carrier.Dialer{}.Dial, address, creds, frames...)
}

// visitOver is visit over connections of another kind, until ctx ends.
func visitOver(ctx context.Context, t *testing.T, dial func(context.Context, string) (net.Conn, error), address string,
	creds credentials.TransportCredentials, frames ...[]byte) (rpc.ClientStream, error) {
	t.Helper()
	conn := testkit.Get(rpc.NewClient("passthrough:///"+address, rpc.WithTransportCredentials(creds),
		rpc.WithContextDialer(dial)))
	t.Cleanup(func() { conn.Close() })
	s, err := conn.NewStream(ctx, &service.Streams[0], method, rpc.ForceCodecV2(codec{}))
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

// TestVisitorsRefused: agent 1 refuses those who connect to it, says why, and tells those who have
// a right to know.
func TestVisitorsRefused(t *testing.T) {
	client := func(id *pki.Identity) *tls.Config { return id.Client(self) }
	as := func(agent int) credentials.TransportCredentials {
		return credentials.NewTLS(client(certificate(agent)))
	}
	bare := client(certificate(0))
	bare.GetClientCertificate = nil
	for _, c := range append(refusals(0, client), []refusal{
		{"no certificate", credentials.NewTLS(bare), goodHello(0).encode(), "didn't provide a certificate", ""},
		{"another identity", as(2), goodHello(0).encode(), "claims to be agent 0, but shows the certificate of agent 2",
			"claims to be agent 0"},
		{"another identity as itself", as(0), goodHello(1).encode(),
			"claims to be agent 1, but shows the certificate of agent 0", "claims to be agent 1"},
		{"no neighbour", as(3), goodHello(3).encode(), "agent 3 is not a neighbour of agent 1", "not a neighbour"},
		{"itself", as(1), goodHello(1).encode(), "agent 1 is not a neighbour of agent 1", "not a neighbour"},
		{"the wrong direction", as(2), goodHello(2).encode(), "the other way is right", "lower number"},
	}...) {
		t.Run(c.name, func(t *testing.T) {
			m, log := openSelf(t, "127.0.0.1:1")
			_, err := visit(t, m.config.Listener.Addr().String(), c.creds, c.frame)
			testkit.WantError(t, "the visitor", err, nil, "rpc error", c.answer)
			log.waitFor(t, "level=WARN", "refused a connection", "from=127.0.0.1:", c.log)
			s := m.Status()
			if s.Refused == 0 || s.Neighbours[0].Connects+s.Neighbours[1].Connects != 0 {
				t.Errorf("%+v: connections must be refused and none made", s)
			}
		})
	}
}

// TestRefusalLoggedOnce: an agent of other kernels tries again and again; the log of the one that
// refuses it says so once, and it ends with that as the reason, as the other one is silent, though
// it is the other one that connects.
func TestRefusalLoggedOnce(t *testing.T) {
	m, log := openSelf(t, "127.0.0.1:1")
	other := goodHello(0)
	other.program.Arithmetic = "fused"
	for _, h := range []hello{other, other, other, goodHello(3)} {
		if _, err := visit(t, m.config.Listener.Addr().String(), credentials.NewTLS(certificate(0).Client(self)),
			h.encode()); err == nil {
			t.Errorf("a visitor as agent %d, with kernels %q, was accepted", h.from, h.program.Arithmetic)
		}
	}
	log.waitFor(t, "refused a connection", "digest fused")
	for line := ""; !strings.Contains(line, "claims to be agent 3"); {
		if line = <-log.c; strings.Contains(line, "digest fused") {
			t.Errorf("logged again: %s", line)
		}
	}
	if n := m.Status().Refused; n != 4 {
		t.Errorf("%d connections were refused; they were 4", n)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var err error
	for range 4 {
		err = m.neighbours.edge(0).heartbeat()
	}
	testkit.WantError(t, "the end", err, nil, "agent 0 has been silent for 4h0m0s",
		"agent 0 does not compute as agent 1 does")
}

// host listens as agent 2 and answers each hello with the frames.
func host(t *testing.T, creds credentials.TransportCredentials, frames ...[]byte) (address string) {
	t.Helper()
	l := listen()
	s := rpc.NewServer(rpc.Creds(creds), rpc.ForceServerCodecV2(codec{}), rpc.WaitForHandlers(true))
	desc := service
	desc.Streams = slices.Clone(desc.Streams)
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
	s.RegisterService(&desc, nil)
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Stop()
		testkit.OK(<-done)
	})
	return l.Addr().String()
}

// TestHostsRefused: agent 1 refuses those to which it connects, and says why.
func TestHostsRefused(t *testing.T) {
	server := (*pki.Identity).Server
	for _, c := range append(refusals(2, server), []refusal{
		{"one that trusts another authority", credentials.NewTLS(server(issue(newAuthority(), 2, time.Hour))),
			goodHello(2).encode(), "tls: ", ""},
		{"another identity", credentials.NewTLS(server(certificate(3))), goodHello(2).encode(),
			"valid for agent-3, not agent-2", ""},
		{"another claim", credentials.NewTLS(server(certificate(2))), goodHello(3).encode(),
			"it must be agent 2; it says that it is agent 3", ""},
	}...) {
		t.Run(c.name, func(t *testing.T) {
			m, log := openSelf(t, host(t, c.creds, c.frame))
			log.waitFor(t, "level=WARN", "cannot connect to a neighbour", "neighbour=2", c.log)
			if n := m.Status().Neighbours[1]; n.Connects != 0 {
				t.Errorf("%+v: there must be no connection", n)
			}
		})
	}
}
