package paxos

import (
	"encoding/json"

	"dsbo"
	"dsbo/network/membership"
)

// A Ballot numbers one attempt to have a change accepted.
type Ballot = membership.Ballot

// A Vote is what an agent may not forget, lest two changes be decided for one epoch: it is on disk
// before anybody hears of it.
type Vote struct {
	Epoch    int                `json:"epoch"`             // the change would begin this one
	Promised Ballot             `json:"promised"`          // no ballot before this one gets the agent's vote
	Accepted Ballot             `json:"accepted,omitzero"` // the last ballot that got it
	Change   *membership.Change `json:"change,omitempty"`  // what that proposed; nil: none yet
	// Confirmed is the change that got the agent's second vote last, with the first votes of a
	// quorum: it may be decided. nil: none has.
	Confirmed *membership.Change `json:"confirmed,omitempty"`
	// Points are the checkpoints that a change which may still be decided can begin with, as the
	// agent has named them: they must stay. Earlier are the checkpoints among them that it had
	// named before it promised.
	Points  []Point `json:"points,omitempty"`
	Earlier []Point `json:"earlier,omitempty"`
	// Sealed says that all members have finished, see [Node.Seal].
	Sealed bool `json:"sealed,omitzero"`
}

// MarshalVote returns v as a line of JSON.
func MarshalVote(v Vote) []byte {
	b, _ := json.Marshal(v) // which has no maps, floats and pointers to itself
	return append(b, '\n')
}

// ParseVote reads what [MarshalVote] has written. Errors match dsbo.ErrConfig.
func ParseVote(data []byte) (v Vote, err error) {
	if err := json.Unmarshal(data, &v); err != nil {
		return v, dsbo.ConfigErrorf("a vote: %w", err)
	}
	if v.Epoch < 0 || v.Promised.Number < 0 || (v.Change == nil) != (v.Accepted == Ballot{}) || v.Change != nil &&
		v.Change.Epoch != v.Epoch {
		return Vote{}, dsbo.ConfigErrorf("a vote must be on a change of its epoch, by a ballot; it is %s",
			data)
	}
	if len(v.Points) > maxPoints || len(v.Earlier) > len(v.Points) {
		return Vote{}, dsbo.ConfigErrorf(
			"a vote must have at most %d checkpoints, those named earlier among them; it has %d and %d", maxPoints,
			len(v.Points), len(v.Earlier))
	}
	return v, nil
}

// A Point is a checkpoint that an agent can go back to.
type Point struct {
	Iteration int `json:"iteration"` // iterations done
	Round     int `json:"round"`     // the exchange that is next
}
