package register

import (
	"fmt"
	"maps"
	"time"

	"dsbo/network/membership"
)

// A State is what an agent has on its disk. It must be there before anything is sent that follows
// from it.
type State struct {
	Identity string         `json:"identity"`           // of the run and the agent
	Promised uint64         `json:"promised"`           // it takes part in no session below
	Last     uint64         `json:"last"`               // session that it has begun last
	Log      membership.Log `json:"log"`                // of that session
	Final    bool           `json:"final"`              // a quorum has the result
	Known    bool           `json:"known,omitzero"`     // all members of the last session know that it is final
	Attempts attempts       `json:"attempts"`           // at one point
	Tags     map[int]string `json:"tags,omitempty"`     // of the agents' data in the sessions so far, by agent
	Removals map[int]string `json:"removals,omitempty"` // texts, by agent
}

const (
	// maxNumber is the largest number of a session.
	maxNumber = 1 << 62
	// mostAhead is by how much a number may be above what an agent has promised: no member can
	// use up the numbers.
	mostAhead = 1 << 32
)

// proposerOf returns the agent that proposes the session of a number.
func proposerOf(number uint64) int { return int(number % membership.MaxAgents) }

// Next returns a number for a proposal of an agent, above what it has promised and what it has
// heard that others have. No other agent proposes that number.
func (s *State) Next(heard uint64, agent int) uint64 {
	above := s.Promised
	if heard > above && s.Accepts(heard) {
		above = heard
	}
	return (above/membership.MaxAgents+1)*membership.MaxAgents + uint64(agent)
}

// Accepts reports whether a number may be promised, as far as it is not too low. An agent that
// knows nothing, as its disk is lost, follows the others to any.
func (s *State) Accepts(number uint64) bool {
	return number <= maxNumber && (s.Promised == 0 || number < s.Promised+mostAhead)
}

// Promise promises a number, and reports whether it may: the number must be above all that were
// promised before. With true, and once s is on the disk, the agent ends its part in the session
// under way and answers.
func (s *State) Promise(number uint64) bool {
	if number <= s.Promised || !s.Accepts(number) {
		return false
	}
	s.Promised = number
	return true
}

// Begin makes x the agent's last session, and reports whether the agent may take part: x's number
// must be the promised one, and each session begins once. After true, the agent takes part once s
// is on the disk. A joining agent calls Begin only after the state that it takes over is on its
// disk: before, it would count towards a quorum without having the state.
func (s *State) Begin(x Session, agent int) bool {
	if s.Promised != x.Number || s.Last == x.Number {
		return false
	}
	removals := map[int]string{}
	maps.Copy(removals, s.Removals)
	maps.Copy(removals, x.Removals)
	s.Last, s.Log, s.Tags, s.Removals = x.Number, x.Log, maps.Clone(x.Tags), removals
	s.Attempts.addSession(x, agent)
	return true
}

// attempts are the newest sessions that began at one point without a change of an agent's process
// between them. A killed and restarted process ends the sequence only a bounded number of times for
// each agent, since only the agent itself identifies its processes.
type attempts struct {
	At        Point          `json:"at"`
	Instances map[int]uint64 `json:"instances,omitempty"` // of processes, by agent
	Restarts  map[int]int    `json:"restarts,omitempty"`  // changes of processes at the point, by agent
	Count     int            `json:"count"`
}

const (
	patientAttempts = 4  // after which an agent waits before it answers
	mostAttempts    = 50 // after which it gives up
	mostRestarts    = 50 // of another agent at one point, after which they are attempts too
)

// addSession counts a session that begins, for an agent: as 1 at another point than the one before,
// and after a process has changed, which may be why sessions broke off. Of another agent that
// counts mostRestarts times, as it could name a new process each time.
func (a *attempts) addSession(x Session, own int) {
	next := attempts{At: x.Begin, Instances: map[int]uint64{}, Restarts: map[int]int{}}
	if a.At == x.Begin {
		next.Count = a.Count
		maps.Copy(next.Instances, a.Instances)
		maps.Copy(next.Restarts, a.Restarts)
	}
	for agent, instance := range x.Instances {
		if before, known := next.Instances[agent]; known && before != instance {
			next.Restarts[agent]++
			if agent == own || next.Restarts[agent] <= mostRestarts {
				next.Count = 0
			}
		}
		next.Instances[agent] = instance
	}
	next.Count++
	*a = next
}

// Pause returns how long an agent waits before it answers the next proposal: nothing up to the
// fourth attempt, then 1 s, 2 s, 4 s and so on, and most at the most.
func (a attempts) Pause(most time.Duration) time.Duration {
	if a.Count <= patientAttempts {
		return 0
	}
	return min(most, time.Second<<min(a.Count-patientAttempts-1, 30)) // 2^30 s do not overflow
}

// Err returns an error once there were 50 attempts: what ends each session does not go away by
// itself.
func (a attempts) Err() error {
	if a.Count < mostAttempts {
		return nil
	}
	return fmt.Errorf("%d sessions have begun at one point, and each was broken off", a.Count)
}
