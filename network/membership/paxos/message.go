package paxos

import (
	"encoding/json"
	"fmt"
	"slices"

	"dsbo"
	"dsbo/network/membership"
)

// A Kind says what a message is for.
type Kind int

// The kinds of messages. Prepare, Promise, Accept and Accepted are Paxos' own.
const (
	Report    Kind = 1 + iota // whom the sender cannot hear, for whom it waits too long, and whether it asks to come in
	Prepare                   // the sender proposes: who is there, and has anything been accepted already?
	Promise                   // the answer
	Accept                    // the sender proposes this change
	Accepted                  // the receiver has this agent's vote for it
	Refuse                    // it has not: a later ballot is under way
	Withdraw                  // the sender no longer proposes
	Decided                   // this change is decided
	Confirm                   // a quorum has voted for this change, as its proof shows
	Confirmed                 // the receiver has this agent's second vote for it
	kinds
)

// All is the receiver of a message that is for all agents.
const All = -1

const (
	// MaxMessage bounds a message, in bytes.
	MaxMessage = 1 << 19
	// maxChange bounds a change in it, without its proof, in bytes.
	maxChange = 1 << 15
	// maxPoints bounds the checkpoints that an answer names.
	maxPoints = 16
)

// A Message is what agents tell each other, signed by the agent that it is from. It may be lost,
// come twice and late, and goes from neighbour to neighbour to all agents, those that are no
// members too.
type Message struct {
	Kind   Kind   `json:"kind"`            // what it says
	From   int    `json:"from"`            // agent that sends it
	To     int    `json:"to"`              // an agent, or All
	ID     uint64 `json:"id"`              // drawn by the sender: who has seen it before drops it
	Hops   int    `json:"hops"`            // edges that it may still cross
	Epoch  int    `json:"epoch"`           // the one that a change would begin; of Decided, that it begins
	Ballot Ballot `json:"ballot,omitzero"` // that it belongs to
	// Change is what an Accept, a Confirm and a Decided are about, the latter two with its proof;
	// of a promise it is the change that the sender has given its second vote, with the first ones.
	Change *membership.Change `json:"change,omitempty"`
	// Vote is the sender's for the change that it accepts, confirms or proposes.
	Vote *membership.Signature `json:"vote,omitempty"`
	// Promises are a quorum's, from which an Accept follows, or a Withdraw.
	Promises []Message `json:"promises,omitempty"`
	// Liars are members that have given two votes in one ballot, as is proved.
	Liars []membership.Lie `json:"liars,omitempty"`
	Down  []int            `json:"down,omitempty"` // neighbours that the sender does not hear
	// neighbours that compute, and hold up the sender for too long
	Slow   []int   `json:"slow,omitempty"`
	Blank  []int   `json:"blank,omitempty"`  // neighbours that have come back without a state
	Asks   bool    `json:"asks,omitempty"`   // it asks to come in: it is no member, or has lost its state
	Points []Point `json:"points,omitempty"` // checkpoints that it can go back to, the newest first
	// of a promise: the sender knows that all members have finished, see Node.Seal
	Sealed bool `json:"sealed,omitempty"`
	// Admission is what lets a sender that asks, and is not of the roster at the start, come in.
	// Who takes the message in checks it.
	Admission string `json:"admission,omitempty"`
	// Signature is the sender's, of all but Hops.
	Signature *membership.Signature `json:"signature,omitempty"`
}

// Encode returns m as JSON of at most MaxMessage bytes.
func (m Message) Encode() []byte {
	b, _ := json.Marshal(m) // which has no maps, floats and pointers to itself
	return b
}

// ParseMessage reads a message among n agents. It allocates no more than a few times its bytes.
func ParseMessage(data []byte, n int) (m Message, err error) {
	if len(data) > MaxMessage {
		return m, fmt.Errorf("a message must have at most %d bytes; it has %d", MaxMessage, len(data))
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return Message{}, fmt.Errorf("a message: %w", err)
	}
	return m, m.validate(n)
}

// validate returns an error unless a message can be one among n agents.
func (m *Message) validate(n int) error {
	agent := func(i int) bool { return 0 <= i && i < n }
	for _, s := range []struct {
		holds bool
		what  string
		is    any
	}{
		{0 < m.Kind && m.Kind < kinds, "its kind", m.Kind},
		{agent(m.From), "the agent that it is from", m.From},
		{m.To == All || agent(m.To), "the agent that it is for", m.To},
		{0 <= m.Hops && m.Hops <= membership.MaxAgents, "its hops", m.Hops},
		{m.Epoch > 0, "its epoch", m.Epoch},
		{m.Ballot.Number >= 0 && agent(m.Ballot.Agent), "its ballot", m.Ballot},
		{len(m.Promises) <= n && (m.Kind == Accept || m.Kind == Withdraw || m.Promises == nil),
			"the number of promises", len(m.Promises)},
		{len(m.Liars) <= n, "the number of liars", len(m.Liars)},
		{len(m.Down) <= n, "the number of neighbours that are down", len(m.Down)},
		{len(m.Slow) <= n, "the number of neighbours that are slow", len(m.Slow)},
		{len(m.Blank) <= n, "the number of neighbours without a state", len(m.Blank)},
		{len(m.Points) <= maxPoints, "the number of checkpoints", len(m.Points)},
	} {
		if !s.holds {
			return dsbo.ShapeErrorf("%s cannot be that of a message in a council of %d agents: %v",
				s.what, n, s.is)
		}
	}
	for _, i := range slices.Concat(m.Down, m.Slow, m.Blank) {
		if !agent(i) {
			return dsbo.ShapeErrorf("a neighbour must be one of %d agents; it is agent %d", n, i)
		}
	}
	for _, p := range m.Points {
		if p.Iteration < 0 || p.Round < 0 {
			return dsbo.ShapeErrorf(
				"a checkpoint must be after 0 iterations or more; it is after %d, at exchange %d", p.Iteration, p.Round)
		}
	}
	needed := m.Kind == Accept || m.Kind == Decided || m.Kind == Confirm
	if needed && m.Change == nil || !needed && m.Kind != Promise && m.Change != nil ||
		m.Change != nil && (m.Change.Epoch != m.Epoch || (m.Change.Proof == nil) != (m.Kind == Accept)) {
		return dsbo.ShapeErrorf("a message must have a change of its epoch where it is about one, and none elsewhere")
	}
	for k := range m.Promises {
		if p := &m.Promises[k]; p.Kind != Promise || p.Signature == nil {
			return dsbo.ShapeErrorf("a message may have signed promises in it, and no other kind: %d", p.Kind)
		} else if err := p.validate(n); err != nil {
			return err
		}
	}
	return nil
}
