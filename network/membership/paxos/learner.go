package paxos

import (
	"fmt"
	"time"

	"dsbo/network/membership"
)

// SendChanges hands a neighbour, which knows the changes up to an epoch, the changes that it lacks,
// or asks for those that this agent lacks.
func (c *Node) SendChanges(now time.Time, agent, epoch int) {
	if epoch > c.epoch.Number {
		c.catchUp(now, Message{From: agent, Epoch: epoch + 1})
		return
	}
	for _, change := range c.log[min(max(epoch, 0), len(c.log)):] {
		c.send(Message{Kind: Decided, To: agent, Epoch: change.Epoch, Change: &change})
	}
}

// catchUp helps where the sender of a message, or this agent, does not know the newest epoch.
func (c *Node) catchUp(now time.Time, m Message) {
	if m.Epoch > c.epoch.Number+1 {
		if now.Sub(c.reported) >= c.Patience/2 {
			c.report(now)
		}
		return
	}
	if now.Sub(c.told[m.From]) >= c.Patience/2 {
		c.told[m.From] = now
		c.SendChanges(now, m.From, m.Epoch-1)
	}
}

// decide takes in a change that is decided.
func (c *Node) decide(now time.Time, change membership.Change) error {
	if change.Epoch != c.epoch.Number+1 {
		if change.Epoch > c.epoch.Number+1 {
			c.catchUp(now, Message{Epoch: change.Epoch})
		}
		return nil
	}
	log := append(c.log, change)
	if log.Validate(c.Founders, c.Quorum) != nil ||
		change.Verify(c.council(), membership.SecondVote, c.epoch.Members, c.Notary.Verify, change.Decided()) != nil {
		return nil // it was not decided by this council
	}
	if err := c.Records.SaveChange(change); err != nil {
		return fmt.Errorf("the change to epoch %d: %w", change.Epoch, err)
	}
	c.log, c.epoch = log, log.Last(c.Founders)
	c.acceptor.vote, c.acceptor.held = Vote{Epoch: change.Epoch + 1}, time.Time{}
	c.proposer, c.lost = proposer{Node: c}, false
	clear(c.reports)
	clear(c.acceptor.promises)
	c.witness.forget()
	c.reported = time.Time{}
	c.decided = append(c.decided, change)
	return nil
}
