package paxos

import (
	"fmt"
	"slices"
	"time"

	"dsbo/network/membership"
)

// A proposer has changes decided: in ballots of its own, of two phases each.
type proposer struct {
	*Node
	attempt  *attempt  // the ballot under way; nil: there is none
	highest  Ballot    // of all ballots that have come
	next     time.Time // of the next attempt; zero: none is due
	failures int       // attempts in a row
	waiting  string    // why the last attempts have led to nothing
	// apartSince is since when only edges are down, between members that answer; zero: they
	// are not.
	apartSince time.Time
	// since when no member has the state with which the epoch begins; zero: one has, as far as
	// is known
	lostSince time.Time
}

// An attempt is what a proposer knows of its own ballot.
type attempt struct {
	ballot  Ballot
	began   time.Time
	sent    time.Time          // when it last asked
	pause   time.Duration      // until it asks again
	answers map[int]Message    // promises, by agent
	change  *membership.Change // what is proposed; nil in the first phase
	again   bool               // it has had a vote before
	votes   map[int]bool
}

const (
	// attemptTimeouts is for how many times the patience the first attempt goes on without a
	// quorum. The next ones go on for longer: all may be slow.
	attemptTimeouts = 5
	// mostFailures bounds how often that doubles.
	mostFailures = 4
	// reportTimeouts is for how many times the patience what an agent said of itself counts.
	reportTimeouts = 4
	// cutTimeouts is for how many times the patience edges between members that answer must be down
	// before they are cut for that alone: a network that is whole again is so at one edge after
	// the other.
	cutTimeouts = 15
	// mostRank bounds the wait of agents with high numbers for those with lower ones, in halves of
	// the patience.
	mostRank = 4
)

// propose goes on with this agent's attempt, or begins one if there is a reason and others have had
// time to.
func (c *proposer) propose(now time.Time) error {
	switch {
	case !c.member():
		return nil
	case !c.lostSince.IsZero() && c.attempt == nil:
		return c.awaitLoss(now)
	case c.attempt != nil:
		return c.advance(now)
	case !c.needsChange(now):
		c.next, c.waiting, c.failures, c.apartSince = time.Time{}, "", 0, time.Time{}
		return nil
	case c.next.IsZero():
		rank, _ := c.epoch.Position(c.Agent)
		c.next = now.Add(time.Duration(min(rank, mostRank))*c.Patience/2 + c.spread(c.Patience/4))
	}
	if now.Before(c.next) {
		return nil
	}
	c.attempt = &attempt{ballot: Ballot{max(c.highest.Number, c.acceptor.vote.Promised.Number) + 1, c.Agent},
		began: now, sent: now, pause: c.Patience,
		answers: map[int]Message{}, votes: map[int]bool{}}
	c.send(Message{Kind: Prepare, To: All, Ballot: c.attempt.ballot})
	return nil
}

// needsChange reports whether there must be a change: a vote has been given whose outcome is not
// known, an edge between members is down, a member is slow, an agent asks to come in that may, or a
// member has lost its state.
func (c *proposer) needsChange(now time.Time) bool {
	if c.Voted() || c.acceptor.vote.Sealed {
		return c.Voted()
	}
	if len(c.newlyDown(c.Agent, c.seen.Down)) > 0 || len(c.seen.Blank) > 0 ||
		len(c.composer.stragglers(c.composer.lastSaid(now))) > 0 {
		return true
	}
	for agent, r := range c.reports {
		if now.Sub(r.at) > reportTimeouts*c.Patience {
			continue
		}
		if r.asks && (c.mayCome(agent) || c.isMember(agent)) || len(c.newlyDown(agent, r.down))+len(r.blank) > 0 {
			return true
		}
	}
	return false
}

// newlyDown returns the members, of those that a member does not hear, to which its edge is in use.
func (c *Node) newlyDown(agent int, down []int) (newly []int) {
	if !c.isMember(agent) {
		return nil
	}
	for _, j := range down {
		if c.isMember(j) && !slices.Contains(c.epoch.Cut, edgeOf(agent, j)) {
			newly = append(newly, j)
		}
	}
	return newly
}

// mayCome reports whether an agent that is no member may be one: it is of the roster, or admitted,
// and the quorum stays more than half.
func (c *Node) mayCome(agent int) bool {
	_, admitted := c.admitted[agent]
	return !c.isMember(agent) && agent < c.Agents() && (c.known(agent) || admitted)
}

// known reports whether an agent is of the roster: from the start, or because the log has edges
// of it.
func (c *Node) known(agent int) bool {
	return agent < c.Founders ||
		slices.ContainsFunc(c.epoch.Edges, func(e [2]int) bool { return e[0] == agent || e[1] == agent })
}

func edgeOf(i, j int) [2]int { return [2]int{min(i, j), max(i, j)} }

// countAnswer takes in an answer to this agent's proposal.
func (c *proposer) countAnswer(now time.Time, m Message) error {
	a := c.attempt
	if a == nil {
		return nil
	}
	switch {
	case m.Kind == Refuse:
		if m.Ballot.Compare(a.ballot) > 0 {
			c.highest.Number = max(c.highest.Number, m.Ballot.Number)
			c.giveUp(now, "")
		}
		return nil
	case m.Ballot != a.ballot:
		return nil
	case m.Kind == Promise && a.change == nil:
		a.answers[m.From] = m
	case m.Kind == Accepted && a.change != nil && c.isMember(m.From):
		a.votes[m.From] = true
	}
	return c.advance(now)
}

// advance takes the next step of an attempt, if it is time for it.
func (c *proposer) advance(now time.Time) error {
	a := c.attempt
	late := now.Sub(a.began)
	enough := (attemptTimeouts * c.Patience) << c.failures
	switch {
	case a.change != nil && len(a.votes) >= c.Quorum:
		c.attempt = nil
		c.send(Message{Kind: Decided, To: All, Change: a.change})
		return nil
	case a.change == nil && c.promises() >= c.Quorum && (c.complete(now) || late >= c.Absent):
		return c.choose(now)
	case late >= enough && (a.change != nil || c.promises() < c.Quorum):
		c.giveUp(now, c.noAnswer())
		return nil
	case now.Sub(a.sent) >= a.pause:
		a.sent, a.pause = now, min(2*a.pause, standStillTimeouts*c.Patience/2) // members that have promised stand still
		if a.change == nil {
			c.send(Message{Kind: Prepare, To: All, Ballot: a.ballot})
		} else {
			c.send(Message{Kind: Accept, To: All, Ballot: a.ballot, Change: a.change, Again: a.again})
		}
	}
	return nil
}

// noAnswer says why an attempt has no quorum.
func (c *proposer) noAnswer() string {
	var silent []int
	for _, i := range c.epoch.Members {
		if _, answered := c.attempt.answers[i]; !answered {
			silent = append(silent, i)
		}
	}
	return fmt.Sprintf("waiting for a quorum: %d of %d members must answer, and %d do; no answer from agents %s",
		c.Quorum, len(c.epoch.Members), c.promises(), list(silent))
}

// promises returns how many members have answered.
func (c *proposer) promises() int {
	count := 0
	for i := range c.attempt.answers {
		if c.isMember(i) {
			count++
		}
	}
	return count
}

// complete reports whether all have answered that can be expected to: the members and those that
// ask to come in to whom edges lead over which both ends hear each other, as far as is known.
func (c *proposer) complete(now time.Time) bool {
	down := map[[2]int]bool{}
	for agent, r := range c.reports {
		if now.Sub(r.at) > reportTimeouts*c.Patience {
			continue
		}
		for _, j := range r.down {
			down[edgeOf(agent, j)] = true
		}
		if _, answered := c.attempt.answers[agent]; r.asks && c.mayCome(agent) && !answered {
			return false
		}
	}
	connected := reached(slices.Concat(c.Edges, c.epoch.Edges), []int{c.Agent},
		func(i, j int) bool { return !down[edgeOf(i, j)] })
	return !slices.ContainsFunc(c.epoch.Members, func(i int) bool {
		_, answered := c.attempt.answers[i]
		return connected[i] && !answered
	})
}

// choose begins the second phase: with the change of the latest ballot that any answer has, or a
// new one.
func (c *proposer) choose(now time.Time) error {
	a := c.attempt
	var latest Message
	for _, m := range a.answers {
		if c.isMember(m.From) && m.Accepted.Compare(latest.Accepted) > 0 {
			latest = m
		}
	}
	a.change, a.again = latest.Change, latest.Change != nil
	if !a.again {
		if c.stateIsLost() {
			c.lostSince = now
			c.giveUp(now, c.lossOfState())
			return nil
		}
		change, problem := c.composer.compose(now)
		if change == nil {
			c.giveUp(now, problem)
			return nil
		}
		a.change = change
	}
	a.began, a.sent, a.pause = now, now, c.Patience
	c.send(Message{Kind: Accept, To: All, Ballot: a.ballot, Change: a.change, Again: a.again})
	return nil
}

// giveUp ends an attempt, and has the next one wait for a random time, longer after each. why says
// what it was that this agent waits for; "": another proposer, or nothing any more.
func (c *proposer) giveUp(now time.Time, why string) {
	a := c.attempt
	c.attempt = nil
	if a.change == nil {
		c.send(Message{Kind: Withdraw, To: All, Ballot: a.ballot})
	}
	c.waiting = why
	c.failures = min(c.failures+1, mostFailures)
	c.next = now.Add(c.Patience + c.spread(c.Patience<<c.failures))
}
