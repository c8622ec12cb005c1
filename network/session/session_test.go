package session

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/networktest"
	"dsbo/network/pki"
	"dsbo/network/register"
	"dsbo/network/relay"

	"go.uber.org/goleak"
)

// serveRelay runs a relay and returns what stops it.
func serveRelay(t *testing.T, l net.Listener) (stop func()) {
	dir := t.TempDir()
	testkit.OK(ca().SaveHost(dir, "relay", "127.0.0.1", time.Now().Add(-time.Hour), time.Now().Add(time.Hour)))
	certificate := testkit.Get(pki.LoadHost(dir, "relay"))
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() {
		testkit.OK(relay.Serve(ctx, l, relay.Options{
			Trust:       func() (*pki.Trust, error) { return ca().Trust(), nil },
			Certificate: func() (*tls.Certificate, error) { return certificate, nil },
		}))
	})
	return func() {
		cancel()
		work.Wait()
	}
}

// TestRelayed: agents without addresses are connected over the relay, and again after it was lost;
// the others do without.
func TestRelayed(t *testing.T) {
	cs := configs(newGraph("path", 3), identities(3))
	l := listen()
	for i := range cs {
		cs[i].Relay = l.Addr().String()
	}
	for _, i := range []int{1, 2} {
		testkit.OK(cs[i].Listener.Close())
		cs[i].Listener, cs[i].Addresses[i] = nil, "" // the same slice for all agents
	}
	stop := serveRelay(t, l)
	hosts := openHosts(t, cs)
	hosts[0].conn(t, 1)
	direct := hosts[1].conn(t, 0)
	for round := range 2 {
		c := hosts[1].conn(t, 2)
		hosts[2].conn(t, 1)
		c.send(numbered(round, 5))
		hosts[2].await(t, "frame of 1", fmt.Sprintf("exchange %d ", round))
		stop()
		hosts[1].await(t, "detach 2")
		hosts[2].await(t, "detach 1")
		stop = serveRelay(t, testkit.Get(net.Listen("tcp", cs[0].Relay)))
	}
	defer stop()
	select {
	case <-direct.dropped.Done():
		t.Errorf("agents 0 and 1 need no relay, and were cut off: %v", context.Cause(direct.dropped))
	default:
	}
}

// TestThroughProxy: a site's proxy that lets TLS to port 443 through alone is enough for an agent
// to connect.
func TestThroughProxy(t *testing.T) {
	cs := configs(newGraph("path", 2), identities(2))
	door := cs[1].Listener.Addr().String()
	proxy := httptest.NewServer(networktest.Proxy(door,
		networktest.ProxyRules{TLS: true, Name: "site", Password: "secret"}))
	t.Cleanup(proxy.Close)
	address := testkit.Get(url.Parse(proxy.URL))
	address.User = url.UserPassword("site", "secret")
	cs[0].Addresses = []string{cs[0].Addresses[0], "agent-1.example:443"}
	t.Setenv("HTTPS_PROXY", address.String())
	hosts := openHosts(t, cs)
	hosts[0].conn(t, 1).send(numbered(5, 3))
	hosts[1].await(t, "frame of 0", "exchange 5 ")
}

// TestWhoDials: of two neighbours exactly one connects, and those without addresses alone need
// the relay.
func TestWhoDials(t *testing.T) {
	w := newGraph("path", 4)
	for lacking := range 16 {
		c := Config{Matrix: w, Addresses: make([]string, 4)}
		for i := range c.Addresses {
			if lacking>>i&1 == 0 {
				c.Addresses[i] = "host:1"
			}
		}
		as := func(i int) Config {
			c.Agent = i
			return c
		}
		for i := range 4 {
			for j := range i {
				near := i-j == 1
				name := fmt.Sprintf("%q, agents %d and %d", c.Addresses, j, i)
				if one, other := as(i).dials(j), as(j).dials(i); one && other || (one || other) != near {
					t.Errorf("%s: one dials %t, the other %t", name, one, other)
				}
				both := c.Addresses[i]+c.Addresses[j] == ""
				if as(i).isRelayed(j) != (near && both) || as(i).isRelayed(j) != as(j).isRelayed(i) {
					t.Errorf("%s: relayed %t and %t", name, as(i).isRelayed(j), as(j).isRelayed(i))
				}
				if as(i).dials(j) && c.Addresses[j] == "" && !as(i).isRelayed(j) {
					t.Errorf("%s: dialled without an address", name)
				}
			}
		}
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newAuthority() *pki.Authority {
	now := time.Now()
	return testkit.Get(pki.NewAuthority("test", now.Add(-time.Hour), now.Add(time.Hour)))
}

// testRuns are the runs that the certificates of tests name.
var testRuns = []string{"test", "run", "sim"}

// issue returns an agent's certificate that is valid for as long as this, and invalid if that is
// below 0.
func issue(a *pki.Authority, agent int, valid time.Duration) *pki.Identity {
	return testkit.Get(a.Issue(agent, time.Now().Add(-time.Hour), time.Now().Add(valid), testRuns...))
}

// ca returns the authority of all agents for which a test makes no other one. It is valid at any
// time of a test, also in a bubble of testing/synctest.
var ca = sync.OnceValue(func() *pki.Authority { return testkit.Get(pki.NewAuthority("test", dawn, dusk)) })

var dawn, dusk = time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2999, 1, 1, 0, 0, 0, 0, time.UTC)

// certificates are those that ca has issued, by agent: keys cost time.
var certificates sync.Map

// certificate returns an agent's certificate by ca, the same in all tests.
func certificate(agent int) *pki.Identity {
	id, ok := certificates.Load(agent)
	if !ok {
		id, _ = certificates.LoadOrStore(agent, testkit.Get(ca().Issue(agent, dawn, dusk, testRuns...)))
	}
	return id.(*pki.Identity)
}

// identities returns certificates of n agents.
func identities(n int) []*pki.Identity {
	ids := make([]*pki.Identity, n)
	for i := range ids {
		ids[i] = certificate(i)
	}
	return ids
}

func newGraph(name string, n int) *network.Matrix {
	return testkit.Get(network.New(name, n, network.Options{Seed: 1})).W
}

func listen() net.Listener { return testkit.Get(net.Listen("tcp", "127.0.0.1:0")) }

// configs returns settings of all agents of w on this machine, without certificates if ids is nil.
func configs(w *network.Matrix, ids []*pki.Identity) []Config {
	cs, addresses := make([]Config, w.N()), make([]string, w.N())
	for i := range cs {
		l := listen()
		addresses[i] = l.Addr().String()
		cs[i] = Config{Agent: i, Matrix: w, Run: "test", Hash: "0", Addresses: addresses, Listener: l}
		if ids != nil {
			cs[i].Identity = ids[i]
		}
	}
	return cs
}

// virtual returns settings of all agents of w on machines of a network in memory, and that network.
// It belongs into a bubble of testing/synctest, where time is virtual.
func virtual(w *network.Matrix) ([]Config, *testkit.Network) {
	wires := testkit.NewNetwork(testkit.FixedDelay(time.Millisecond))
	cs, addresses := make([]Config, w.N()), make([]string, w.N())
	for i, id := range identities(w.N()) {
		host := wires.Host(machine(i))
		addresses[i] = machine(i) + ":7000"
		cs[i] = Config{Agent: i, Matrix: w, Run: "run", Hash: "hash", Addresses: addresses, Identity: id,
			Listener: testkit.Get(host.Listen("7000")), Dial: host.Dial}
	}
	return cs, wires
}

// machine is the name of an agent's machine.
func machine(agent int) string { return fmt.Sprintf("agent-%d", agent) }

// openTeams starts all agents of w and returns their ends of a session, and what closes them.
func openTeams(cs []Config) (teams []network.Team, closeAll func()) {
	agents := make([]*Agent, len(cs))
	sessions := make([]*Session, len(cs))
	for i := range cs {
		if cs[i].Store == nil {
			cs[i].Store = toyStore{new(toyDisk), new(bool)}
		}
		if cs[i].Heartbeat == 0 {
			// a busy machine must have time for all of them: who is late begins no session
			cs[i].Heartbeat, cs[i].SilentAfter = time.Duration(4*len(cs)+4)*time.Millisecond, time.Minute
		}
		agents[i] = testkit.Get(Open(cs[i]))
	}
	for !openAll(agents, sessions) {
		endAll(sessions)
	}
	for _, s := range sessions {
		teams = append(teams, s)
	}
	return teams, func() {
		endAll(sessions)
		testkit.OK(errors.Join(networktest.RunAll(len(cs), func(i int) error { return agents[i].Close() })...))
	}
}

// openAll has agents enter a session, and reports whether all have: on a busy machine some may be
// late, which ends it.
func openAll(agents []*Agent, sessions []*Session) bool {
	err := errors.Join(networktest.RunAll(len(agents), func(i int) error {
		sessions[i] = testkit.Get(agents[i].Next(context.Background()))
		_, err := sessions[i].gatherFlags(context.Background(), false)
		return err
	})...)
	if over := new(register.Over); err != nil && !errors.As(err, &over) {
		panic(err)
	}
	return err == nil
}

// endAll ends all agents' sessions at once, so that nobody hears of another one's end first.
func endAll(sessions []*Session) {
	for _, s := range sessions {
		s.x.mu.Lock()
		s.x.end(&register.Over{Session: s.Number, Why: "it stops", Cause: network.ErrClosed})
		s.x.mu.Unlock()
	}
}

// TestTeam: sessions pass the suite of all transports, with and without certificates.
func TestTeam(t *testing.T) {
	for name, protected := range map[string]bool{"certificates": true, "plain": false} {
		t.Run(name, func(t *testing.T) {
			networktest.TestTeam(t, 1, testkit.Sized(4, 5, 16), func(w *network.Matrix) ([]network.Team, func()) {
				if protected {
					return openTeams(configs(w, identities(w.N())))
				}
				return openTeams(configs(w, nil))
			})
		})
	}
}

func TestValidate(t *testing.T) {
	w := newGraph("path", 3)
	ids := identities(2)
	everywhere := testkit.Get(net.Listen("tcp", ":0"))
	defer everywhere.Close()
	for _, c := range []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) {}, ""},
		{func(c *Config) { c.Agent = 3 }, "Agent must be 0 to 2, or have an Admission; it is 3"},
		{func(c *Config) { c.Agent = -1 }, "Agent must be 0 to 2, or have an Admission; it is -1"},
		{func(c *Config) { c.Addresses = nil }, "Addresses must be those of 3 agents; their number: 0"},
		{func(c *Config) { c.Identity = ids[0] }, "must be the certificate of agent 1; it is that of agent 0"},
		{func(c *Config) { c.MaxFloats = -1 }, "MaxFloats must be 1 to 268435452; it is -1"},
		{func(c *Config) { c.MaxFloats = 1 << 28 }, "MaxFloats must be 1 to 268435452; it is 268435456"},
		{func(c *Config) { c.Addresses[1] = "no.such.name.invalid:1" }, "no.such.name.invalid:1 is on another machine"},
		{func(c *Config) { c.Addresses[1], c.Identity = "no.such.name.invalid:1", ids[1] }, ""},
		{func(c *Config) { c.Addresses[1] = "" }, ""},
		{func(c *Config) { c.Addresses[1], c.Addresses[0] = "", "10.0.0.2:1" }, "10.0.0.2:1 is on another machine"},
		{func(c *Config) { c.Addresses[1], c.Addresses[2] = "", "" },
			"agents 1 and 2 are neighbours, and neither has an address: there must be a relay, and certificates"},
		{func(c *Config) { c.Addresses[1], c.Addresses[0], c.Relay = "", "", "relay:1" },
			"agents 0 and 1 are neighbours, and neither has an address"},
		{func(c *Config) { c.Addresses[1], c.Addresses[0], c.Relay, c.Identity = "", "", "relay:1", ids[1] }, ""},
		{func(c *Config) { c.Addresses[0], c.Addresses[2] = "", "" }, ""},
		{func(c *Config) { c.Addresses[2] = "10.0.0.2:1" },
			"10.0.0.2:1 is on another machine and agent 1 has no certificate: Identity or Insecure must be set"},
		{func(c *Config) { c.Addresses[1] = ":1" }, "agent 1: :1 is on another machine"},
		{func(c *Config) { c.Listener = everywhere }, "which other machines reach, and has no certificate"},
		{func(c *Config) { c.Addresses[2], c.Listener, c.Insecure = "10.0.0.2:1", everywhere, true }, ""},
		{func(c *Config) { c.Addresses[2], c.Listener, c.Identity = "10.0.0.2:1", everywhere, ids[1] }, ""},
		{func(c *Config) { c.Addresses[0] = "what agent 1 does not use" }, ""},
	} {
		config := Config{Agent: 1, Matrix: w, Run: "run", Addresses: []string{"127.0.0.1:1", "localhost:2", "[::1]:3"}}
		c.change(&config)
		config = config.withDefaults()
		testkit.WantError(t, "settings", config.validate(), dsbo.ErrConfig, c.want)
	}
}

// TestDefaults: a meeting lasts for twice as long as an agent may be absent, at least.
func TestDefaults(t *testing.T) {
	for _, c := range []struct{ absent, peer, want time.Duration }{
		{0, 0, 20 * time.Minute},
		{0, time.Minute, time.Minute},
		{10 * time.Minute, time.Minute, 20 * time.Minute},
		{time.Hour, 0, 2 * time.Hour},
	} {
		if got := (Config{AbsentAfter: c.absent, PeerTimeout: c.peer}).withDefaults().PeerTimeout; got != c.want {
			t.Errorf("%+v: PeerTimeout is %v", c, got)
		}
	}
	c := Config{}.withDefaults()
	if c.SilentAfter != 5*time.Second || c.Heartbeat != 500*time.Millisecond || c.Grace != 10*time.Second ||
		c.ComputeTimeout != 24*time.Hour || c.MaxFloats != 1<<24 {
		t.Errorf("the defaults are %+v", c)
	}
}
