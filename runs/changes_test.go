package runs_test

import (
	"testing"
	"time"

	"dsbo/internal/testkit"
	"dsbo/network/membership"
	"dsbo/network/pki"
	"dsbo/runs"
)

// TestChangesAreProved: a membership log whose changes have votes must have a quorum's for each,
// signed by the keys of certificates that name the voters.
func TestChangesAreProved(t *testing.T) {
	now := time.Now()
	authority := testkit.Get(pki.NewAuthority("test", now, now.Add(time.Hour)))
	council := membership.Council{Run: "a", Settings: "0", Quorum: 2}
	ballot := membership.Ballot{Number: 1}
	decided := func(epoch int, voters ...int) membership.Change {
		c := membership.Change{Epoch: epoch, Members: []int{0, 2}, Why: []string{"agent 1 left"}}
		proof := &membership.Proof{Council: council, Ballot: ballot, Stage: membership.SecondVote}
		text := council.VoteText(membership.SecondVote, ballot, epoch, c.Digest())
		for _, i := range voters {
			id := testkit.Get(authority.Issue(i, now, now.Add(time.Hour)))
			proof.Votes = append(proof.Votes, membership.Signature{Agent: i, Certificate: id.Certificate(),
				Signature: testkit.Get(id.Sign(text))})
		}
		c.Proof = proof
		return c
	}
	changed, renamed, unsigned := decided(1, 0, 2), decided(1, 0, 2), decided(2, 0, 2)
	changed.Iteration, renamed.Proof.Votes[1].Agent, unsigned.Proof = 3, 3, nil
	for name, tt := range map[string]struct {
		log membership.Log
		ok  bool
	}{
		"as decided":             {membership.Log{decided(1, 0, 2), decided(2, 0, 2)}, true},
		"by nobody":              {membership.Log{{Epoch: 1, Members: []int{0, 2}}}, true},
		"changed":                {membership.Log{changed}, false},
		"the vote of another":    {membership.Log{renamed}, false},
		"too few votes":          {membership.Log{decided(1, 2)}, false},
		"of one that had left":   {membership.Log{decided(1, 0, 2), decided(2, 0, 1)}, false},
		"one without votes":      {membership.Log{decided(1, 0, 2), unsigned}, false},
		"the first without them": {membership.Log{{Epoch: 1, Members: []int{0, 2}}, decided(2, 0, 2)}, false},
	} {
		log, err := runs.ParseChanges("log", tt.log.Bytes())
		if (err == nil) != tt.ok || err == nil && len(log) != len(tt.log) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
