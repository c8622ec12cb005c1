package grpc_test

import (
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"dsbo/network"
	"dsbo/network/grpc"
	"dsbo/network/networktest"
	"dsbo/pki"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// identities returns certificates of n agents.
func identities(tb testing.TB, n int) []*pki.Identity {
	tb.Helper()
	now := time.Now()
	a, err := pki.NewAuthority("test", now.Add(-time.Hour), now.Add(time.Hour))
	if err != nil {
		tb.Fatal(err)
	}
	ids := make([]*pki.Identity, n)
	for i := range ids {
		if ids[i], err = a.Issue(i, now.Add(-time.Hour), now.Add(time.Hour)); err != nil {
			tb.Fatal(err)
		}
	}
	return ids
}

// configs returns settings of all agents of w on this machine.
func configs(tb testing.TB, w *network.Matrix, ids []*pki.Identity) []grpc.Config {
	tb.Helper()
	cs := make([]grpc.Config, w.N())
	addresses := make([]string, w.N())
	for i := range cs {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			tb.Fatal(err)
		}
		addresses[i] = l.Addr().String()
		cs[i] = grpc.Config{Agent: i, Matrix: w, Run: "test", Hash: "0", Addresses: addresses, Listener: l}
		if ids != nil {
			cs[i].Identity = ids[i]
		}
	}
	return cs
}

// open starts the agents and returns what closes them.
func open(tb testing.TB, cs []grpc.Config) ([]*grpc.Mixer, func()) {
	tb.Helper()
	ms := make([]*grpc.Mixer, len(cs))
	for i, c := range cs {
		m, err := grpc.Open(c)
		if err != nil {
			tb.Fatal(err)
		}
		ms[i] = m
	}
	return ms, func() {
		for i, err := range together(ms, func(_ int, m *grpc.Mixer) error { return m.Close() }) {
			if err != nil {
				tb.Errorf("agent %d: %v", i, err)
			}
		}
	}
}

// together has each agent do something at the same time, and returns their errors.
func together(ms []*grpc.Mixer, do func(i int, m *grpc.Mixer) error) []error {
	errs := make([]error, len(ms))
	var wg sync.WaitGroup
	for i, m := range ms {
		wg.Go(func() { errs[i] = do(i, m) })
	}
	wg.Wait()
	return errs
}

// succeed is together for what must not fail. It ends the test if it does.
func succeed(tb testing.TB, ms []*grpc.Mixer, do func(i int, m *grpc.Mixer) error) {
	tb.Helper()
	if err := errors.Join(together(ms, do)...); err != nil {
		tb.Fatal(err)
	}
}

func TestConforms(t *testing.T) {
	ids := identities(t, 16)
	for _, c := range []struct {
		name string
		ids  []*pki.Identity
	}{{"tls", ids}, {"plain", nil}} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && c.ids == nil {
				t.Skip("the same with less in between")
			}
			networktest.TestTeam(t, func(w *network.Matrix) ([]network.Team, func()) {
				ms, closeAll := open(t, configs(t, w, c.ids))
				teams := make([]network.Team, len(ms))
				for i, m := range ms {
					teams[i] = m
				}
				return teams, closeAll
			})
		})
	}
}
