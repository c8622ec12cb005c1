package session

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network/pki"
)

// TestRenew: agents whose certificates are renewed, with other keys, connect again with the new
// ones at once; who connects with the old one is told why it cannot.
func TestRenew(t *testing.T) {
	a := newAuthority()
	ids := []*pki.Identity{issue(a, 0, 10*time.Minute), issue(a, 1, 10*time.Minute)}
	hosts := openHosts(t, configs(newGraph("path", 2), ids))
	for i, h := range hosts {
		if got, want := h.conn(t, 1-i).expires.Unix(), ids[0].Expires().Unix(); got != want {
			t.Errorf("the connection is valid until %d; it must be %d", got, want)
		}
	}
	for i, h := range hosts {
		testkit.OK(h.links.renew(issue(a, i, 20*time.Minute)))
		h.await(t, "detach", errRenewed.Error())
		hosts[1-i].await(t, "detach")
		c := h.conn(t, 1-i)
		hosts[1-i].conn(t, i)
		if got, want := c.expires.Unix(), ids[0].Expires().Unix(); (got > want) != (i == 1) {
			t.Errorf("after %d renewals the connection is valid until %d, the first certificates until %d", i+1, got,
				want)
		}
	}
}

// TestRenewRefused: what is no renewal leaves all as it was.
func TestRenewRefused(t *testing.T) {
	own := certificate(self)
	pinned := []string{"", pki.KeyDigest(testkit.Get(pki.LoadCertificate(saved(t, own))))}
	for _, c := range []struct {
		now, next *pki.Identity
		keys      []string
		want      string
	}{
		{own, certificate(0), nil, "the certificate must be that of agent 1; it is that of agent 0"},
		{own, issue(ca(), self, time.Hour), pinned, "the key of agent-1 must be the one that the run has for it"},
		{own, testkit.Get(ca().Issue(self, dawn, dusk, "walk")), nil, `must name run "run"`},
		{nil, own, nil, "agent 1 began without a certificate"},
	} {
		config := Config{Agent: self, Matrix: newGraph("path", 3), Run: "run", Identity: c.now, Keys: c.keys,
			Addresses: []string{"127.0.0.1:1", "", "127.0.0.1:1"}}
		a := openHost(t, config)
		before := a.links.identity()
		testkit.WantError(t, "no renewal", a.links.renew(c.next), dsbo.ErrConfig, c.want)
		if a.links.identity() != before {
			t.Error("the identity is another one")
		}
	}
}

// saved returns the file of an identity's certificate.
func saved(t *testing.T, id *pki.Identity) string {
	folder := t.TempDir()
	testkit.OK(id.Save(folder))
	return folder + "/" + pki.Name(id.Agent) + ".pem"
}

// TestExpiry: a connection ends in the second in which a certificate of it expires, and is made
// again once that is renewed.
func TestExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cs, _ := virtual(newGraph("path", 2))
		cs[0].Identity = issue(ca(), 0, time.Hour)
		end := cs[0].Identity.Expires()
		hosts := openHosts(t, cs)
		c := hosts[0].conn(t, 1)
		hosts[1].conn(t, 0)
		time.Sleep(time.Until(end) - time.Second)
		select {
		case <-c.dropped.Done():
			t.Fatalf("the connection ended before its time: %v", context.Cause(c.dropped))
		default:
		}
		time.Sleep(2 * time.Second)
		hosts[0].await(t, "detach 1", errExpired.Error())
		hosts[1].await(t, "detach 0", errExpired.Error())
		hosts[0].await(t, "refused 1")
		testkit.OK(hosts[0].links.renew(certificate(0)))
		hosts[0].conn(t, 1)
		hosts[1].conn(t, 0)
	})
}
