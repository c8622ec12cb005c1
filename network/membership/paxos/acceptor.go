package paxos

import (
	"fmt"
	"slices"
	"time"

	"dsbo/network/membership"
)

// An acceptor answers the proposals of members with this agent's promise and vote, which are on
// disk before they are sent.
type acceptor struct {
	*Node
	vote Vote
	held time.Time // until when the agent stands still
}

// promise answers a member that proposes, with this agent's vote if it is a member.
func (c *acceptor) promise(now time.Time, m Message) error {
	c.noteBallot(now, m)
	answer := Message{Kind: Promise, To: m.From, Ballot: m.Ballot}
	if !c.member() {
		c.send(answer)
		return nil
	}
	if m.Ballot.Compare(c.vote.Promised) < 0 {
		c.send(Message{Kind: Refuse, To: m.From, Ballot: c.vote.Promised})
		return nil
	}
	if m.Ballot != c.vote.Promised {
		points, err := c.Records.Points()
		if err != nil {
			return fmt.Errorf("checkpoints: %w", err)
		}
		c.vote.Promised = m.Ballot
		c.retainPoints(points)
		if err := c.Records.SaveVote(c.vote); err != nil {
			return fmt.Errorf("the promise of ballot %+v: %w", m.Ballot, err)
		}
	}
	c.standStill(now)
	answer.Accepted, answer.Change, answer.Points = c.vote.Accepted, c.vote.Change, c.vote.Points
	c.send(answer)
	return nil
}

// retainPoints has the vote name checkpoints, of those that are there: all that it has named
// before, as a change that begins with one of them may still be decided, and of the others the
// newest that there is room for.
func (c *acceptor) retainPoints(there []Point) {
	if c.lost {
		there = nil
	}
	gone := func(p Point) bool { return !slices.Contains(there, p) }
	c.vote.Earlier = slices.DeleteFunc(slices.Clone(c.vote.Points), gone)
	c.vote.Points = nil
	room := maxPoints - len(c.vote.Earlier)
	for _, p := range there {
		if !slices.Contains(c.vote.Earlier, p) {
			if room--; room < 0 {
				continue
			}
		}
		c.vote.Points = append(c.vote.Points, p)
	}
}

// accept gives this agent's vote to a change, unless a later ballot has it. Of the checkpoints that
// were named those stay that this change, or one which a ballot before it has proposed, may begin
// with: that too may still be decided, by a later ballot that hears of its votes and not of
// this one.
func (c *acceptor) accept(now time.Time, m Message) error {
	c.noteBallot(now, m)
	if !c.member() {
		return nil
	}
	if m.Ballot.Compare(c.vote.Promised) < 0 || c.vote.Sealed && !m.Again && c.letsIn(m.Change) ||
		append(c.log, *m.Change).Validate(c.Founders, c.Quorum) != nil {
		c.send(Message{Kind: Refuse, To: m.From, Ballot: c.vote.Promised})
		return nil
	}
	if m.Ballot != c.vote.Accepted {
		point := Point{m.Change.Iteration, m.Change.Round}
		c.vote.Points = slices.DeleteFunc(slices.Clone(c.vote.Points),
			func(p Point) bool { return p != point && !slices.Contains(c.vote.Earlier, p) })
		c.vote.Promised, c.vote.Accepted, c.vote.Change, c.vote.Earlier = m.Ballot, m.Ballot, m.Change, c.vote.Points
		if err := c.Records.SaveVote(c.vote); err != nil {
			return fmt.Errorf("the vote in ballot %+v: %w", m.Ballot, err)
		}
	}
	c.standStill(now)
	c.send(Message{Kind: Accepted, To: m.From, Ballot: m.Ballot})
	return nil
}

// letsIn reports whether a change has members that are none now, or that begin as such.
func (c *acceptor) letsIn(change *membership.Change) bool {
	return len(change.Lost) > 0 || slices.ContainsFunc(change.Members, func(i int) bool { return !c.isMember(i) })
}

// standStillTimeouts is for how many times the patience an agent stands still without hearing of
// the proposal again.
const standStillTimeouts = 6

func (c *acceptor) standStill(now time.Time) { c.held = now.Add(standStillTimeouts * c.Patience) }

// noteBallot notes a proposal of any agent, which an attempt of this one gives time.
func (c *acceptor) noteBallot(now time.Time, m Message) {
	if m.Ballot.Compare(c.proposer.highest) > 0 {
		c.proposer.highest = m.Ballot
	}
	if m.From == c.Agent || m.Ballot.Compare(c.vote.Promised) < 0 {
		return
	}
	c.proposer.attempt = nil // it would be refused
	c.proposer.next = now.Add(standStillTimeouts*c.Patience + c.proposer.spread(c.Patience<<c.proposer.failures))
}

// spread draws a time from 0 to d.
func (c *proposer) spread(d time.Duration) time.Duration {
	return time.Duration(c.Draw() % uint64(d+1))
}
