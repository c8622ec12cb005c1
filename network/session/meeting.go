package session

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"dsbo"
	"dsbo/internal/wording"
	"dsbo/network"
	"dsbo/network/register"
)

// A council is the agents of a run while they meet, as one of them knows them: a state machine
// without input and output, whose time is given.
type council struct {
	agent  int           // whose view it is
	beat   time.Duration // between two heartbeats
	absent time.Duration // after which the other agents continue without an agent; 0: never

	heard     map[int]time.Time    // when each agent was heard last, through whomever; from the beginning on
	here      map[int]presence     // of agents present
	finals    map[int]bool         // agents that know the result to be final; true: of all, too
	broken    map[[2]int]time.Time // edges that are down, since when
	highest   uint64               // number of a session that was heard of
	since     time.Time            // when the meeting began
	notBefore time.Time            // no proposal is due
	proposal  *proposal            // this agent's; nil: there is none
	tries     int                  // proposals of this agent in the meeting
	blocked   string               // why nobody can propose; "": somebody can
	wait      string               // why the last proposal has led to no session here; "": it has
	logged    string               // newReason's last result
	away      []int                // who the meeting waits for
	lacks     bool                 // this agent knows that the result is final, and lacks it
}

// A presence is an agent's last announcement of itself.
type presence struct {
	at    time.Time
	links []int // neighbours that it is connected to
	busy  bool  // it still computes, and cannot join
	lacks bool  // it knows that the result is final, and lacks it
}

// A proposal is one of this agent, with the answers that have come.
type proposal struct {
	number  uint64
	from    []int // who is to answer
	answers []register.Answer
	at      time.Time
}

// A roster is who may take part in a run, and who must be there.
type roster struct {
	agents []int
	edges  [][2]int
	quorum int
}

const (
	// presentBeats is the number of heartbeats after its last message for which an agent counts as
	// present.
	presentBeats = 3
	// answerBeats is the number of heartbeats after which a proposal is repeated, doubled each time
	// up to mostDoublings times: a disk may take longer than any heartbeat to keep a promise.
	answerBeats   = 4
	mostDoublings = 6
)

func newCouncil(agent int, beat, absent time.Duration, now time.Time) *council {
	return &council{agent: agent, beat: beat, absent: absent, heard: map[int]time.Time{}, here: map[int]presence{},
		finals: map[int]bool{}, broken: map[[2]int]time.Time{}, since: now}
}

// begin begins a meeting: the members of the session before count as heard.
func (c *council) begin(now time.Time, members []int) {
	for _, i := range members {
		c.heard[i] = now
	}
	clear(c.here)
	clear(c.broken)
	c.proposal, c.tries, c.since = nil, 0, now
	c.notBefore = now.Add(2 * c.beat) // so that all have announced themselves, with their links
}

// receive updates the presence of a message's sender.
func (c *council) receive(m message, now time.Time) {
	c.heard[m.From] = now
	switch m.Subject {
	case isHere:
		c.here[m.From] = presence{now, m.Links, m.Busy, m.Lacks}
	case final:
		c.finals[m.From] = c.finals[m.From] || m.Known
		delete(c.here, m.From)
	}
}

// isHere reports whether an agent was heard in the last heartbeats.
func (c *council) isHere(agent int, now time.Time) bool {
	p, is := c.here[agent]
	return is && now.Sub(p.at) < presentBeats*c.beat
}

// needy returns an agent that is present and lacks the result, which is known to be final; -1:
// there is none.
func (c *council) needy(now time.Time) int {
	for i, p := range c.here {
		if p.lacks && c.isHere(i, now) {
			return i
		}
	}
	return -1
}

// allKnow reports whether members have announced that the result is final or, with ofAll, that they
// know this of all, and no agent present may lack it; an agent present will soon announce one or
// the other.
func (c *council) allKnow(members []int, ofAll bool, now time.Time) bool {
	for i := range c.here {
		if i != c.agent && c.isHere(i, now) {
			return false
		}
	}
	return !slices.ContainsFunc(members, func(i int) bool {
		knowsOfAll, knows := c.finals[i]
		return !knows || ofAll && !knowsOfAll
	})
}

// expects reports whether the next session waits for an agent that was heard.
func (c *council) expects(agent int, now time.Time) bool {
	heard, known := c.heard[agent]
	return known && now.Sub(heard) < c.absent
}

// electors returns to whom this agent is to propose a session, itself among them; nil: it is to
// propose none, as agents or edges are waited for, another agent is the lowest present, or its last
// proposal may still be answered. It notes why nobody can.
func (c *council) electors(now time.Time, links []int, r roster) (present []int) {
	c.here[c.agent] = presence{at: now, links: links, lacks: c.lacks}
	c.away = nil
	for _, i := range r.agents {
		last, known := c.heard[i]
		if !known { // its absence counts from the first meeting on
			c.heard[i], last = now, now
		}
		switch {
		case i == c.agent || c.isHere(i, now):
			present = append(present, i)
		case c.absent == 0 || now.Sub(last) < c.absent:
			c.away = append(c.away, i)
		}
	}
	down := c.edgesDown(now, present, r.edges)
	c.blocked = ""
	switch {
	case len(present) < r.quorum && len(c.away) == 0:
		c.blocked = fmt.Sprintf("%s must be here for a session; agents %s are", wording.Count(r.quorum, "agent"),
			wording.List(present))
	case len(c.away) > 0:
		c.blocked = "waits for agent " + wording.List(c.away)
	case len(down) > 0:
		c.blocked = fmt.Sprintf("waits for a connection between agents %d and %d", down[0][0], down[0][1])
	}
	if c.blocked != "" || slices.Min(present) != c.agent || c.awaitsAnswers(now) || now.Before(c.notBefore) {
		return nil
	}
	return present
}

// postpone notes why answers lead to no session: the next proposal is due later.
func (c *council) postpone(wait string, now time.Time) {
	c.wait, c.notBefore = wait, now.Add(answerBeats*c.beat)
}

// waitsFor is why no session can begin; "": one can, or is under way.
func (c *council) waitsFor() string { return cmp.Or(c.blocked, c.wait) }

// newReason returns the reason, if it has changed.
func (c *council) newReason() (reason string, changed bool) {
	reason = c.waitsFor()
	changed = reason != c.logged && reason != ""
	c.logged = reason
	return reason, changed
}

// hasMissedTheEnd reports whether other agents had the result as final, and none of them is present
// any more.
func (c *council) hasMissedTheEnd(now time.Time) bool {
	for i, at := range c.heard {
		if i != c.agent && now.Sub(at) < presentBeats*c.beat {
			return false
		}
	}
	return len(c.finals) > 0
}

// silence is the error of a meeting that led to no session: it names the agents that were silent
// throughout, or else the agents waited for.
func (c *council) silence(now time.Time, agents []int, lines map[int]*line) error {
	e := &network.SilentError{Silent: now.Sub(c.since).Round(time.Second)}
	for _, i := range agents {
		if i != c.agent && !c.heard[i].After(c.since.Add(presentBeats*c.beat)) {
			e.Processes = append(e.Processes, fmt.Sprintf("agent %d", i))
		}
		if l := lines[i]; l != nil && l.lastErr != nil {
			e.Last = l.lastErr
		}
	}
	if e.Processes == nil {
		return dsbo.Errorf(dsbo.ErrPeer, "no session for %v: %s", e.Silent, c.waitsFor())
	}
	return e
}

// awaitsAnswers reports whether this agent's proposal may still be answered by all.
func (c *council) awaitsAnswers(now time.Time) bool {
	p := c.proposal
	if p == nil {
		return false
	}
	wait := answerBeats * c.beat << min(c.tries-1, mostDoublings)
	hasLost := func(i int) bool { return i != c.agent && !c.isHere(i, now) }
	return now.Sub(p.at) < wait && !slices.ContainsFunc(p.from, hasLost)
}

// edgesDown returns the edges between present agents that not both ends report as up, and that have
// not been down for long enough to continue without them.
func (c *council) edgesDown(now time.Time, present []int, edges [][2]int) (down [][2]int) {
	for _, e := range edges {
		a, b := c.here[e[0]], c.here[e[1]]
		both := slices.Contains(present, e[0]) && slices.Contains(present, e[1])
		if !both || slices.Contains(a.links, e[1]) && slices.Contains(b.links, e[0]) {
			delete(c.broken, e)
			continue
		}
		since, known := c.broken[e]
		if !known {
			c.broken[e], since = now, now
		}
		if c.absent == 0 || now.Sub(since) < c.absent {
			down = append(down, e)
		}
	}
	return down
}

func (c *council) propose(number uint64, from []int, now time.Time) {
	c.proposal = &proposal{number: number, from: from, at: now}
	c.tries++
}

// collect takes an answer to this agent's proposal, and returns all once they are here.
func (c *council) collect(a register.Answer) []register.Answer {
	p := c.proposal
	if p == nil || a.Number != p.number || !slices.Contains(p.from, a.Agent) ||
		slices.ContainsFunc(p.answers, func(b register.Answer) bool { return b.Agent == a.Agent }) {
		return nil
	}
	if p.answers = append(p.answers, a); len(p.answers) < len(p.from) {
		return nil
	}
	c.proposal = nil
	return p.answers
}
