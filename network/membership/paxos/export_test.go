package paxos

import (
	"time"

	"dsbo/network/membership"
)

// SignedText is what the sender of a message signs.
func (m Message) SignedText() []byte { return m.signedText() }

// Compose is the change that promises ask for.
func (c *Node) Compose(now time.Time, promises ...Message) *membership.Change {
	answers := map[int]Message{}
	for _, p := range promises {
		answers[p.From] = p
	}
	change, problem := newComposer(c, answers).compose(now)
	if change == nil {
		panic(problem)
	}
	return change
}
