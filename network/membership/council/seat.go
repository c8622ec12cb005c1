package council

import (
	"fmt"
	"slices"
	"time"

	"dsbo"
	"dsbo/network/membership"
)

// Records are what a seat reads and writes of its agent's files. An error ends the seat's work.
type Records interface {
	// Points returns the checkpoints that the agent can go back to, the newest first. They stay until a vote is saved that does not have them.
	Points() ([]Point, error)
	// SaveVote keeps the agent's vote in place of the one before. It is on disk when SaveVote returns. The checkpoints of Vote.Points stay from then
	// on, whatever becomes of the process.
	SaveVote(Vote) error
	// SaveChange adds a decided change to the agent's log. It is on disk when SaveChange returns.
	SaveChange(membership.Change) error
}

// Settings are what a seat has to know. All but Agent, Draw and Records are the same at all agents.
type Settings struct {
	Agent    int
	Founders int              // agents of the roster at the start
	Edges    membership.Edges // of the roster's graph at the start
	Quorum   int
	// Absent is how long a neighbour is not heard before it is reported, and how long a proposal waits for members that do not answer.
	Absent time.Duration
	// Admission is what this agent shows as it asks to come in; "" where it is of the roster at the start.
	Admission string
	// Patience is how long a proposer waits for answers before it asks again. What else takes time is a few times as long.
	Patience time.Duration
	// Check returns what is wrong with an epoch whose members are joined by edges; nil: nothing ever is.
	Check   func(membership.Epoch) error
	Draw    func() uint64 // random numbers, which name messages and spread proposals
	Records Records
}

// A Seat is one agent's place in the council, whether it is a member or not. It belongs to one goroutine at a time.
type Seat struct {
	Settings
	log      membership.Log
	epoch    membership.Epoch
	vote     Vote
	admitted map[int]membership.Edges // agents that may come in for the first time, by number

	lost     bool // see Lose
	seen     Observation
	reports  map[int]report
	reported time.Time // when this agent last reported
	told     map[int]time.Time
	attempt  *attempt
	highest  Ballot    // of those that have come
	next     time.Time // of this agent's next attempt; zero: none is due
	failures int       // attempts in a row
	held     time.Time // until when the agent stands still
	waiting  string
	// apartSince is since when only edges are down, between members that answer; zero: they are not.
	apartSince time.Time
	lostSince  time.Time // since when no member has the state with which the epoch begins; zero: one has, as far as is known

	out, own []Message // those to send, and those to this agent itself
	decided  []membership.Change
}

// An Observation is what an agent sees of its neighbours, and whether it can come in, at one moment.
type Observation struct {
	Down  []int // neighbours that it does not hear, ascending
	Slow  []int // those that compute, and for whose vector it has waited too long, ascending
	Blank []int // those that have come back to epoch 0 without a state, and need exchanges again that are no longer kept, ascending
	Ready bool  // it is connected, and can come in if it is no member
}

// equal reports whether two observations are of the same neighbours.
func (o Observation) equal(other Observation) bool {
	return slices.Equal(o.Down, other.Down) && slices.Equal(o.Slow, other.Slow) && slices.Equal(o.Blank, other.Blank)
}

// A report is what an agent has last said of itself.
type report struct {
	at                time.Time
	down, slow, blank []int
	asks              bool
}

// New returns an agent's seat, with the log and the vote that are on its disk.
func New(s Settings, log membership.Log, vote Vote) (*Seat, error) {
	if s.Quorum <= 0 || 2*s.Quorum <= s.Founders {
		return nil, dsbo.Errorf(dsbo.ErrConfig, "the quorum must be more than half of the roster of %d agents; it is %d", s.Founders, s.Quorum)
	}
	if err := log.Validate(s.Founders, s.Quorum); err != nil {
		return nil, err
	}
	c := &Seat{Settings: s, log: slices.Clone(log), epoch: log.Last(s.Founders), vote: vote,
		admitted: map[int]membership.Edges{}, reports: map[int]report{}, told: map[int]time.Time{}}
	if c.vote.Epoch != c.epoch.Number+1 {
		c.vote = Vote{Epoch: c.epoch.Number + 1}
	}
	c.highest = c.vote.Promised
	return c, nil
}

// Admit allows an agent that is not of the roster to come in, over edges of its own: its admission has been checked.
func (c *Seat) Admit(agent int, edges membership.Edges) { c.admitted[agent] = edges }

// Epoch returns the newest epoch that the agent knows to be decided.
func (c *Seat) Epoch() membership.Epoch { return c.epoch }

// Log returns the changes up to there, a view.
func (c *Seat) Log() membership.Log { return c.log }

// Agents returns how many numbers of agents there may be: the quorum is more than half of the roster, however that grows.
func (c *Seat) Agents() int { return Largest(c.Quorum) }

// Largest returns the size of the largest roster of which a quorum is more than half.
func Largest(quorum int) int { return 2*quorum - 1 }

// Held reports whether the agent should stand still, so that what members name is near to each other: it has said which checkpoints it has, or has
// voted and does not know the outcome. A seat whose state was lost with its process is held by its vote.
func (c *Seat) Held(now time.Time) bool { return c.Voted() || now.Before(c.held) }

// Voted reports whether this agent has voted for a change and does not know the outcome.
func (c *Seat) Voted() bool { return c.vote.Change != nil }

// Seal says whether this agent knows that all members have finished. From then on, after a restart too, it proposes nothing of its own, and lets nobody
// in but by a change that somebody has voted for before: members may leave once all are sealed. An error is one of [Records].
func (c *Seat) Seal(is bool) error {
	if c.vote.Sealed == is {
		return nil
	}
	c.vote.Sealed = is
	if err := c.Records.SaveVote(c.vote); err != nil {
		return fmt.Errorf("the end of epoch %d: %w", c.epoch.Number, err)
	}
	return nil
}

// Sealed reports what Seal has said last.
func (c *Seat) Sealed() bool { return c.vote.Sealed }

// Lose says whether this agent is a member that has no checkpoint of the epoch, so that it cannot go on: it asks for a change with which it begins as
// one that comes in.
func (c *Seat) Lose(is bool) { c.lost = is }

// Waiting returns why this agent's last attempts to have a change decided have led to nothing; "" if there were none.
func (c *Seat) Waiting() string { return c.waiting }

// Messages returns the messages to be sent, and forgets them.
func (c *Seat) Messages() []Message {
	out := c.out
	c.out = nil
	return out
}

// Changes returns the changes that were decided since the last call.
func (c *Seat) Changes() []membership.Change {
	decided := c.decided
	c.decided = nil
	return decided
}

// member reports whether this agent is one.
func (c *Seat) member() bool { return c.isMember(c.Agent) }

// asks reports whether this agent asks to come in, or to begin anew.
func (c *Seat) asks() bool {
	if c.member() {
		return c.lost
	}
	return c.seen.Ready
}

func (c *Seat) isMember(agent int) bool {
	_, is := c.epoch.Position(agent)
	return is
}

// Tick tells the seat the time and what its agent sees, which it keeps. It is called every so often, a few times in a Patience.
func (c *Seat) Tick(now time.Time, seen Observation) error {
	changed := !c.seen.equal(seen)
	c.seen = seen
	worth := c.asks() || len(c.newlyDown(c.Agent, seen.Down)) > 0 || c.member() && len(seen.Slow)+len(seen.Blank) > 0
	if changed || worth && now.Sub(c.reported) >= c.Patience {
		c.report(now)
	}
	if err := c.propose(now); err != nil {
		return err
	}
	return c.settle(now)
}

// report tells all what this agent sees, and whether it asks to come in.
func (c *Seat) report(now time.Time) {
	c.reported = now
	c.send(Message{Kind: Report, To: All})
}

// Greet hands a neighbour, which knows the changes up to an epoch, those that it lacks, or asks for those that this agent lacks.
func (c *Seat) Greet(now time.Time, agent, epoch int) {
	if epoch > c.epoch.Number {
		c.catchUp(now, Message{From: agent, Epoch: epoch + 1})
		return
	}
	for _, change := range c.log[min(max(epoch, 0), len(c.log)):] {
		c.send(Message{Kind: Decided, To: agent, Epoch: change.Epoch, Change: &change})
	}
}

// send has a message sent, to this agent itself too if it is for it.
func (c *Seat) send(m Message) {
	m.From, m.ID, m.Hops = c.Agent, c.Draw(), c.Agents()
	if m.Epoch == 0 {
		m.Epoch = c.epoch.Number + 1
	}
	if m.Asks = c.asks(); m.Asks {
		m.Admission = c.Admission
	}
	m.Sealed = m.Kind == Promise && c.vote.Sealed
	if m.Kind == Report || m.Kind == Promise {
		m.Down, m.Slow, m.Blank = slices.Clone(c.seen.Down), slices.Clone(c.seen.Slow), slices.Clone(c.seen.Blank)
	}
	if m.To != c.Agent {
		c.out = append(c.out, m)
	}
	if m.To == c.Agent || m.To == All {
		c.own = append(c.own, m)
	}
}

// Receive takes in a message of another agent. An error is one of [Records]: what must not be forgotten is perhaps not on disk, so
// that the agent must not go on.
func (c *Seat) Receive(now time.Time, m Message) error {
	if m.From == c.Agent {
		return nil
	}
	if err := c.handle(now, m); err != nil {
		return err
	}
	return c.settle(now)
}

// settle handles the messages of this agent to itself.
func (c *Seat) settle(now time.Time) error {
	for len(c.own) > 0 {
		m := c.own[0]
		c.own = c.own[1:]
		if err := c.handle(now, m); err != nil {
			return err
		}
	}
	return nil
}

func (c *Seat) handle(now time.Time, m Message) error {
	if m.To != All && m.To != c.Agent {
		return nil
	}
	if m.Kind == Decided {
		return c.learn(now, *m.Change)
	}
	if m.Epoch != c.epoch.Number+1 {
		c.catchUp(now, m)
		return nil
	}
	if m.Kind == Report || m.Kind == Promise {
		c.reports[m.From] = report{now, m.Down, m.Slow, m.Blank, m.Asks}
	}
	switch m.Kind {
	case Prepare:
		return c.promise(now, m)
	case Accept:
		return c.accept(now, m)
	case Promise, Accepted, Refuse:
		return c.count(now, m)
	case Withdraw: // of a ballot that has asked for no votes, and never will
		if m.Ballot == c.vote.Promised && m.Ballot != c.vote.Accepted {
			c.held, c.vote.Points = time.Time{}, c.vote.Earlier
		}
	}
	return nil
}

// catchUp helps where the sender of a message, or this agent, does not know the newest epoch.
func (c *Seat) catchUp(now time.Time, m Message) {
	if m.Epoch > c.epoch.Number+1 {
		if now.Sub(c.reported) >= c.Patience/2 {
			c.report(now)
		}
		return
	}
	if now.Sub(c.told[m.From]) >= c.Patience/2 {
		c.told[m.From] = now
		c.Greet(now, m.From, m.Epoch-1)
	}
}

// learn takes in a change that is decided.
func (c *Seat) learn(now time.Time, change membership.Change) error {
	if change.Epoch != c.epoch.Number+1 {
		if change.Epoch > c.epoch.Number+1 {
			c.catchUp(now, Message{Epoch: change.Epoch})
		}
		return nil
	}
	log := append(c.log, change)
	if log.Validate(c.Founders, c.Quorum) != nil { // it was not decided by this council
		return nil
	}
	if err := c.Records.SaveChange(change); err != nil {
		return fmt.Errorf("the change to epoch %d: %w", change.Epoch, err)
	}
	c.log, c.epoch = log, log.Last(c.Founders)
	c.vote = Vote{Epoch: change.Epoch + 1}
	c.apartSince, c.lostSince, c.lost = time.Time{}, time.Time{}, false
	c.attempt, c.next, c.held, c.failures, c.waiting = nil, time.Time{}, time.Time{}, 0, ""
	clear(c.reports)
	c.highest, c.reported = Ballot{}, time.Time{}
	c.decided = append(c.decided, change)
	return nil
}
