package session

import (
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"dsbo/internal/testkit"
	"dsbo/network"
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
