package session

import (
	"context"
	"errors"
	"testing"
	"time"

	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/networktest"
	"dsbo/network/register"
)

// openTeams starts all agents of w and returns their ends of a session, and what closes them.
func openTeams(cs []Config) (teams []network.Team, closeAll func()) {
	agents := make([]*Agent, len(cs))
	sessions := make([]*Session, len(cs))
	for i := range cs {
		if cs[i].Store == nil {
			cs[i].Store = toyStore{new(toyDisk), new(bool)}
		}
		if cs[i].Heartbeat == 0 {
			cs[i].Heartbeat, cs[i].SilentAfter = 20*time.Millisecond, time.Minute
		}
		agents[i] = testkit.Get(Open(cs[i]))
	}
	testkit.OK(errors.Join(networktest.RunAll(len(cs), func(i int) (err error) {
		ctx := context.Background()
		if sessions[i], err = agents[i].Next(ctx); err == nil {
			err = sessions[i].Join(ctx, nil)
		}
		return err
	})...))
	for _, s := range sessions {
		teams = append(teams, s)
	}
	return teams, func() {
		for _, s := range sessions { // all at once: nobody hears of another one's end first
			s.x.mu.Lock()
			s.x.end(&register.Over{Session: s.Number, Why: "it stops", Cause: network.ErrClosed})
			s.x.mu.Unlock()
		}
		testkit.OK(errors.Join(networktest.RunAll(len(cs), func(i int) error { return agents[i].Close() })...))
	}
}

// TestTeam: sessions pass the suite of all transports, with and without certificates.
func TestTeam(t *testing.T) {
	for name, protected := range map[string]bool{"certificates": true, "plain": false} {
		t.Run(name, func(t *testing.T) {
			most := 16
			if protected || testing.Short() {
				most = 5
			}
			networktest.TestTeam(t, 1, most, func(w *network.Matrix) ([]network.Team, func()) {
				if protected {
					return openTeams(configs(w, identities(w.N())))
				}
				return openTeams(configs(w, nil))
			})
		})
	}
}
