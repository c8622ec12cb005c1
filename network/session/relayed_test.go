package session

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"dsbo/internal/testkit"
	"dsbo/network/networktest"
	"dsbo/network/pki"
	"dsbo/network/relay"
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
	cs[0].Dial = relay.Dialer{Proxy: func(*url.URL) (*url.URL, error) { return address, nil }}.Dial
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
