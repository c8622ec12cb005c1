package grpc

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/grpc/masks"
	"dsbo/network/networktest"
	"dsbo/network/pki"
)

// site is the folder of an agent that made its own key; renewed returns its identity with another
// certificate for it.
type site struct {
	folder  string
	request *pki.Request
}

func newSite(t *testing.T, agent int) site {
	folder := t.TempDir()
	return site{folder, testkit.Get(pki.MakeRequest(folder, agent))}
}

// renewed returns the site's identity with a new certificate of an authority, which is valid as
// long as that.
func (s site) renewed(a *pki.Authority, valid time.Duration) *pki.Identity {
	now := time.Now()
	path := s.folder + "/" + pki.Name(s.request.Agent) + ".pem"
	cert := testkit.Get(a.Grant(s.request, now.Add(-time.Hour), now.Add(valid), testRuns...))
	testkit.OK(pki.ReplaceCertificate(path, cert))
	testkit.OK(a.PutCertificate(s.folder))
	return testkit.Get(pki.Load(s.folder, s.request.Agent, now))
}

// TestRenew: agents whose certificates are renewed while they sum connect again, with the new ones,
// and no number changes. One that comes later gets keys with certificates of its time.
func TestRenew(t *testing.T) {
	const n, before, after = 3, 5, 5
	a := newAuthority()
	sites := [n]site{}
	ids := make([]*pki.Identity, n)
	for i := range sites {
		sites[i] = newSite(t, i)
		ids[i] = sites[i].renewed(a, 10*time.Minute)
	}
	ms, closeAll := open(configs(newGraph("path", n), ids))
	defer closeAll()
	ctx := networktest.Context(t)
	sums := func(times int) func(int, *Mixer) error {
		return func(i int, m *Mixer) error {
			for range times {
				words := wordsOf(i, 40, 100)
				if err := m.Reduce(ctx, network.Sum, 40, words); err != nil {
					return err
				}
				if want := combined(network.Sum, n, 40, 100); !bytes.Equal(network.PackWords(nil, 40, words),
					network.PackWords(nil, 40, want)) {
					return errors.New("the sum is another one")
				}
			}
			return nil
		}
	}
	succeed(ms, sums(before))
	var renewing sync.WaitGroup
	for i, m := range ms {
		renewing.Go(func() { testkit.OK(m.Renew(sites[i].renewed(a, 20*time.Minute))) })
	}
	succeed(ms, sums(after))
	renewing.Wait()
	again := func(m *Mixer) bool {
		return !slices.ContainsFunc(m.Status().Neighbours, func(n Neighbour) bool { return n.Connects < 2 })
	}
	for slices.ContainsFunc(ms, func(m *Mixer) bool { return !again(m) }) { // or ctx ends, and a sum fails
		succeed(ms, sums(1))
	}
	succeed(ms, func(i int, m *Mixer) error { return m.Drain(ctx) })
}

// TestRenewedKeySpreads: a key whose certificate is valid longer takes the place of the one before,
// and no other does.
func TestRenewedKeySpreads(t *testing.T) {
	s := newSite(t, 0)
	m, _ := pathAgent(func(config *Config) { *config = keyConfig(self, certificate(self)) })
	path := filepath.Join(t.TempDir(), "masks.bin")
	frame := func(valid time.Duration) []byte {
		c := keyConfig(0, s.renewed(ca(), valid))
		masking := c.masking()
		masking.Ledger = testkit.Get(masks.OpenLedger(path)) // with one nonce
		return ownFrame(testkit.Get(masks.New(masking, c.Identity)))
	}
	first, shorter, longer := frame(30*time.Minute), frame(10*time.Minute), frame(40*time.Minute)
	stream := attached(m, 0, 0, 0)
	for _, f := range [][]byte{first, shorter, longer, first} {
		deliver(stream, f)
	}
	other := attached(m, 2, 0, 0)
	wantSent(t, other, "key 1/0, key 0/0")
	if last := m.keys.Published()[len(m.keys.Published())-1]; !bytes.Equal(last.Text, decoded(longer).text) {
		t.Error("the key that is passed on must be that with the certificate that is valid longest")
	}
	testkit.OK(m.err)
}

// TestRenewRefused: what is no renewal leaves all as it was.
func TestRenewRefused(t *testing.T) {
	for _, c := range []struct {
		now, next *pki.Identity
		want      string
	}{
		{certificate(self), issue(ca(), self, time.Hour), "the key of agent-1 must stay the same during a run"},
		{certificate(self), certificate(0), "the certificate must be that of agent 1; it is that of agent 0"},
		{nil, certificate(self), "agent 1 began without a certificate"},
	} {
		m, _ := pathAgent(func(config *Config) { *config = keyConfig(self, c.now) })
		before := m.identity()
		testkit.WantError(t, "no renewal", m.Renew(c.next), dsbo.ErrConfig, c.want)
		if m.identity() != before {
			t.Error("the identity is another one")
		}
	}
}

// TestExpiredConnection: a connection ends when a certificate of it expires.
func TestExpiredConnection(t *testing.T) {
	m, _ := pathAgent(nil)
	s := attached(m, 0, 0, 0)
	s.expires = time.Now().Add(time.Hour)
	if m.heartbeat(); s.reason != nil {
		t.Errorf("%v before its time", s.reason)
	}
	s.expires = time.Now().Add(-time.Second)
	if m.heartbeat(); s.reason != errExpired {
		t.Errorf("it ends with %v; it must end with %v", s.reason, errExpired)
	}
	ids := identities(2)
	ms, closeAll := open(configs(newGraph("path", 2), ids))
	defer closeAll()
	succeed(ms, func(_ int, m *Mixer) error { return networktest.MixZeros(networktest.Context(t), m, 1, 1) })
	for _, m := range ms {
		m.mu.Lock()
		if got, want := m.neighbours.edges[0].session.expires.Unix(), ids[0].Expires().Unix(); got != want {
			t.Errorf("the connection is valid until %d; it must be %d", got, want)
		}
		m.mu.Unlock()
	}
}
