package grpc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"time"

	"dsbo/internal/guard"
	"dsbo/internal/num"
	"dsbo/network"
	"dsbo/network/membership"
	"dsbo/network/membership/paxos"
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
			if c.hasEnded() { // and is none of those who are there
				return
			}
			err = cmp.Or(c.seal(), c.judgeBlank())
			if err == nil {
				err = c.seat.Tick(time.Now(), c.observe())
			}
		case <-ctx.Done():
			return
		}
		c.publish()
		if err != nil {
			c.endHere(err)
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
	m, err := c.read(l.data)
	if err != nil {
		return c.reject(l, wasteCouncil, fmt.Errorf("a message of the council cannot be read: %w", err))
	}
	if !c.come.add(num.SplitMix(m.ID+uint64(l.neighbour)), 0) {
		return c.reject(l, wasteTwice, errors.New("a message of the council came twice"))
	}
	if c.seen.has(m.ID) {
		return nil
	}
	if err := c.seat.Verify(time.Now(), m); err != nil {
		return c.reject(l, wasteCouncil, fmt.Errorf("a message of the council is not signed as it must be: %w", err))
	}
	c.seen.add(m.ID, 0)
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

// read reads a message; of a text that has come before, of a message that was seen, its number
// alone.
func (c *chamber) read(text []byte) (m paxos.Message, err error) {
	key := maphash.Bytes(texts, text)
	if id, known := c.texts.known[key]; known && c.seen.has(id) {
		return paxos.Message{ID: id}, nil
	}
	if m, err = paxos.ParseMessage(text, c.seat.Agents()); err == nil {
		c.texts.add(key, m.ID)
	}
	return m, err
}

// texts names texts of messages by numbers that nobody else knows.
var texts = maphash.MakeSeed()

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
// unless it has voted for a change, or proposes one, whose outcome is not known. When that is on
// the disk, the neighbours are told of a radius of n and more. An agent that goes back is sealed no
// more.
func (c *chamber) seal() error {
	m := c.m
	m.mu.Lock()
	is := m.epochChange() == nil && (m.finish.sealed || m.finish.allFinished() && !c.seat.Undecided())
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
		c.seen.add(m.ID, 0)
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
		"no member is heard: the others have finished without agent %d, whose -result can be the folder of one of "+
			"them, or it is cut off, and the same command tries again: %w",
		c.m.config.Agent, &network.SilentError{Processes: names, Silent: silent, Last: last})
}

// endHere ends this agent's part, for this process alone: it may be started again.
func (c *chamber) endHere(err error) {
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	c.m.endRun(err, nil)
}

// admit lets the seat know of an agent that asks to come in for the first time, after a check of
// what it shows.
func (c *chamber) admit(agent int, text string) error {
	a, err := c.m.config.admission(c.m.identity(), agent, text)
	if err != nil {
		return errors.New("its admission is refused: " + err.Error())
	}
	edges := make([][2]int, len(a.Neighbours))
	for k, j := range a.Neighbours {
		edges[k] = [2]int{j, agent}
	}
	c.seat.Admit(agent, edges)
	return nil
}
