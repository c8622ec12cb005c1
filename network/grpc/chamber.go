package grpc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"dsbo"
	"dsbo/internal/guard"
	"dsbo/internal/num"
	"dsbo/network"
	"dsbo/network/membership"
	"dsbo/network/membership/paxos"
)

// A Membership has the agents of a run decide who takes part in it: one that is absent or slow for
// too long is left out, and may come back. All agents have the same Quorum and AbsentAfter.
type Membership struct {
	// Quorum is how many members must agree to a change: more than half of the roster.
	Quorum int
	// AbsentAfter is after how long without a sign of life a neighbour is reported absent. It is
	// longer than SilentAfter, and takes the place of PeerTimeout, but for an agent that hears
	// nobody, whose neighbour has diverged, or whose disk does not answer.
	AbsentAfter time.Duration
	// StragglerDeadline is for how long an exchange waits for what a neighbour computes until that
	// is reported as slow, and twice as long after each time that it has been left out for that;
	// Config.ComputeTimeout is the most. A member is left out when all its neighbours have reported
	// it. 0 stands for Config.ComputeTimeout. Agents may have different ones.
	StragglerDeadline time.Duration
	// FewMembers has the agent stay where fewer than three members are left, of more at the start:
	// each of two can take its own terms off the sums, and has the other's.
	FewMembers bool
	// Log is the changes so far, as the agent's disk has them.
	Log membership.Log
	// Vote is its last vote in the council.
	Vote paxos.Vote
	// Give returns what an agent that comes into an epoch takes over from this one. It is called in
	// a goroutine of its own.
	Give func(epoch int) ([]byte, error)
	// Draw returns random numbers, which spread proposals and name messages. nil means the numbers
	// of math/rand/v2.
	Draw func() uint64
	// Records keeps them from now on. Its methods are called by one goroutine, which is not the
	// goroutine of Mix.
	Records paxos.Records
}

// patience is how long a proposer waits for answers. Between processes that are there they take
// milliseconds, but for a disk that writes a vote.
func (s *Membership) patience() time.Duration {
	return min(max(s.AbsentAfter/10, 20*time.Millisecond), time.Second)
}

func (s *Membership) validate(c *Config) error {
	n := c.Matrix.N()
	switch {
	case s == nil:
		return nil
	case 2*s.Quorum <= n || s.Quorum > n:
		return dsbo.Errorf(dsbo.ErrConfig,
			"Membership.Quorum must be more than half of the %d agents, and no more than all; it is %d", n, s.Quorum)
	case s.AbsentAfter <= c.SilentAfter:
		return dsbo.Errorf(dsbo.ErrConfig, "Membership.AbsentAfter must be longer than SilentAfter, %v; it is %v",
			c.SilentAfter, s.AbsentAfter)
	case s.StragglerDeadline != 0 && (s.StragglerDeadline <= c.SilentAfter || s.StragglerDeadline > c.ComputeTimeout):
		return dsbo.Errorf(dsbo.ErrConfig,
			"Membership.StragglerDeadline must be longer than SilentAfter, %v, and at most ComputeTimeout, %v; "+
				"it is %v",
			c.SilentAfter, c.ComputeTimeout, s.StragglerDeadline)
	case s.Records == nil || s.Give == nil:
		return dsbo.Errorf(dsbo.ErrConfig, "Membership.Records and Give must be set")
	}
	return s.Log.Validate(n, s.Quorum)
}

// A chamber is where an agent's seat in the council is: it brings the seat its messages and the
// time, and passes on the messages of all agents from neighbour to neighbour. Its goroutine writes
// to the disk, and holds no lock meanwhile.
type chamber struct {
	m     *Mixer       // the agent's mixer
	seat  *paxos.Node  // of the goroutine
	seen  recent       // messages, by their numbers; of the goroutine
	come  recent       // messages of each neighbour; of the goroutine
	said  guard.Budget // how many messages each agent may send in a time
	inbox chan letter  // messages of the council, in the order in which they came

	// Guarded by the mixer's lock.
	log     membership.Log // decided
	held    bool           // the agent stands still
	company int            // ticks for which any neighbour has been connected
	waiting string         // why there is no change although there should be; "" if there need be none
	unheard int            // heartbeats since a member of the newest epoch was heard, through whomever
}

// A letter is what a neighbour sent to the council, or that it knows other changes than this agent:
// those up to an epoch.
type letter struct {
	neighbour int
	data      []byte // nil: it knows others
	epoch     int
}

const (
	// ticks of a chamber make a patience.
	ticks = 4
	// settled is for how many times the patience connections that were lost together may take to
	// come back.
	settled = 15
	// inboxSize bounds the letters that wait for a chamber. Those that come while it is full are
	// lost, as any may be.
	inboxSize = 64
	// maxQueued bounds those that wait for a stream.
	maxQueued = 256
	// mostMessages is how many messages of an agent are passed on in a patience.
	mostMessages = 100
)

func newChamber(m *Mixer) (*chamber, error) {
	s := m.config.Membership
	if s == nil {
		return nil, nil
	}
	draw := s.Draw
	if draw == nil {
		draw = rand.Uint64
	}
	seat, err := paxos.New(paxos.Settings{
		Agent: m.config.Agent, Run: m.config.Run, Hash: m.config.Hash, Founders: m.config.Matrix.N(),
		Edges: edgesOf(m.config.Matrix), Admission: m.config.Admission, Quorum: s.Quorum, Absent: s.AbsentAfter,
		Patience: s.patience(), Draw: draw, Records: s.Records, Notary: notary{m}, Check: m.config.checkMembers,
	}, s.Log, s.Vote)
	if err != nil {
		return nil, err
	}
	burst := 20 * s.patience()
	return &chamber{m: m, seat: seat, inbox: make(chan letter, inboxSize), log: seat.Log(),
		said: guard.Budget{Most: burst, Period: burst},
		held: seat.Held(time.Now())}, nil
}

// leastMembers is the number of members from which on a sum hides each of its terms from
// the others.
const leastMembers = 3

// checkMembers returns an error unless the members of an epoch can exchange, and are not too few
// for sums to hide anything.
func (c *Config) checkMembers(e membership.Epoch) error {
	if least := min(leastMembers, c.Matrix.N()); len(e.Members) < least && !c.Membership.FewMembers && !c.Unmasked {
		return dsbo.Errorf(dsbo.ErrConfig, "epoch %d must have at least %d members, or each has the other's terms of "+
			"all sums; it would have %d (FewMembers, by -few-sites, allows it)", e.Number, least, len(e.Members))
	}
	_, err := c.Matrix.Members(e)
	return err
}

// edgesOf returns the edges of a graph.
func edgesOf(w *network.Matrix) (edges membership.Edges) {
	for i := range w.N() {
		for _, j := range w.Neighbours(i) {
			if i < j {
				edges = append(edges, [2]int{i, j})
			}
		}
	}
	return edges
}

// run has the seat take part until ctx ends.
func (c *chamber) run(ctx context.Context) {
	t := time.NewTicker(c.m.config.Membership.patience() / ticks)
	defer t.Stop()
	for {
		var err error
		select {
		case l := <-c.inbox:
			err = c.open(l)
		case <-t.C:
			if c.m.chamber.hasEnded() { // and is none of those who are there
				return
			}
			err = cmp.Or(c.seal(), c.judgeBlank())
			if err == nil {
				err = c.seat.Tick(time.Now(), c.m.chamber.observe())
			}
		case <-ctx.Done():
			return
		}
		c.publish()
		if err != nil {
			c.m.chamber.endHere(err)
			return
		}
	}
}

// open reads a letter, passes it on, and hands it to the seat.
func (c *chamber) open(l letter) error {
	if l.data == nil {
		c.seat.SendChanges(time.Now(), l.neighbour, l.epoch)
		return nil
	}
	m, err := paxos.ParseMessage(l.data, c.seat.Agents())
	if err != nil {
		return c.reject(l, wasteCouncil, fmt.Errorf("a message of the council cannot be read: %w", err))
	}
	if !c.come.add(num.SplitMix(m.ID + uint64(l.neighbour))) {
		return c.reject(l, wasteTwice, errors.New("a message of the council came twice"))
	}
	if c.seen.known[m.ID] {
		return nil
	}
	if err := c.seat.Verify(time.Now(), m); err != nil {
		return c.reject(l, wasteCouncil, fmt.Errorf("a message of the council is not signed as it must be: %w", err))
	}
	c.seen.add(m.ID)
	if patience := c.m.config.Membership.patience(); !c.said.Spend(m.From, time.Now(), patience/mostMessages) {
		return nil // whoever sends so much says nothing new
	}
	c.noteSign(m.From)
	for _, said := range append(m.Promises, m) {
		if !said.Asks || said.From < c.seat.Founders {
			continue
		}
		if err := c.admit(said.From, said.Admission); err != nil {
			c.m.config.Log.Warn("an agent cannot come in", "agent", said.From, "reason", err)
			return nil
		}
	}
	if m.Hops > 0 && m.To != c.m.config.Agent {
		m.Hops--
		c.send(m, l.neighbour)
	}
	return c.seat.Receive(time.Now(), m)
}

// reject counts a letter that brings nothing against the neighbour that has passed it on, which
// passes on what it has verified alone.
func (c *chamber) reject(l letter, waste time.Duration, reason error) error {
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	if e := c.m.neighbours.edge(l.neighbour); e != nil {
		e.conduct.spend(waste, reason)
	}
	return nil
}

// seal has the seat let nobody in any more as soon as all members are known to have finished,
// unless it has a vote whose outcome is not known. When that is on the disk, the neighbours are
// told of a radius of n and more. An agent that goes back is sealed no more.
func (c *chamber) seal() error {
	m := c.m
	m.mu.Lock()
	is := m.epochChange() == nil && (m.finish.sealed || m.finish.allFinished() && !c.seat.Voted())
	c.seat.SetLost(m.stateLost && m.epochChange() == nil)
	m.mu.Unlock()
	if err := c.seat.Seal(is); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if is && !m.finish.sealed && m.finish.allFinished() { // it has not gone back meanwhile
		m.finish.sealed = true
		m.neighbours.announce()
		m.flow.notifyWaiter()
	}
	return nil
}

// publish sends what the seat has to say, and tells the agent what is decided.
func (c *chamber) publish() {
	for _, m := range c.seat.Messages() {
		c.seen.add(m.ID)
		c.send(m, -1)
	}
	m := c.m
	m.mu.Lock()
	defer m.mu.Unlock()
	held, waiting := c.seat.Held(time.Now()), c.seat.Waiting()
	if waiting != c.waiting && waiting != "" {
		m.config.Log.Warn("the run waits", "reason", waiting)
	}
	m.handovers.askPieceAgain()
	if held != c.held {
		m.flow.notifyWaiter()
	}
	c.held, c.waiting = held, waiting
	for _, change := range c.seat.Changes() {
		c.log = c.seat.Log()
		m.config.Log.Info("members change", "epoch", change.Epoch, "iteration", change.Iteration, "members",
			change.Members, "why", change.Why)
		c.spendChange(c.log[:change.Epoch])
		m.flow.notifyWaiter()
	}
}

// send has a message put on the stream to the neighbour that it is for, if there is one, else on
// all but that to the neighbour that it came from.
func (c *chamber) send(msg paxos.Message, from int) {
	frame := encode(header{kind: kindControl}, msg.Encode())
	m := c.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.neighbours.edge(msg.To); e != nil && e.session != nil {
		e.queue(frame)
		return
	}
	for _, e := range m.neighbours.edges {
		if e.id != from {
			e.queue(frame)
		}
	}
}

// deliver hands the chamber a letter, unless it has too many.
func (c *chamber) deliver(l letter) {
	select {
	case c.inbox <- l:
	default:
	}
}

// queue has a frame of the council sent on the stream, if there is one and it has not too many.
func (e *edge) queue(frame []byte) {
	if e.session != nil && len(e.session.councilFrames) < maxQueued {
		e.session.councilFrames = append(e.session.councilFrames, frame)
		e.wake()
	}
}

// hasEnded reports whether this agent's part has ended.
func (c *chamber) hasEnded() bool {
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	return c.m.err != nil
}

// noteSign notes that an agent has said something.
func (c *chamber) noteSign(agent int) {
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	if c.isMember(agent) {
		c.unheard = 0
	}
}

// isMember reports whether an agent is a member of the newest epoch.
func (c *chamber) isMember(agent int) bool {
	_, is := c.log.Last(c.m.config.Matrix.N()).Position(agent)
	return is
}

// checkIsolation returns an error if this agent has heard nobody who counts for PeerTimeout, and so
// long that the others may have left it out: where there is a council nothing else ends the wait of
// one that comes back after the others have finished. Who counts for one that is no member are
// members: they answer those who ask to come in.
func (c *chamber) checkIsolation() error {
	if c == nil || len(c.m.neighbours.edges) == 0 || c.m.finish.allFinished() && c.m.finish.recorded {
		return nil
	}
	c.unheard++
	silent, names, last := c.m.watch.Beats(c.unheard), []string(nil), error(nil)
	all := c.isMember(c.m.config.Agent)
	for _, e := range c.m.neighbours.edges {
		if all || c.isMember(e.id) {
			silent = min(silent, e.silence())
		}
		last = cmp.Or(last, e.lastErr)
		names = append(names, fmt.Sprintf("agent %d", e.id))
	}
	if silent < max(c.m.config.PeerTimeout, 2*c.m.config.Membership.AbsentAfter) {
		return nil
	}
	return fmt.Errorf(
		"no member is heard: the others have finished without agent %d, or it is cut off, and the same command "+
			"tries again: %w",
		c.m.config.Agent, &network.SilentError{Processes: names, Silent: silent, Last: last})
}

// endHere ends this agent's part, for this process alone: it may be started again.
func (c *chamber) endHere(err error) {
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	c.m.err = cmp.Or(c.m.err, err)
	c.m.flow.notifyWaiter()
}
