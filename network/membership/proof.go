package membership

import (
	"cmp"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"fmt"
	"slices"
	"time"

	"dsbo"
	"dsbo/internal/guard"
)

// A Ballot numbers one attempt to have a change decided. No two processes have the same. The zero
// value is before all others.
type Ballot struct {
	Number int    `json:"number"`
	Agent  int    `json:"agent"`         // who proposes
	Life   uint64 `json:"life,omitzero"` // of its process: one that has lost its disk repeats no ballot
}

// Compare returns -1, 0 or 1 where b is before, the same as, or after other.
func (b Ballot) Compare(other Ballot) int {
	return cmp.Or(cmp.Compare(b.Number, other.Number), cmp.Compare(b.Agent, other.Agent),
		cmp.Compare(b.Life, other.Life))
}

// A Signature is one of an agent, by the key of its certificate.
type Signature struct {
	Agent       int    `json:"agent"`
	Certificate []byte `json:"certificate,omitempty"` // with intermediate ones; empty where there are none
	Signature   []byte `json:"signature"`
}

// A Verifier returns an error unless an agent's signature is of a text. Its certificate must be
// valid at a time.
type Verifier func(text []byte, s Signature, at time.Time) error

// A Stage is which of its two votes in a ballot an agent gives.
type Stage int

// The stages. With the first votes of a quorum no other change can be proposed with reason in the
// ballot; with the second ones the change is decided.
const (
	FirstVote Stage = 1 + iota
	SecondVote
)

// A Digest stands for a change without its proof.
type Digest [sha256.Size]byte

// Digest returns the change's.
func (c Change) Digest() Digest {
	c.Proof = nil
	return sha256.Sum256(c.Line())
}

// A Council is the agents that decide in a run: nothing that is signed for one counts in another.
type Council struct {
	Run      string `json:"run"`      // its name
	Settings string `json:"settings"` // a hash of what is the same at all agents
	Quorum   int    `json:"quorum"`   // how many members must vote for a change
}

// Text returns what is signed of a text.
func (c Council) Text(text []byte) []byte {
	return fmt.Appendf(nil, "dsbo council of run %q with settings %q, quorum %d: %s", c.Run, c.Settings, c.Quorum, text)
}

// A Proof is the votes of a quorum for a change, by agent, in one ballot and of one stage.
type Proof struct {
	Council
	Ballot Ballot      `json:"ballot"`
	Stage  Stage       `json:"stage"`
	Votes  []Signature `json:"votes"`
}

// VoteText returns what an agent signs that gives its vote of a stage to a change of an epoch.
func (c Council) VoteText(s Stage, b Ballot, epoch int, change Digest) []byte {
	return c.Text(fmt.Appendf(nil, "vote %d in ballot %d of agent %d, process %d, for the change to epoch %d: %x", s,
		b.Number, b.Agent, b.Life, epoch, change))
}

// Verify returns an error unless the proof of a change has valid votes of a stage, of a quorum of
// these members of a council; nil stands for any members.
func (c Change) Verify(in Council, s Stage, members []int, verify Verifier, at time.Time) error {
	if c.Proof == nil || c.Proof.Stage != s {
		return fmt.Errorf("the change to epoch %d must have the votes of a quorum; it has none", c.Epoch)
	}
	if c.Proof.Council != in {
		return fmt.Errorf("the votes for the change to epoch %d must be of %+v; they are of %+v", c.Epoch, in,
			c.Proof.Council)
	}
	text := in.VoteText(s, c.Proof.Ballot, c.Epoch, c.Digest())
	for k, v := range c.Proof.Votes {
		if k > 0 && v.Agent <= c.Proof.Votes[k-1].Agent || members != nil && !slices.Contains(members, v.Agent) {
			return fmt.Errorf("the votes for the change to epoch %d must be of members %v, each once; one is of "+
				"agent %d", c.Epoch, members, v.Agent)
		}
		if err := verify(text, v, at); err != nil {
			return fmt.Errorf("the vote of agent %d for the change to epoch %d: %w", v.Agent, c.Epoch, err)
		}
	}
	if len(c.Proof.Votes) < in.Quorum {
		return fmt.Errorf("the change to epoch %d must have the votes of %d members; it has %d", c.Epoch, in.Quorum,
			len(c.Proof.Votes))
	}
	return nil
}

// Decided returns when the change was proposed; the zero time if it does not say.
func (c Change) Decided() time.Time {
	t, _ := time.Parse(time.RFC3339, c.Time) // which the log's reader has checked
	return t
}

// VerifyVotes returns an error that matches dsbo.ErrConfig unless each change of a log has the
// votes of a quorum by which it was decided, all of one council. A log of which no change has votes
// was not decided by any: it is as good as who has written it.
func (l Log) VerifyVotes(verify Verifier) error {
	if !slices.ContainsFunc(l, func(c Change) bool { return c.Proof != nil }) {
		return nil
	}
	var members []int // of the epoch before; not known of the first one
	var council Council
	if l[0].Proof != nil {
		council = l[0].Proof.Council
	}
	for _, c := range l {
		if err := c.Verify(council, SecondVote, members, verify, c.Decided()); err != nil {
			return dsbo.ConfigErrorf("membership log: %w", err)
		}
		members = c.Members
	}
	return nil
}

// Unsigned returns the log without its proofs, which the logs of two agents may have of different
// quorums. All else is the same.
func (l Log) Unsigned() Log {
	l = slices.Clone(l)
	for k := range l {
		l[k].Proof = nil
	}
	return l
}

// A Lie is two votes of one agent, in one ballot and of one stage, for two changes: what no agent
// signs that keeps to the protocol.
type Lie struct {
	Agent  int    `json:"agent"`
	Epoch  int    `json:"epoch"` // that the changes would begin
	Stage  Stage  `json:"stage"`
	Ballot Ballot `json:"ballot"`
	Votes  []Cast `json:"votes"` // two
}

// A Cast is a vote as it was given.
type Cast struct {
	Change    Digest    `json:"change"`
	Signature Signature `json:"signature"`
}

// Verify returns an error unless the lie is proved, in a council.
func (l Lie) Verify(in Council, verify Verifier, at time.Time) error {
	if len(l.Votes) != 2 || l.Votes[0].Change == l.Votes[1].Change {
		return fmt.Errorf("a lie of agent %d must be proved by its votes for two changes", l.Agent)
	}
	for _, v := range l.Votes {
		if v.Signature.Agent != l.Agent {
			return fmt.Errorf("a lie of agent %d must be proved by its own votes; one is of agent %d", l.Agent,
				v.Signature.Agent)
		}
		if err := verify(in.VoteText(l.Stage, l.Ballot, l.Epoch, v.Change), v.Signature, at); err != nil {
			return fmt.Errorf("what is said to be a lie of agent %d: %w", l.Agent, err)
		}
	}
	return nil
}

// Liars returns the agents that the log proves to have lied, ascending. None of them is let in
// again.
func (l Log) Liars() (agents []int) {
	for _, c := range l {
		for _, lie := range c.Liars {
			agents = append(agents, lie.Agent)
		}
	}
	slices.Sort(agents)
	return slices.Compact(agents)
}

// openKey returns the key of an agent without a certificate, which is no secret.
func openKey(agent int) ed25519.PrivateKey {
	seed := sha256.Sum256(fmt.Appendf(nil, "dsbo agent %d without a certificate", agent))
	return ed25519.NewKeyFromSeed(seed[:])
}

// SignOpenly signs for an agent of a run without certificates: whoever takes part in such a run
// could do so, as it could be that agent.
func SignOpenly(agent int, text []byte) Signature {
	return Signature{Agent: agent, Signature: ed25519.Sign(openKey(agent), text)}
}

// VerifyOpenly checks what SignOpenly has signed.
func VerifyOpenly(text []byte, s Signature) error {
	if !ed25519.Verify(openKey(s.Agent).Public().(ed25519.PublicKey), text, s.Signature) {
		return fmt.Errorf("the signature of agent %d is wrong", s.Agent)
	}
	return nil
}

// liarError returns what is wrong with those that have lied in c, or in the changes of l before it.
func (l Log) liarError(c Change) error {
	for _, lie := range c.Liars {
		if c.has(lie.Agent) || lie.Agent < 0 || lie.Agent >= MaxAgents {
			return fmt.Errorf("those that have lied must be agents that are no members of epoch %d; agent %d is not",
				c.Epoch, lie.Agent)
		}
	}
	for _, liar := range l.Liars() {
		if c.has(liar) {
			return fmt.Errorf("agent %d, which has lied before, must not be a member of epoch %d", liar, c.Epoch)
		}
	}
	return nil
}

// VerifyKey is a [Verifier] that knows no authority: a signature must be by the key of the
// certificate with it, which must name the agent, whoever has signed that.
func VerifyKey(text []byte, s Signature, _ time.Time) error {
	if len(s.Certificate) == 0 {
		return VerifyOpenly(text, s)
	}
	chain, err := x509.ParseCertificates(s.Certificate)
	if err != nil {
		return err
	}
	by := chain[0]
	if name := fmt.Sprintf("agent-%d", s.Agent); !slices.Contains(by.DNSNames, name) {
		return fmt.Errorf("it must be by the certificate of %s; it is by that of %q", name, by.DNSNames)
	}
	return guard.CheckSignature(by, text, s.Signature)
}
