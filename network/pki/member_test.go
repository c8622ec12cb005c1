package pki_test

import (
	"crypto/x509"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network/pki"
)

// TestInRun: the certificates of one authority are good for the runs that they name, and for those
// that pin their keys; whatever the run, a pinned key lets no other one in.
func TestInRun(t *testing.T) {
	a := authority(t, "consortium")
	issue := func(agent int, runs ...string) *pki.Identity {
		return testkit.Get(a.Issue(agent, start, end, runs...))
	}
	leaf := func(id *pki.Identity) *x509.Certificate {
		return testkit.Get(x509.ParseCertificates(id.Certificate()))[0]
	}
	one, both, none := issue(1, "A"), issue(1, "A", "B/2 %"), issue(1)
	pin := []string{"", pki.KeyDigest(leaf(none))}
	for _, c := range []struct {
		name string
		peer *pki.Identity
		run  string
		keys []string
		want string // "" where the peer is of the run
	}{
		{"named", one, "A", nil, ""},
		{"another run", one, "B/2 %", nil, `must name run "B/2 %"`},
		{"a run of two", both, "B/2 %", nil, ""},
		{"no run", none, "A", nil, `must name run "A"`},
		{"a part of a name", one, "", nil, `must name run ""`},
		{"pinned", none, "A", pin, ""},
		{"named, and another key pinned", one, "A", pin, "the key of agent-1 must be the one that the run has for it"},
		{"a key of another agent pinned", one, "A", pin[:1], ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			own := testkit.Get(issue(0, c.run).InRun(c.run, c.keys))
			_, err := own.Peer([]*x509.Certificate{leaf(c.peer)})
			testkit.WantError(t, "a connection", err, nil, c.want)
			message := []byte("test: a message")
			err = own.Verify(1, c.peer.Certificate(), message, testkit.Get(c.peer.Sign(message)), now)
			testkit.WantError(t, "a signature", err, nil, c.want)
			_, err = c.peer.InRun(c.run, c.keys)
			testkit.WantError(t, "its own", err, dsbo.ErrConfig, c.want)
		})
	}
	renewed := testkit.Get(a.Renew(leaf(both), start, end))
	if got := pki.RunsOf(renewed); len(got) != 2 || got[1] != "B/2 %" {
		t.Errorf("a renewed certificate names %q; it must name the runs of the one before", got)
	}
}
