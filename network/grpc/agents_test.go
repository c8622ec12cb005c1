package grpc

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"dsbo/ad/adtest"
	"dsbo/algo/algotest"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/networktest"
	"dsbo/network/pki"

	"go.uber.org/goleak"
)

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
// time of a test, also in a bubble of testing/synctest too.
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

// open starts the agents and returns what closes them.
func open(cs []Config) ([]*Mixer, func()) {
	ms := make([]*Mixer, len(cs))
	for i, c := range cs {
		ms[i] = testkit.Get(Open(c))
	}
	return ms, func() { succeed(ms, func(_ int, m *Mixer) error { return m.Close() }) }
}

// openAgents starts all agents of w, with certificates, until the test ends. change, if not nil,
// sets more.
func openAgents(tb testing.TB, w *network.Matrix, change func(c *Config)) []*Mixer {
	tb.Helper()
	cs := configs(w, identities(w.N()))
	for i := range cs {
		if change != nil {
			change(&cs[i])
		}
	}
	ms, closeAll := open(cs)
	tb.Cleanup(closeAll)
	return ms
}

// together has each agent do something at the same time, and returns their errors.
func together(ms []*Mixer, do func(i int, m *Mixer) error) []error {
	return networktest.RunAll(len(ms), func(i int) error { return do(i, ms[i]) })
}

// succeed is together for what must not fail. It ends the test if it does.
func succeed(ms []*Mixer, do func(i int, m *Mixer) error) {
	testkit.OK(errors.Join(together(ms, do)...))
}

// openTeams is open for the suites of teams.
func openTeams(cs []Config) (teams []network.Team, closeAll func()) {
	ms, closeAll := open(cs)
	for _, m := range ms {
		teams = append(teams, m)
	}
	return teams, closeAll
}

// TestMethods: all methods for several agents come to the bits of one process.
func TestMethods(t *testing.T) {
	if testing.Short() {
		t.Skip("TestSameBitsAsLocal has one method")
	}
	algotest.TestOverTeams(t, func(w *network.Matrix) ([]network.Team, func()) { return openTeams(configs(w, nil)) })
}

// TestConforms: agents of some graphs mask their sums, and agents of others do not. The suite's
// larger graphs are no wider than a complete one of 5 and no longer than a path of 5.
func TestConforms(t *testing.T) {
	most := 6
	if testing.Short() {
		most = 3
	}
	networktest.TestTeamOf(t, most, func(w *network.Matrix) ([]network.Team, func()) {
		var ids []*pki.Identity
		if w.N() <= 3 { // handshakes take their time
			ids = identities(w.N())
		}
		cs := configs(w, ids)
		for i := range cs {
			cs[i].Unmasked = w.N()%2 == 0
		}
		return openTeams(cs)
	})
}

// TestOnEveryPath: the exchange uses kernels where it weighs long vectors.
func TestOnEveryPath(t *testing.T) {
	adtest.Everywhere(t, "^TestSameBitsAsLocal$")
}
