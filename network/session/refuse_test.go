package session

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/networktest"
	"dsbo/network/pki"
	"dsbo/network/relay"

	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// lines is a log whose lines a test can wait for.
type lines struct {
	c    chan string
	seen *[]string // lines that nobody has waited for
}

func newLog() (*slog.Logger, lines) {
	l := lines{make(chan string, 1000), new([]string)}
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug})), l
}

func (l lines) Write(b []byte) (int, error) {
	select {
	case l.c <- string(b):
	default: // nobody waits
	}
	return len(b), nil
}

// waitFor waits for a line with all the words, and takes it out.
func (l lines) waitFor(t *testing.T, words ...string) { t.Helper(); takeLine(t, l.c, l.seen, words) }

// The agents of these tests are 0-1-2-3, a path, and the one under test is agent 1.
const self = 1

// openSelf starts agent 1. Agent 2 is at the given address.
func openSelf(t *testing.T, address2 string) (*fakeHost, lines) {
	l := listen()
	log, lines := newLog()
	return openHost(t, Config{Agent: self, Matrix: newGraph("path", 4), Run: "run", Hash: "hash", Listener: l,
		Identity: certificate(self), Log: log, Addresses: []string{"", l.Addr().String(), address2, ""},
		MaxFloats: 1000, Settings: []string{"-K=20"}}), lines
}

// foreign returns the settings of a certificate of another authority that trusts the right one, so
// that the refusal comes from the other end.
func foreign(agent int, config func(*pki.Identity) *tls.Config) *tls.Config {
	c, right := config(issue(newAuthority(), agent, time.Hour)), certificate(9)
	c.RootCAs, c.ClientCAs = right.Client(self).RootCAs, right.Server().ClientCAs
	return c
}

// A refusal is what agent 1 refuses in another one, and has in its log.
type refusal struct {
	name  string
	creds credentials.TransportCredentials
	frame []byte // what the other one sends first
	log   string
	// answer is what a visitor is told; "" where it is a matter of chance whether an alert of TLS
	// gets through before the connection ends.
	answer   string
	settings bool // it has other settings, or another program
}

// refusals returns the refusals of an agent on either side of a connection.
func refusals(agent int, config func(*pki.Identity) *tls.Config) []refusal {
	good, frame := credentials.NewTLS(config(certificate(agent))), goodHello(agent).encode()
	expired := config(issue(ca(), agent, -time.Minute))
	walker := config(testkit.Get(ca().Issue(agent, dawn, dusk, "walk"))) // the same agent of another run
	all := []refusal{
		{"another authority", credentials.NewTLS(foreign(agent, config)), frame, "unknown authority", "", false},
		{"no encryption", insecure.NewCredentials(), frame, "does not look like a TLS handshake", "", false},
		{"expired", credentials.NewTLS(expired), frame, "expired", "", false},
		{"another run's certificate", credentials.NewTLS(walker), frame, `must name run`, `must name run`, false},
		{"no hello", good, framed(kindAlive, nil), "must begin with a hello", "must begin with a hello", false},
		{"an empty hello", good, framed(kindHello, nil), "a hello must be JSON", "must be JSON", false},
		{"no frame", good, []byte("dsbo"), "a frame must have at least 24 bytes", "at least 24 bytes", false},
		{"a hello of 4097 bytes", good, framed(kindHello, make([]byte, maxHello+1)), "must have at most 4120 bytes",
			"at most 4120", false},
	}
	for _, c := range []struct {
		name   string
		change func(*hello)
		log    string
		plain  bool // its settings and its program are the same
	}{
		{"another run", func(h *hello) { h.Run = "walk" }, `is of run \"walk\", agent 1 of run \"run\"`, true},
		{"for another", func(h *hello) { h.To = 3 }, "takes agent 1 for agent 3", true},
		{"another configuration", func(h *hello) { h.Hash, h.Settings = "mash", "-K=30" },
			fmt.Sprintf("has other settings than agent 1 (SHA-256 mash and hash): agent %d has -K=30; agent 1 has "+
				"-K=20", agent),
			false},
		{"another wire", func(h *hello) { h.Form = Config{Wire: network.BF16}.form() },
			"exchanges bf16, sums with masks, agent 1 float64, sums with masks: Wire and Unmasked must be the same",
			false},
		{"without masks", func(h *hello) { h.Form = Config{Unmasked: true}.form() },
			"exchanges float64, sums without masks", false},
		{"other kernels", func(h *hello) { h.Program.Kernels, h.Program.Arithmetic = "abacus", "clay" },
			"does not compute as agent 1 does: it is " + network.ThisProgram().Architecture, false},
		{"another compiler", func(h *hello) { h.Program.Arithmetic = "fused" },
			"does not compute as agent 1 does: it is " + network.ThisProgram().Architecture, false},
	} {
		h, name := goodHello(agent), fmt.Sprintf("agent %d ", agent)
		c.change(&h)
		all = append(all, refusal{c.name, good, h.encode(), name + c.log, name, !c.plain})
	}
	return all
}

// visit connects to an agent and sends the frames; the error is of what comes back.
func visit(t *testing.T, address string, creds credentials.TransportCredentials,
	frames ...[]byte) (rpc.ClientStream, error) {
	t.Helper()
	return visitBy(t, method, address, creds, frames...)
}

// visitBy is visit by another protocol.
func visitBy(t *testing.T, method, address string, creds credentials.TransportCredentials,
	frames ...[]byte) (rpc.ClientStream, error) {
	t.Helper()
	conn := testkit.Get(rpc.NewClient("passthrough:///"+address, rpc.WithTransportCredentials(creds),
		rpc.WithContextDialer(relay.Dial)))
	t.Cleanup(func() { conn.Close() })
	s, err := conn.NewStream(networktest.Context(t), &service.Streams[0], method, rpc.ForceCodecV2(codec{testVector}))
	if err != nil {
		return nil, err
	}
	for _, f := range frames {
		if err := s.SendMsg(f); err != nil {
			break // the reason comes with the first message
		}
	}
	var f received
	return s, s.RecvMsg(&f)
}

// client returns the credentials of an agent that connects to agent 1.
func client(agent int) credentials.TransportCredentials {
	return credentials.NewTLS(certificate(agent).Client(self))
}

// TestVisitorsRefused: agent 1 refuses those who connect to it, logs why, and tells those who have
// a right to know.
func TestVisitorsRefused(t *testing.T) {
	settings := func(id *pki.Identity) *tls.Config { return id.Client(self) }
	bare := settings(certificate(0))
	bare.GetClientCertificate = nil
	for _, c := range append(refusals(0, settings), []refusal{
		{"no certificate", credentials.NewTLS(bare), goodHello(0).encode(), "didn't provide a certificate", "", false},
		{"another identity", client(2), goodHello(0).encode(),
			"claims to be agent 0, but shows the certificate of agent 2", "claims to be agent 0", false},
		{"another identity as itself", client(0), goodHello(1).encode(),
			"claims to be agent 1, but shows the certificate of agent 0", "claims to be agent 1", false},
		{"no neighbour", client(3), goodHello(3).encode(), "agent 3 is not a neighbour of agent 1",
			"not a neighbour", false},
		{"itself", client(1), goodHello(1).encode(), "agent 1 is not a neighbour of agent 1", "not a neighbour", false},
		{"the wrong direction", client(2), goodHello(2).encode(), "the other way is right", "lower number", false},
	}...) {
		t.Run(c.name, func(t *testing.T) {
			a, log := openSelf(t, "127.0.0.1:1")
			_, err := visit(t, a.config.Listener.Addr().String(), c.creds, c.frame)
			testkit.WantError(t, "the visitor", err, nil, "rpc error", c.answer)
			if c.settings {
				testkit.WantError(t, "the visitor", err, nil, "code = "+strangeCode.String())
				a.await(t, "refused 0: settings true: agent 0 ")
			}
			log.waitFor(t, "level=WARN", "refused a connection", "from=127.0.0.1:", c.log)
			if a.links.refused.Load() == 0 || len(a.conns) != 0 {
				t.Errorf("%d connections were refused and %d made; one must be refused", a.links.refused.Load(),
					len(a.conns))
			}
		})
	}
}

// TestOtherProtocol: a program of another protocol is told on either side that it must be replaced.
func TestOtherProtocol(t *testing.T) {
	const other = "/dsbo.Exchange/Frames"
	a, log := openSelf(t, serveAs(t, "dsbo.Exchange", credentials.NewTLS(certificate(2).Server())))
	_, err := visitBy(t, other, a.config.Listener.Addr().String(), client(0), []byte("dsbo"))
	testkit.WantError(t, "the visitor", err, nil, "code = "+strangeCode.String(),
		"all agents must have the same program")
	a.await(t, "refused 0: settings true: it exchanges by", other)
	log.waitFor(t, "refused a connection", other)
	a.await(t, "refused 2: settings true: agent 2 exchanges by another protocol than agent 1")
	log.waitFor(t, "cannot connect to a neighbour", "must have the same program")
}

// TestRefusalLoggedOnce: an agent of other kernels tries again and again; the log of the one that
// refuses it has that once.
func TestRefusalLoggedOnce(t *testing.T) {
	a, log := openSelf(t, "127.0.0.1:1")
	other := goodHello(0)
	other.Program.Arithmetic = "fused"
	for _, h := range []hello{other, other, other, goodHello(3)} {
		if _, err := visit(t, a.config.Listener.Addr().String(), client(0), h.encode()); err == nil {
			t.Errorf("a visitor as agent %d, with kernels %q, was accepted", h.From, h.Program.Arithmetic)
		}
	}
	log.waitFor(t, "refused a connection", "digest fused")
	for line := ""; !strings.Contains(line, "claims to be agent 3"); {
		if line = <-log.c; strings.Contains(line, "digest fused") {
			t.Errorf("logged again: %s", line)
		}
	}
	if n := a.links.refused.Load(); n != 4 {
		t.Errorf("%d connections were refused; they were 4", n)
	}
}

// serve listens as agent 2 and answers each hello with the frames.
func serve(t *testing.T, creds credentials.TransportCredentials, frames ...[]byte) (address string) {
	t.Helper()
	return serveAs(t, service.ServiceName, creds, frames...)
}

// serveAs is serve by a protocol of another name.
func serveAs(t *testing.T, name string, creds credentials.TransportCredentials, frames ...[]byte) (address string) {
	t.Helper()
	l := listen()
	s := rpc.NewServer(rpc.Creds(creds), rpc.ForceServerCodecV2(codec{testVector}), rpc.WaitForHandlers(true))
	desc := service
	desc.ServiceName = name
	desc.Streams = slices.Clone(desc.Streams)
	desc.Streams[0].Handler = func(_ any, s rpc.ServerStream) error {
		var f received
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

// TestHostsRefused: agent 1 refuses those to which it connects, and logs why.
func TestHostsRefused(t *testing.T) {
	server := (*pki.Identity).Server
	for _, c := range append(refusals(2, server), []refusal{
		{"too long", credentials.NewTLS(server(certificate(2))), make([]byte, headerSize+maxFlood+1),
			"larger than max (8388633 vs. 8388632)", "", false},
		{"one that trusts another authority", credentials.NewTLS(server(issue(newAuthority(), 2, time.Hour))),
			goodHello(2).encode(), "tls: ", "", false},
		{"another identity", credentials.NewTLS(server(certificate(3))), goodHello(2).encode(),
			"valid for agent-3, not agent-2", "", false},
		{"another claim", credentials.NewTLS(server(certificate(2))), goodHello(3).encode(),
			"it must be agent 2; it claims to be agent 3", "", false},
	}...) {
		t.Run(c.name, func(t *testing.T) {
			a, log := openSelf(t, serve(t, c.creds, c.frame))
			log.waitFor(t, "level=WARN", "cannot connect to a neighbour", "neighbour=2", c.log)
			a.await(t, fmt.Sprintf("refused 2: settings %t: ", c.settings))
			if len(a.conns) != 0 {
				t.Errorf("%d connections; there must be none", len(a.conns))
			}
		})
	}
}

// TestBothSidesHear: two agents with other settings both hear of it, with the settings that differ.
func TestBothSidesHear(t *testing.T) {
	cs := configs(newGraph("path", 2), identities(2))
	cs[0].Settings, cs[1].Settings, cs[1].Hash = []string{"agents=2", "-K=20"}, []string{"agents=2", "-K=30"}, "1"
	for i, a := range openHosts(t, cs) {
		a.await(t, fmt.Sprintf("refused %d: settings true: ", 1-i), "agent 0 has -K=20; agent 1 has -K=30")
	}
}
