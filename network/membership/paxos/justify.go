package paxos

import (
	"fmt"
	"slices"
	"time"

	"dsbo/network/membership"
)

// justify returns an error unless the change that a member proposes follows from the promises with
// it: they are of its ballot and of a quorum of members, and the change is the last one that any of
// them has confirmed, again, or what the answers ask for. So a proposer that lies can choose which
// answers count, and nothing else.
func (c *acceptor) justify(now time.Time, m Message) (again bool, err error) {
	answers, err := c.verifyPromises(now, m)
	if err != nil {
		return false, err
	}
	last, err := c.lastConfirmed(now, answers)
	if err != nil || last != nil {
		if err == nil && last.Digest() != m.Change.Digest() {
			err = fmt.Errorf("the change to epoch %d must be the one that may have been decided", m.Epoch)
		}
		return true, err
	}
	for _, l := range m.Change.Liars {
		if !c.isLiar(l.Agent) || l.Verify(c.council(), c.Notary.Verify, now) != nil {
			return false, fmt.Errorf("agent %d is not proved to have lied", l.Agent)
		}
	}
	want, problem := newComposer(c.Node, answers).compose(now)
	if want == nil || !matches(*m.Change, *want) || m.Change.Proposer != m.From {
		return false, fmt.Errorf("the change to epoch %d does not follow from the answers: %s", m.Epoch, problem)
	}
	return false, nil
}

// verifyPromises returns the promises with a message by agent, and an error unless they are of its
// ballot and of a quorum.
func (c *acceptor) verifyPromises(now time.Time, m Message) (answers map[int]Message, err error) {
	answers = map[int]Message{}
	for _, p := range m.Promises {
		if _, twice := answers[p.From]; twice || p.Ballot != m.Ballot || p.Epoch != m.Epoch {
			return nil, fmt.Errorf("the promise of agent %d must be of this ballot, and there once", p.From)
		}
		if err := c.Verify(now, p); err != nil {
			return nil, err
		}
		answers[p.From] = p
	}
	if members := c.countMembers(answers); members < c.Quorum {
		return nil, fmt.Errorf("there must be the promises of %d members; there are %d", c.Quorum, members)
	}
	return answers, nil
}

// lastConfirmed returns the change of the latest ballot that a member which answers says to have
// confirmed, nil if there is none. One answer that says so must prove it.
func (c *acceptor) lastConfirmed(now time.Time, answers map[int]Message) (last *membership.Change, err error) {
	for _, m := range answers {
		if m.Change == nil || !c.isMember(m.From) {
			continue
		}
		if last != nil {
			order := m.Change.Proof.Ballot.Compare(last.Proof.Ballot)
			if order < 0 || order == 0 && len(m.Change.Proof.Votes) <= len(last.Proof.Votes) {
				continue
			}
		}
		last = m.Change
	}
	if last == nil {
		return nil, nil
	}
	return last, c.verifyFirst(now, last)
}

// matches reports whether a change is what another agent makes of the same answers: all but who
// proposed it, when, and by which votes a lie is proved.
func matches(change, want membership.Change) bool {
	if len(change.Liars) != len(want.Liars) {
		return false
	}
	for k, l := range change.Liars {
		if l.Agent != want.Liars[k].Agent {
			return false
		}
	}
	want.Proposer, want.Time, want.Liars = change.Proposer, change.Time, change.Liars
	return change.Digest() == want.Digest()
}

// omits reports whether a change keeps only one of this agent and a neighbour, although both are
// there as far as this agent sees. A member counts as there if this agent hears it, it is no liar
// and not slow, and no answer of it in this ballot says that it does not hear this agent or has no
// checkpoint. If the change leaves the neighbour out, the neighbour must also have answered, or
// still have time to. If it leaves this agent out, this agent must have a state ([Node.SetLost]).
// The agent does not vote for such a change.
func (c *acceptor) omits(now time.Time, m Message) bool {
	staying := func(i int) bool { return slices.Contains(m.Change.Members, i) }
	mayAnswer := now.Sub(c.promised) < c.Absent/2
	for _, j := range c.neighbours() {
		if !c.isMember(j) || slices.Contains(c.seen.Down, j) || c.isLiar(j) || staying(j) == staying(c.Agent) {
			continue
		}
		p, answered := c.promises[j]
		answered = answered && p.Ballot == m.Ballot
		switch {
		case answered && (slices.Contains(p.Down, c.Agent) || len(p.Points) == 0), slices.Contains(c.seen.Slow, j):
		case staying(c.Agent) && (answered || mayAnswer), !staying(c.Agent) && !c.lost:
			return true
		}
	}
	return false
}

// neighbours returns the agents to which this one has an edge in use.
func (c *Node) neighbours() (all []int) {
	for _, e := range slices.Concat(c.Edges, c.epoch.Edges) {
		if (e[0] == c.Agent || e[1] == c.Agent) && !slices.Contains(c.epoch.Cut, e) {
			all = append(all, e[0]+e[1]-c.Agent)
		}
	}
	return all
}

// signVote returns this agent's vote.
func (c *acceptor) signVote(s membership.Stage, b Ballot, change *membership.Change) (*membership.Signature, error) {
	v, err := c.Notary.Sign(c.council().VoteText(s, b, change.Epoch, change.Digest()))
	return &v, err
}

// verifyVote returns an error unless a vote is an agent's. It takes note of it.
func (c *acceptor) verifyVote(now time.Time, s membership.Stage, b Ballot, change *membership.Change,
	v *membership.Signature, agent int) error {
	if v == nil || v.Agent != agent {
		return fmt.Errorf("agent %d must give its vote with what it says", agent)
	}
	err := c.Notary.Verify(c.council().VoteText(s, b, change.Epoch, change.Digest()), *v, now)
	if err == nil {
		c.witness.note(now, s, b, change.Digest(), *v)
	}
	return err
}
