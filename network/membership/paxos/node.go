package paxos

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"dsbo"
	"dsbo/network/membership"
)

// Records are what a node reads and writes of its agent's files. An error ends the node's work.
type Records interface {
	// Points returns the checkpoints that the agent can go back to, the newest first. They stay
	// until a vote is saved that does not have them.
	Points() ([]Point, error)
	// SaveVote keeps the agent's vote in place of the one before. It is on disk when SaveVote
	// returns. The checkpoints of Vote.Points stay from then on, whatever becomes of the process.
	SaveVote(Vote) error
	// SaveChange adds a decided change to the agent's log. It is on disk when SaveChange returns.
	SaveChange(membership.Change) error
}

// Settings are what a node has to know. All but Agent, Draw and Records are the same at all agents.
type Settings struct {
	Agent    int              // its number
	Run      string           // the run's name
	Hash     string           // of its settings
	Founders int              // agents of the roster at the start
	Edges    membership.Edges // of the roster's graph at the start
	Quorum   int              // members that must accept a change
	// Absent is how long a neighbour is not heard before it is reported, and how long a proposal
	// waits for members that do not answer.
	Absent time.Duration
	// Admission is what this agent shows as it asks to come in; "" where it is of the roster at
	// the start.
	Admission string
	// Patience is how long a proposer waits for answers before it asks again. What else takes time
	// is a few times as long.
	Patience time.Duration
	// Notary signs for this agent and checks the signatures of others.
	Notary Notary
	// Check returns what is wrong with an epoch whose members are joined by edges; nil: nothing
	// ever is.
	Check   func(membership.Epoch) error
	Draw    func() uint64 // random numbers, which name messages and spread proposals
	Records Records       // where promises and votes are kept
}

// A Node is one agent's place among those that decide, whether it is a member or not. It belongs to
// one goroutine at a time.
type Node struct {
	Settings
	log      membership.Log           // decided changes
	epoch    membership.Epoch         // after them
	admitted map[int]membership.Edges // agents that may come in for the first time, by number

	acceptor acceptor // promises and votes
	proposer proposer // of the node's own ballots
	witness  witness  // of votes that contradict each other
	life     uint64   // of this process, in its ballots

	lost     bool           // see SetLost
	seen     Observation    // what the transport observed last
	reports  map[int]report // by agent
	reported time.Time      // when this agent last reported

	told    map[int]time.Time   // when an agent was handed changes last
	decided []membership.Change // since the last call of Changes

	out, own []Message // to others, and to this agent itself
	failure  error     // of the notary, which ends this agent's part
}

// An Observation is what an agent sees of its neighbours, and whether it can come in, at
// one moment.
type Observation struct {
	Down []int // neighbours that it does not hear, ascending
	Slow []int // those that compute, and for whose vector it has waited too long, ascending
	// those that have come back to epoch 0 without a state, and need exchanges again that are no
	// longer kept, ascending
	Blank []int
	Ready bool // it is connected, and can come in if it is no member
	Saved int  // the exchange of the last checkpoint that it has written in the epoch
}

// equal reports whether two observations are of the same neighbours.
func (o Observation) equal(other Observation) bool {
	return slices.Equal(o.Down, other.Down) && slices.Equal(o.Slow, other.Slow) && slices.Equal(o.Blank, other.Blank)
}

// A report is what an agent has last said of itself: Down, Slow, Blank and Asks alone.
type report struct {
	Message
	at time.Time
}

// New returns an agent's seat, with the log and the vote that are on its disk.
func New(s Settings, log membership.Log, vote Vote) (*Node, error) {
	if s.Quorum <= 0 || 2*s.Quorum <= s.Founders {
		return nil, dsbo.ConfigErrorf(
			"the quorum must be more than half of the roster of %d agents; it is %d", s.Founders, s.Quorum)
	}
	if err := log.Validate(s.Founders, s.Quorum); err != nil {
		return nil, err
	}
	c := &Node{Settings: s, log: slices.Clone(log), epoch: log.Last(s.Founders),
		admitted: map[int]membership.Edges{}, reports: map[int]report{}, told: map[int]time.Time{}}
	c.acceptor = newAcceptor(c, vote)
	c.proposer, c.witness.Node, c.life = proposer{Node: c}, c, s.Draw()
	c.witness.forget()
	if c.acceptor.vote.Epoch != c.epoch.Number+1 {
		c.acceptor.vote = Vote{Epoch: c.epoch.Number + 1}
	}
	c.proposer.highest = c.acceptor.vote.Promised
	return c, nil
}

// Admit allows an agent that is not of the roster to come in, over edges of its own: its admission
// has been checked.
func (c *Node) Admit(agent int, edges membership.Edges) { c.admitted[agent] = edges }

// Epoch returns the newest epoch that the agent knows to be decided.
func (c *Node) Epoch() membership.Epoch { return c.epoch }

// Log returns the changes up to there, a view.
func (c *Node) Log() membership.Log { return c.log }

// Agents returns how many numbers of agents there may be: the quorum is more than half of the
// roster, however that grows.
func (c *Node) Agents() int { return LargestRoster(c.Quorum) }

// LargestRoster returns the size of the largest roster of which a quorum is more than half.
func LargestRoster(quorum int) int { return 2*quorum - 1 }

// Held reports whether the agent should stand still, so that what members name is near to each
// other: it has said which checkpoints it has, or has voted and does not know the outcome. A node
// whose state was lost with its process is held by its vote.
func (c *Node) Held(now time.Time) bool { return c.voted() || now.Before(c.acceptor.held) }

// voted reports whether this agent has voted for a change and does not know the outcome.
func (c *Node) voted() bool { return c.acceptor.vote.Change != nil || c.acceptor.vote.Confirmed != nil }

// Undecided reports whether this agent has voted for a change, or proposes one, and does not know
// the outcome.
func (c *Node) Undecided() bool {
	return c.voted() || c.proposer.attempt != nil && c.proposer.attempt.change != nil
}

// Seal says whether this agent knows that all members have finished. From then on, after a restart
// too, it proposes nothing of its own, and lets nobody in but by a change that somebody has voted
// for before: members may leave once all are sealed. An error is one of [Records].
func (c *Node) Seal(is bool) error {
	if c.acceptor.vote.Sealed == is {
		return nil
	}
	c.acceptor.vote.Sealed = is
	if err := c.Records.SaveVote(c.acceptor.vote); err != nil {
		return fmt.Errorf("the end of epoch %d: %w", c.epoch.Number, err)
	}
	return nil
}

// Sealed reports what Seal has said last.
func (c *Node) Sealed() bool { return c.acceptor.vote.Sealed }

// SetLost says whether this agent is a member that has no checkpoint of the epoch, so that it
// cannot go on: it asks for a change with which it begins as one that comes in.
func (c *Node) SetLost(is bool) { c.lost = is }

// Waiting returns why this agent's last attempts to have a change decided have led to nothing; ""
// if there were none.
func (c *Node) Waiting() string { return c.proposer.waiting }

// Messages returns the messages to be sent, and forgets them.
func (c *Node) Messages() []Message {
	out := c.out
	c.out = nil
	return out
}

// Changes returns the changes that were decided since the last call.
func (c *Node) Changes() []membership.Change {
	decided := c.decided
	c.decided = nil
	return decided
}

// member reports whether this agent is one.
func (c *Node) member() bool { return c.isMember(c.Agent) }

// asks reports whether this agent asks to come in, or to begin anew.
func (c *Node) asks() bool {
	if c.member() {
		return c.lost
	}
	return c.seen.Ready
}

func (c *Node) isMember(agent int) bool {
	_, is := c.epoch.Position(agent)
	return is
}

// Tick tells the node the time and what its agent sees, which it keeps. It is called every so
// often, a few times in a Patience.
func (c *Node) Tick(now time.Time, seen Observation) error {
	changed := !c.seen.equal(seen)
	c.seen = seen
	worth := c.asks() || len(c.newlyDown(c.Agent, seen.Down)) > 0 || c.member() && len(seen.Slow)+len(seen.Blank) > 0
	if changed || worth && now.Sub(c.reported) >= c.Patience {
		c.report(now)
	}
	if err := c.proposer.propose(now); err != nil {
		return err
	}
	return c.handleOwn(now)
}

// report tells all what this agent sees, and whether it asks to come in.
func (c *Node) report(now time.Time) {
	c.reported = now
	c.send(Message{Kind: Report, To: All})
}

// send has a message sent, to this agent itself too if it is for it.
func (c *Node) send(m Message) {
	m.From, m.ID, m.Hops = c.Agent, c.Draw(), c.Agents()
	if m.Epoch == 0 {
		m.Epoch = c.epoch.Number + 1
	}
	if m.Asks = c.asks(); m.Asks {
		m.Admission = c.Admission
	}
	m.Sealed = m.Kind == Promise && c.acceptor.vote.Sealed
	if m.Kind == Report || m.Kind == Promise {
		m.Down, m.Slow, m.Blank = slices.Clone(c.seen.Down), slices.Clone(c.seen.Slow), slices.Clone(c.seen.Blank)
	}
	if m.Kind == Report || m.Kind == Accept {
		m.Liars = c.witness.proofs()
	}
	if err := c.sign(&m); err != nil {
		c.failure = cmp.Or(c.failure, err)
		return
	}
	if m.To != c.Agent {
		c.out = append(c.out, m)
	}
	if m.To == c.Agent || m.To == All {
		c.own = append(c.own, m)
	}
}

// Receive takes in a message of another agent, which [Node.Verify] has verified. An error is one of
// [Records] or of the notary: what must not be
// forgotten is perhaps not on disk, so that the agent must not go on.
func (c *Node) Receive(now time.Time, m Message) error {
	if m.From == c.Agent {
		return nil
	}
	if err := c.handle(now, m); err != nil {
		return err
	}
	return c.handleOwn(now)
}

// handleOwn handles the messages of this agent to itself.
func (c *Node) handleOwn(now time.Time) error {
	for len(c.own) > 0 {
		m := c.own[0]
		c.own = c.own[1:]
		if err := c.handle(now, m); err != nil {
			return err
		}
	}
	return c.failure
}

func (c *Node) handle(now time.Time, m Message) error {
	if m.To != All && m.To != c.Agent {
		return nil
	}
	if m.Kind == Decided {
		return c.decide(now, *m.Change)
	}
	if m.Epoch != c.epoch.Number+1 {
		c.catchUp(now, m)
		return nil
	}
	if m.Kind == Report || m.Kind == Promise {
		c.reports[m.From] = report{Message{Down: m.Down, Slow: m.Slow, Blank: m.Blank, Asks: m.Asks}, now}
	}
	c.witness.noteLies(now, m.Liars)
	switch m.Kind {
	case Prepare, Accept, Confirm, Withdraw: // of a member's own ballot
		if m.Ballot.Agent != m.From || !c.isMember(m.From) || c.isLiar(m.From) {
			return nil
		}
	}
	switch m.Kind {
	case Prepare:
		return c.acceptor.promise(now, m)
	case Accept:
		return c.acceptor.accept(now, m)
	case Confirm:
		return c.acceptor.confirm(now, m)
	case Promise, Accepted, Confirmed, Refuse:
		c.acceptor.noteAnswer(m)
		return c.proposer.countAnswer(now, m)
	case Withdraw: // of a ballot that has asked for no votes, and never will
		return c.acceptor.release(now, m)
	}
	return nil
}
