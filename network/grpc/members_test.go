package grpc

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/membership"
)

// TestLeaveAndReturn: two agents are lost at different moments, and the others go on without them;
// when they come back they are let in again.
func TestLeaveAndReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n, first, second = 6, 3, 5
		lost := func(log membership.Log) bool { return without(log, first) && without(log, second) }
		var v *town
		v = newTown(t, n, 4, func(z *citizen, m *Mixer, e membership.Epoch, k int) bool {
			log := z.changes()
			switch {
			case z.agent == first && k == 12 && !without(log, first), z.agent == second && k == 18 &&
				!without(log, second):
				z.powerOffUntil(m, v.left) // comes back when the others are without both
			case k == 26:
				return !lost(log) || len(e.Members) < n
			}
			return false
		})
		v.leaving = 2
		log := v.run(t)
		if !lost(log) || len(log.Last(n).Members) != n {
			t.Errorf("agents %d and %d must leave and return; the changes are\n%s", first, second, log.Bytes())
		}
	})
}

// TestFailedMember: the others go on without an agent that fails, and need not wait for as long as
// for one that is silent; when it comes back it is let in again.
func TestFailedMember(t *testing.T) {
	if testing.Short() {
		t.Skip("TestLeaveAndReturn loses members too")
	}
	synctest.Test(t, func(t *testing.T) {
		const n, failing = 6, 3
		var v *town
		v = newTown(t, n, 4, func(z *citizen, m *Mixer, e membership.Epoch, k int) bool {
			failed := without(z.changes(), failing)
			if z.agent == failing && k == 12 && !failed {
				began := time.Now()
				m.Fail(errKilled)
				testkit.OK(m.Close())
				z.host.PowerOff()
				<-v.left
				if took := time.Since(began); took > z.config.Membership.AbsentAfter/4 {
					t.Errorf("the others go on %v after the failure; they must at once", took)
				}
			}
			return k == 26 && (!failed || len(e.Members) < n)
		})
		v.leaving = 1
		if log := v.run(t); !without(log, failing) || len(log.Last(n).Members) != n {
			t.Errorf("agent %d must leave and return; the changes are\n%s", failing, log.Bytes())
		}
	})
}

// TestPartition: of two parts the one that has the quorum goes on, the other one waits and comes in
// again when the network is whole; where neither has it, both wait, and go on as if nothing
// had been.
func TestPartition(t *testing.T) {
	if testing.Short() {
		t.Skip("TestLeaveAndReturn loses members too")
	}
	for _, tt := range []struct{ below, on int }{{4, 4}, {2, 4}, {3, 0}} {
		t.Run(fmt.Sprintf("%d|%d", tt.below, 6-tt.below), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const n = 6
				var v *town
				parted, healed := false, false // by agent 0, or by time
				v = newTown(t, n, 4, func(z *citizen, m *Mixer, e membership.Epoch, k int) bool {
					z.town.mu.Lock()
					defer z.town.mu.Unlock()
					if k == 12 && !parted {
						parted = true
						v.part(tt.below)
						if tt.on == 0 {
							time.AfterFunc(2*time.Minute, func() { v.network.Cut(nil) })
						}
					}
					if k < 26 || tt.on == 0 {
						return false
					}
					if !healed {
						healed = true
						v.network.Cut(nil)
					}
					return len(e.Members) < n
				})
				log := v.run(t)
				switch {
				case tt.on == 0 && len(log) > 0:
					t.Errorf("neither half has the quorum; the changes are\n%s", log.Bytes())
				case tt.on > 0 && (len(log) < 2 || len(log[0].Members) != tt.on || len(log.Last(n).Members) != n):
					t.Errorf("%d agents must go on and the others return; the changes are\n%s", tt.on, log.Bytes())
				}
			})
		})
	}
}

// TestMembersThatCannotMix: a change is not made whose members cannot mix, here by lists of
// weights, which are of all agents. The others wait, say why, and go on as if nothing had been when
// the lost ones are back.
func TestMembersThatCannotMix(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n, firstLost = 5, 3
		said := make(chan struct{})
		v := newTown(t, n, 3, func(z *citizen, m *Mixer, _ membership.Epoch, k int) bool {
			switch {
			case z.agent >= firstLost && k == 12 && z.lives == 1:
				z.powerOffUntil(m, said)
			case z.agent == 0 && k == 0:
				go func() {
					const why = "epoch 1: a graph whose weights are lists has the same 5 agents always; it has 3"
					for range 1000 {
						if time.Sleep(time.Second); strings.Contains(m.Status().Waiting, why) {
							close(said)
							return
						}
					}
					t.Error("nobody says why all wait")
					close(said)
				}()
			}
			return false
		})
		v.w = testkit.Get(network.Sequence([][][]float64{newGraph("complete", n).Dense()}))
		for _, z := range v.citizens {
			z.config.Matrix = v.w
		}
		if log := v.run(t); len(log) > 0 {
			t.Errorf("agents 0, 1 and 2 cannot mix alone; the changes are\n%s", log.Bytes())
		}
	})
}

// TestFewMembers: an agent is not one of two members, who would have each other's terms, unless it
// may be: the others wait, say why, and go on with the lost one when it is back.
func TestFewMembers(t *testing.T) {
	for _, few := range []bool{false, true} {
		t.Run(fmt.Sprint(few), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const n, lost = 3, 2
				var v *town
				v = newTown(t, n, 2, func(z *citizen, m *Mixer, e membership.Epoch, k int) bool {
					switch {
					case z.agent == lost && k == 12 && z.lives == 1:
						m.kill()
						z.host.PowerOff()
						select {
						case <-v.left:
						case <-time.After(3 * time.Minute):
						}
					case k == 26:
						return few && (len(z.changes()) == 0 || len(e.Members) < n)
					}
					return false
				})
				v.w, v.leaving = newGraph("complete", n), 1
				for _, z := range v.citizens {
					z.config.Matrix, z.config.Membership.FewMembers = v.w, few
				}
				if log := v.run(t); few == (len(log) == 0) {
					t.Errorf("FewMembers is %t; the changes are\n%s", few, log.Bytes())
				}
			})
		})
	}
}
