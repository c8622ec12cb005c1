package paxos

import (
	"fmt"
	"slices"
	"time"

	"dsbo/internal/guard"
	"dsbo/network/membership"
)

// An acceptor answers the proposals of members with this agent's promise and votes, which are on
// disk before they are sent.
type acceptor struct {
	*Node
	vote     Vote
	held     time.Time       // until when the agent stands still
	promised time.Time       // when it promised the present ballot
	promises map[int]Message // the last ones of neighbours, by agent
	ballots  guard.Budget    // for how long each proposer may have this agent stand still
}

const (
	// standStillTimeouts is for how many times the patience an agent stands still without hearing
	// of the proposal again.
	standStillTimeouts = 6
	// ballotsAtOnce is how many ballots of one proposer are answered at once. Further ones are
	// answered after as much time again as they have an agent stand still.
	ballotsAtOnce = 32
	// maxJump bounds by how much a ballot's number is above those that are known. An honest
	// proposer, which has none in less than a patience, is not that far ahead in ten days; one that
	// lies does not come to the end of the numbers.
	maxJump = 1 << 20
)

func newAcceptor(c *Node, vote Vote) acceptor {
	stand := standStillTimeouts * c.Patience
	return acceptor{Node: c, vote: vote, promises: map[int]Message{},
		ballots: guard.Budget{Most: ballotsAtOnce * stand, Period: 2 * ballotsAtOnce * stand}}
}

// promise answers a member that proposes, with what this agent has confirmed if it is a member.
// Its neighbours have the promise too: they vote for no change without an agent that is there.
func (c *acceptor) promise(now time.Time, m Message) error {
	answer := Message{Kind: Promise, To: m.From, Ballot: m.Ballot}
	if !c.member() {
		c.noteBallot(now, m)
		c.send(answer)
		return nil
	}
	if m.Ballot.Number > max(c.proposer.highest.Number, c.vote.Promised.Number)+maxJump {
		return nil
	}
	if m.Ballot != c.vote.Promised && m.From != c.Agent && m.Ballot.Compare(c.vote.Promised) > 0 &&
		!c.ballots.Spend(m.From, now, standStillTimeouts*c.Patience) {
		return nil
	}
	c.noteBallot(now, m)
	if m.Ballot.Compare(c.vote.Promised) < 0 {
		c.refuse(m)
		return nil
	}
	if m.Ballot != c.vote.Promised {
		points, err := c.Records.Points()
		if err != nil {
			return fmt.Errorf("checkpoints: %w", err)
		}
		c.vote.Promised, c.promised = m.Ballot, now
		c.retainPoints(points)
		if err := c.Records.SaveVote(c.vote); err != nil {
			return fmt.Errorf("the promise of ballot %+v: %w", m.Ballot, err)
		}
	}
	c.standStill(now)
	answer.Change, answer.Points = c.vote.Confirmed, c.vote.Points
	c.send(answer)
	for _, j := range c.neighbours() {
		if answer.To = j; j != m.From {
			c.send(answer)
		}
	}
	return nil
}

// refuse tells who asks for a promise or a vote which ballot has the promise.
func (c *acceptor) refuse(m Message) {
	c.send(Message{Kind: Refuse, To: m.From, Ballot: c.vote.Promised})
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

// accept gives this agent's first vote to a change that follows from the promises with it, unless a
// later ballot has it. Of the checkpoints that were named those stay that this change, or one which
// a ballot before it has proposed, may begin with: that too may still be decided, by a later ballot
// that hears of its votes and not of this one.
func (c *acceptor) accept(now time.Time, m Message) error {
	if !c.member() || c.verifyVote(now, membership.FirstVote, m.Ballot, m.Change, m.Vote, m.From) != nil {
		return nil
	}
	if m.Ballot.Compare(c.vote.Promised) < 0 {
		c.refuse(m)
		return nil
	}
	again, err := c.justify(now, m)
	if err != nil || m.Ballot == c.vote.Accepted && m.Change.Digest() != c.vote.Change.Digest() {
		return nil // which no agent sends that keeps to the protocol
	}
	c.noteBallot(now, m)
	if c.vote.Sealed && !again && c.letsIn(m.Change) ||
		append(c.log, *m.Change).Validate(c.Founders, c.Quorum) != nil {
		c.refuse(m)
		return nil
	}
	if !again && c.omits(now, m) {
		return nil // until it has been silent
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
	vote, err := c.signVote(membership.FirstVote, m.Ballot, m.Change)
	c.send(Message{Kind: Accepted, To: m.From, Ballot: m.Ballot, Vote: vote})
	return err
}

// confirm gives this agent's second vote to a change that a quorum has given its first one, unless
// a later ballot has its promise. No other change is decided then but by a ballot of which a quorum
// has not confirmed this one.
func (c *acceptor) confirm(now time.Time, m Message) error {
	if !c.member() || m.Change.Proof.Ballot != m.Ballot || c.verifyFirst(now, m.Change) != nil {
		return nil
	}
	c.noteBallot(now, m)
	if m.Ballot.Compare(c.vote.Promised) < 0 {
		c.refuse(m)
		return nil
	}
	if c.vote.Confirmed == nil || c.vote.Confirmed.Proof.Ballot != m.Ballot {
		c.vote.Promised, c.vote.Confirmed = m.Ballot, m.Change
		if err := c.Records.SaveVote(c.vote); err != nil {
			return fmt.Errorf("the second vote in ballot %+v: %w", m.Ballot, err)
		}
	}
	c.standStill(now)
	vote, err := c.signVote(membership.SecondVote, m.Ballot, m.Change)
	c.send(Message{Kind: Confirmed, To: m.From, Ballot: m.Ballot, Vote: vote})
	return err
}

// release ends the standing still for a ballot that has asked for no votes, and never will. Where
// the promises of a quorum come with that, of which nobody has confirmed a change, none of a ballot
// before will be decided any more, and this agent's votes for one are void.
func (c *acceptor) release(now time.Time, m Message) error {
	if m.Ballot == c.vote.Promised && m.Ballot != c.vote.Accepted {
		c.held, c.vote.Points = time.Time{}, c.vote.Earlier
	}
	if !c.voted() || m.Ballot.Compare(c.vote.Promised) < 0 || m.Ballot.Compare(c.vote.Accepted) <= 0 {
		return nil
	}
	answers, err := c.verifyPromises(now, m)
	if err != nil {
		return nil
	}
	if last, err := c.lastConfirmed(now, answers); last != nil || err != nil {
		return nil
	}
	c.vote = Vote{Epoch: c.vote.Epoch, Promised: m.Ballot, Sealed: c.vote.Sealed}
	if err := c.Records.SaveVote(c.vote); err != nil {
		return fmt.Errorf("the end of ballot %+v: %w", m.Ballot, err)
	}
	return nil
}

// verifyFirst returns an error unless a change has the first votes of a quorum, of which it takes
// note.
func (c *acceptor) verifyFirst(now time.Time, change *membership.Change) error {
	if err := change.Verify(c.council(), membership.FirstVote, c.epoch.Members, c.Notary.Verify, now); err != nil {
		return err
	}
	for _, v := range change.Proof.Votes {
		c.witness.note(now, membership.FirstVote, change.Proof.Ballot, change.Digest(), v)
	}
	return nil
}

// letsIn reports whether a change has members that are none now, or that begin as such.
func (c *acceptor) letsIn(change *membership.Change) bool {
	return len(change.Lost) > 0 || slices.ContainsFunc(change.Members, func(i int) bool { return !c.isMember(i) })
}

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

// noteAnswer keeps the promise of a neighbour.
func (c *acceptor) noteAnswer(m Message) {
	if m.Kind == Promise && slices.Contains(c.neighbours(), m.From) {
		c.promises[m.From] = m
	}
}

// spread draws a time from 0 to d.
func (c *proposer) spread(d time.Duration) time.Duration {
	return time.Duration(c.Draw() % uint64(d+1))
}
