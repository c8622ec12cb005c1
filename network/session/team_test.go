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
			// a busy machine must have time for all of them: who is late begins no session
			cs[i].Heartbeat, cs[i].SilentAfter = time.Duration(4*len(cs)+4)*time.Millisecond, time.Minute
		}
		agents[i] = testkit.Get(Open(cs[i]))
	}
	for !openAll(agents, sessions) {
		endAll(sessions)
	}
	for _, s := range sessions {
		teams = append(teams, s)
	}
	return teams, func() {
		endAll(sessions)
		testkit.OK(errors.Join(networktest.RunAll(len(cs), func(i int) error { return agents[i].Close() })...))
	}
}

// openAll has agents enter a session, and reports whether all have: on a busy machine some may be
// late, which ends it.
func openAll(agents []*Agent, sessions []*Session) bool {
	err := errors.Join(networktest.RunAll(len(agents), func(i int) error {
		sessions[i] = testkit.Get(agents[i].Next(context.Background()))
		_, err := sessions[i].gatherFlags(context.Background(), false)
		return err
	})...)
	if over := new(register.Over); err != nil && !errors.As(err, &over) {
		panic(err)
	}
	return err == nil
}

// endAll ends all agents' sessions at once, so that nobody hears of another one's end first.
func endAll(sessions []*Session) {
	for _, s := range sessions {
		s.x.mu.Lock()
		s.x.end(&register.Over{Session: s.Number, Why: "it stops", Cause: network.ErrClosed})
		s.x.mu.Unlock()
	}
}

// TestTeam: sessions pass the suite of all transports, with and without certificates.
func TestTeam(t *testing.T) {
	for name, protected := range map[string]bool{"certificates": true, "plain": false} {
		t.Run(name, func(t *testing.T) {
			networktest.TestTeam(t, 1, testkit.Sized(4, 5, 16), func(w *network.Matrix) ([]network.Team, func()) {
				if protected {
					return openTeams(configs(w, identities(w.N())))
				}
				return openTeams(configs(w, nil))
			})
		})
	}
}
