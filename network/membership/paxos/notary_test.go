package paxos_test

import (
	"crypto/sha256"
	"errors"
	"time"

	"dsbo/internal/testkit"
	"dsbo/network/membership"
	"dsbo/network/membership/paxos"
)

// A seal signs for an agent: by a digest that, in a test, no other agent makes.
type seal int

func (s seal) Sign(text []byte) (membership.Signature, error) {
	return membership.Signature{Agent: int(s), Signature: digestOf(int(s), text)}, nil
}

func (seal) Verify(text []byte, s membership.Signature, _ time.Time) error {
	if string(s.Signature) != string(digestOf(s.Agent, text)) {
		return errors.New("it is not signed")
	}
	return nil
}

func digestOf(agent int, text []byte) []byte {
	d := sha256.Sum256(append([]byte{byte(agent)}, text...))
	return d[:8]
}

// testCouncil is the council of most tests.
var testCouncil = membership.Council{Quorum: 3}

// signed returns a message with its sender's signature.
func signed(m paxos.Message) paxos.Message { return signedIn(testCouncil, m) }

func signedIn(c membership.Council, m paxos.Message) paxos.Message {
	s := testkit.Get(seal(m.From).Sign(c.Text(m.SignedText())))
	m.Signature = &s
	return m
}

// vote returns an agent's vote for a change.
func vote(agent int, s membership.Stage, b paxos.Ballot, c membership.Change) membership.Signature {
	return testkit.Get(seal(agent).Sign(testCouncil.VoteText(s, b, c.Epoch, c.Digest())))
}

// proved returns a change with the votes of agents.
func proved(s membership.Stage, b paxos.Ballot, c membership.Change, agents ...int) *membership.Change {
	c.Proof = &membership.Proof{Council: testCouncil, Ballot: b, Stage: s}
	for _, i := range agents {
		c.Proof.Votes = append(c.Proof.Votes, vote(i, s, b, c))
	}
	return &c
}

// accepting returns what proposes a change that follows from promises.
func accepting(b paxos.Ballot, c *membership.Change, promises ...paxos.Message) paxos.Message {
	v := vote(b.Agent, membership.FirstVote, b, *c)
	return paxos.Message{Kind: paxos.Accept, From: b.Agent, To: paxos.All, Ballot: b, Epoch: c.Epoch, Change: c,
		Vote: &v, Promises: promises}
}

// promise returns a member's, which names a checkpoint.
func promise(agent int, b paxos.Ballot, epoch int, p paxos.Point, down ...int) paxos.Message {
	return signed(paxos.Message{Kind: paxos.Promise, From: agent, To: b.Agent, Epoch: epoch, Ballot: b,
		Points: []paxos.Point{p}, Down: down})
}
