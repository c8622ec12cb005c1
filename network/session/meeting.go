package session

import (
	"fmt"
	"slices"
	"time"

	"dsbo/internal/wording"
	"dsbo/network/register"
)

// A council is the agents of a run while they meet, as one of them knows them: a state machine
// without input and output, whose time is given.
type council struct {
	agent  int
	beat   time.Duration
	absent time.Duration // after which the others go on without an agent; 0: they never do

	heard     map[int]time.Time // when each agent was heard last, through whomever; from the beginning on
	here      map[int]presence  // of those that are here
	broken    map[[2]int]time.Time
	highest   uint64    // number of a session that was heard of
	notBefore time.Time // no proposal is due
	proposal  *proposal // this agent's; nil: there is none
	tries     int       // proposals of this agent in the meeting
}

// A presence is what an agent has told of itself.
type presence struct {
	at    time.Time
	links []int // neighbours that it is connected to
	busy  bool  // it computes still, and cannot come in
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
	// presentBeats is for how many heartbeats an agent that was heard is here.
	presentBeats = 3
	// answerBeats is after how many heartbeats a proposal is made anew, twice as many after each one up
	// to mostDoublings times: a disk may take longer than any heartbeat to keep a promise.
	answerBeats   = 4
	mostDoublings = 6
)

// newCouncil returns a council that begins now.
func newCouncil(agent int, beat, absent time.Duration) *council {
	return &council{agent: agent, beat: beat, absent: absent, heard: map[int]time.Time{}, here: map[int]presence{},
		broken: map[[2]int]time.Time{}}
}

// begin begins a meeting: those of the session before count as heard.
func (c *council) begin(now time.Time, members []int) {
	for _, i := range members {
		c.heard[i] = now
	}
	clear(c.here)
	clear(c.broken)
	c.proposal, c.tries, c.notBefore = nil, 0, now.Add(2*c.beat)
}

// isHere reports whether an agent was heard in the last heartbeats.
func (c *council) isHere(agent int, now time.Time) bool {
	p, is := c.here[agent]
	return is && now.Sub(p.at) < presentBeats*c.beat
}

// hearsAnyone reports whether another agent was heard in the last heartbeats, whatever it told.
func (c *council) hearsAnyone(now time.Time) bool {
	for i, at := range c.heard {
		if i != c.agent && now.Sub(at) < presentBeats*c.beat {
			return true
		}
	}
	return false
}

// A turn is what an agent finds when it looks whether to propose a session.
type turn struct {
	mine    bool   // this agent proposes
	present []int  // who is here, this agent among them
	away    []int  // who is waited for
	wait    string // why no session can begin yet; "": one can
}

// look returns whether this agent is to propose a session, or why nobody can.
func (c *council) look(now time.Time, links []int, r roster) turn {
	c.here[c.agent] = presence{at: now, links: links}
	var t turn
	for _, i := range r.agents {
		last, known := c.heard[i]
		if !known {
			c.heard[i], last = now, now
		}
		switch {
		case i == c.agent || c.isHere(i, now):
			t.present = append(t.present, i)
		case c.absent == 0 || now.Sub(last) < c.absent:
			t.away = append(t.away, i)
		}
	}
	down := c.edgesDown(now, t.present, r.edges)
	switch {
	case len(t.present) < r.quorum && len(t.away) == 0:
		t.wait = fmt.Sprintf("%s must be here for a session; agents %s are", wording.Count(r.quorum, "agent"),
			wording.List(t.present))
	case len(t.away) > 0:
		t.wait = "waits for agent " + wording.List(t.away)
	case len(down) > 0:
		t.wait = fmt.Sprintf("waits for a connection between agents %d and %d", down[0][0], down[0][1])
	}
	t.mine = t.wait == "" && slices.Min(t.present) == c.agent && !c.awaitsAnswers(now) && !now.Before(c.notBefore)
	return t
}

// awaitsAnswers reports whether this agent's proposal may still be answered by all.
func (c *council) awaitsAnswers(now time.Time) bool {
	p := c.proposal
	return p != nil && now.Sub(p.at) < answerBeats*c.beat<<min(c.tries-1, mostDoublings) &&
		!slices.ContainsFunc(p.from, func(i int) bool { return i != c.agent && !c.isHere(i, now) })
}

// edgesDown returns the edges between agents that are here which not both ends report, and which
// have not been down for long enough to go on without them.
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

// propose notes a proposal of this agent.
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
