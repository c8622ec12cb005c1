package paxos

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"dsbo/network/membership"
)

// A Notary signs for its agent, by the key of its certificate, and checks what others have signed.
// Of a run's agents all have one of a kind.
type Notary interface {
	Sign(text []byte) (membership.Signature, error)
	Verify(text []byte, s membership.Signature, at time.Time) error
}

// signedText returns what the sender signs: all but how far the message has still to go, and the
// votes for what it has confirmed, which prove themselves.
func (m Message) signedText() []byte {
	m.Hops, m.Signature = 0, nil
	if m.Kind == Promise && m.Change != nil {
		m.Change = withoutVotes(*m.Change)
	}
	b, _ := json.Marshal(m) // which has no maps, floats and pointers to itself
	return append([]byte("message "), b...)
}

// council returns what all that is signed belongs to.
func (c *Node) council() membership.Council {
	return membership.Council{Run: c.Run, Settings: c.Hash, Quorum: c.Quorum}
}

// withoutVotes returns a change whose proof has its ballot alone.
func withoutVotes(c membership.Change) *membership.Change {
	p := *c.Proof
	p.Votes = nil
	c.Proof = &p
	return &c
}

// sign signs a message of this agent.
func (c *Node) sign(m *Message) error {
	s, err := c.Notary.Sign(c.council().Text(m.signedText()))
	m.Signature = &s
	return err
}

// Verify returns an error unless a message is signed by the agent that it is from. What has not
// been verified must be neither received nor passed on.
func (c *Node) Verify(now time.Time, m Message) error {
	if m.Signature == nil || m.Signature.Agent != m.From {
		return fmt.Errorf("a message of agent %d must have its signature", m.From)
	}
	return c.Notary.Verify(c.council().Text(m.signedText()), *m.Signature, now)
}

// A witness knows the votes of the present epoch, and who has given two in one ballot.
type witness struct {
	*Node
	casts map[ballotVote]membership.Cast
	liars map[int]membership.Lie // members of the epoch that are proved to have lied
}

// A ballotVote is what an agent has one vote for.
type ballotVote struct {
	agent  int
	stage  membership.Stage
	ballot Ballot
}

// maxCasts bounds the votes that a witness keeps in mind.
const maxCasts = 1 << 14

// note takes in a vote that has been verified. With another one for another change in the same
// ballot it proves a lie, which all are told.
func (c *witness) note(now time.Time, s membership.Stage, b Ballot, change membership.Digest, v membership.Signature) {
	key := ballotVote{v.Agent, s, b}
	before, has := c.casts[key]
	switch cast := (membership.Cast{Change: change, Signature: v}); {
	case !has && len(c.casts) < maxCasts:
		c.casts[key] = cast
	case has && before.Change != change:
		c.expose(now, membership.Lie{Agent: v.Agent, Epoch: c.epoch.Number + 1, Stage: s, Ballot: b,
			Votes: []membership.Cast{before, cast}})
	}
}

// expose takes in a lie that is proved, and tells all others of it.
func (c *witness) expose(now time.Time, l membership.Lie) {
	if _, known := c.liars[l.Agent]; known || l.Agent == c.Agent {
		return
	}
	c.liars[l.Agent] = l
	c.report(now)
}

// noteLies takes in the lies that a message says to be proved.
func (c *witness) noteLies(now time.Time, lies []membership.Lie) {
	for _, l := range lies {
		if _, known := c.liars[l.Agent]; !known && l.Epoch == c.epoch.Number+1 &&
			l.Verify(c.council(), c.Notary.Verify, now) == nil {
			c.expose(now, l)
		}
	}
}

// proofs returns the lies that are known, by agent.
func (c *witness) proofs() (all []membership.Lie) {
	for _, l := range c.liars {
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b membership.Lie) int { return a.Agent - b.Agent })
	return all
}

// forget begins an epoch.
func (c *witness) forget() {
	c.casts, c.liars = map[ballotVote]membership.Cast{}, map[int]membership.Lie{}
}

// isLiar reports whether an agent is proved to have lied, now or before.
func (c *Node) isLiar(agent int) bool {
	_, is := c.witness.liars[agent]
	return is || slices.Contains(c.log.Liars(), agent)
}
