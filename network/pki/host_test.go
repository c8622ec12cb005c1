package pki

import (
	"crypto/tls"
	"errors"
	"net"
	"testing"
	"time"

	"dsbo/internal/testkit"

	"dsbo"
)

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
