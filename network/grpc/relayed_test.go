package grpc

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"dsbo/internal/testkit"
	"dsbo/network/networktest"
	"dsbo/network/pki"
	"dsbo/network/relay"
)

// relayed takes the addresses of all agents but 0, 3, 6, ... away, with a relay of the authority's
// agents between those without, and returns what stops it.
func relayed(t *testing.T, cs []Config) ([]Config, func()) {
	l := listen()
	for i := range cs {
		cs[i].Relay = l.Addr().String()
		if i%3 > 0 {
			testkit.OK(cs[i].Listener.Close())
			cs[i].Listener, cs[i].Addresses[i] = nil, "" // the same slice for all agents
		}
	}
	return cs, serveRelay(t, l)
}

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

// TestRelayed: agents with and without addresses sum the same numbers, also when the relay is lost
// and comes back in between.
func TestRelayed(t *testing.T) {
	const n, times = 6, 40
	ctx, w := networktest.Context(t), newGraph("ring", n)
	cs, stop := relayed(t, configs(w, identities(n)))
	ms, closeAll := open(cs)
	defer closeAll()
	mix := func(i int, m *Mixer) error { return networktest.MixZeros(ctx, m, times, 3) }
	succeed(ms, mix)
	stop()
	l := testkit.Get(net.Listen("tcp", cs[0].Relay))
	defer serveRelay(t, l)()
	succeed(ms, mix)
	want := networktest.Product(w, [][]float64{{1}, {2}, {3}, {4}, {5}, {6}})
	got := make([][]float64, n)
	succeed(ms, func(i int, m *Mixer) error {
		got[i] = []float64{0}
		return m.Mix(ctx, got[i], []float64{float64(i + 1)})
	})
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("mixed to %v, want %v", got, want)
	}
	for _, e := range [][2]int{{1, 2}, {2, 1}, {4, 5}} {
		if s := neighbour(ms[e[0]], e[1]); s.Connects < 2 {
			t.Errorf("agents %v have connected %d times; the relay was lost in between", e, s.Connects)
		}
	}
	if s := neighbour(ms[3], 2); s.Connects != 1 {
		t.Errorf("agents 2 and 3 have connected %d times; they need no relay", s.Connects)
	}
	succeed(ms, func(_ int, m *Mixer) error { return m.Drain(ctx) })
}

func neighbour(m *Mixer, agent int) Neighbour {
	all := m.Status().Neighbours
	return all[slices.IndexFunc(all, func(n Neighbour) bool { return n.Agent == agent })]
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
