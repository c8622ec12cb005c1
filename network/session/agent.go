package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"dsbo/internal/wording"
	"dsbo/network"
	"dsbo/network/masks"
	"dsbo/network/pki"
	"dsbo/network/register"
)

// An Agent is one that meets the others and takes part in sessions.
type Agent struct {
	config   Config
	tag      string // of the agent's data
	links    *links
	work     sync.WaitGroup
	closing  context.Context
	close    context.CancelFunc
	promises chan uint64 // numbers for the clerk

	disk chan struct{} // holds one while the register or a file on which the run depends is written

	mu       sync.Mutex
	state    register.State // as the disk has it
	lines    map[int]*line  // by neighbour
	route    route
	council  *council
	roll     roll
	current  *Session         // under way, or about to begin; nil: the agents meet
	begun    *Session         // for Next; nil: there is none that it has not returned
	key      *masks.Key       // of the masks of the session that was promised last; nil: used
	looking  bool             // whether the disk is asked for a result that is final
	finals   map[int]bool     // agents that know that the result is final
	slow     map[int]struct{} // neighbours for which the session before ended as slow
	saves    int              // since a session ended so that an agent could come in
	since    time.Time        // when the meeting began
	over     time.Time        // when the session before ended
	idle     bool             // whether the caller waits in Next
	wait     string           // why no session can begin; "": one can, or is under way
	away     []int            // who the meeting waits for
	logged   string           // of wait
	diskBusy time.Time        // since when a write is under way; zero: none is
	err      error            // why the agent's part is over
	news     chan struct{}    // holds a wake-up of Next and Linger
}

// A line is the way to a neighbour.
type line struct {
	agent    int
	conn     *conn     // nil: there is none at present
	since    time.Time // when it was made, or ended
	instance uint64    // of the neighbour's process that was connected last
	heard    time.Time
	activity activity  // as the neighbour tells
	round    int       // the exchange that it is in
	silent   bool      // the log has it
	lastErr  error     // of the last connection, or attempt
	strange  bool      // it has other settings
	stats    Neighbour // counts
}

var (
	_ host = (*Agent)(nil)
	_ desk = (*Agent)(nil)
)

// Open starts an agent: it connects to its neighbours, again and again until they are there, and
// meets the others. [Agent.Close] ends it. On error the listener is closed too.
func Open(c Config) (*Agent, error) {
	a, err := newAgent(c)
	if err == nil {
		a.links, err = newLinks(&a.config, a)
	}
	if err != nil {
		if c.Listener != nil {
			err = errors.Join(err, c.Listener.Close())
		}
		return nil, err
	}
	a.links.start()
	a.work.Go(a.clerk)
	a.work.Go(a.ticker)
	return a, nil
}

// newAgent returns an agent with what its folder has, without connections.
func newAgent(c Config) (*Agent, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	if c.Identity != nil {
		var err error
		if c.Identity, err = c.Identity.InRun(c.Run, c.Keys); err != nil {
			return nil, err
		}
	}
	state, err := c.Store.Register()
	if err != nil {
		return nil, err
	}
	tag, err := register.DataTag(c.Identity, c.Run, c.Data)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	a := &Agent{config: c, tag: tag, promises: make(chan uint64, 1), state: state, lines: map[int]*line{},
		council: newCouncil(c.Agent, c.Heartbeat, c.AbsentAfter), finals: map[int]bool{}, slow: map[int]struct{}{},
		saves: entrySaves, since: now, over: now, news: make(chan struct{}, 1), disk: make(chan struct{}, 1)}
	a.closing, a.close = context.WithCancel(context.Background())
	if err := a.readRoll(); err != nil {
		return nil, err
	}
	for _, j := range a.roll.neighbours(c.Agent, c.neighbours()) {
		a.lines[j] = &line{agent: j, since: now, heard: now}
	}
	if state.Final {
		a.finals[c.Agent] = true
	}
	return a, nil
}

// Close ends this agent's part: the session under way ends for all, and the connections.
func (a *Agent) Close() error {
	a.stop(true)
	a.close()
	a.links.close()
	a.work.Wait()
	return nil
}

// stop ends the session under way; tell says whether the others are told.
func (a *Agent) stop(tell bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.current; s != nil {
		a.endLocked(&Over{Session: s.Number, Agent: a.config.Agent, Why: "it stops", Cause: network.ErrClosed}, tell)
	}
	if a.err == nil {
		a.err = network.ErrClosed
	}
	a.notify()
}

// notify wakes Next and Linger.
func (a *Agent) notify() {
	select {
	case a.news <- struct{}{}:
	default:
	}
}

// ErrFinal is what Next returns once a quorum has the result, and this agent too.
var ErrFinal = errors.New("the result is final")

// Next ends the session before, if that goes on, and waits for the next one in which this agent
// takes part. [Session.Join] is due then. Once the result is final it returns [ErrFinal], and
// [Agent.Linger] is due. Other errors end the agent's part: a [*FencedError]; a
// [*network.SilentError], if a meeting leads to no session for Config.PeerTimeout; a
// [*network.EndedError], if another agent has failed; dsbo.ErrConfig, if this one is refused; an
// error of the disk, or of ctx.
func (a *Agent) Next(ctx context.Context) (*Session, error) {
	a.mu.Lock()
	a.idle = true
	if a.current != nil && a.begun == nil {
		a.endLocked(&Over{Session: a.current.Number, Agent: a.config.Agent, Why: "it goes back to the checkpoint"}, true)
	}
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.idle = false
	}()
	for {
		a.mu.Lock()
		s, err, isFinal := a.begun, a.err, a.state.Final
		a.begun = nil
		a.mu.Unlock()
		switch {
		case isFinal:
			return nil, ErrFinal
		case err != nil:
			return nil, err
		case s != nil:
			if err := a.begin(s); err == nil {
				return s, nil
			} else if !errors.As(err, new(*Over)) {
				return nil, err
			}
			continue
		}
		select {
		case <-a.news:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// fault ends this agent's part because of an error of its own, such as of its disk.
func (a *Agent) fault(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.faultLocked(err)
}

func (a *Agent) faultLocked(err error) {
	if a.err != nil {
		return
	}
	a.err = err
	if a.current != nil {
		a.endLocked(&Over{Session: a.current.Number, Agent: a.config.Agent, Why: bounded(err.Error()), Cause: err}, true)
	}
	a.notify()
}

// bounded returns as much of a text as a message may have, in one line of printable characters.
func bounded(text string) string { return wording.Plain(text[:min(len(text), maxWhy/2)]) }

// Fail ends the run for all agents because of err: theirs end with a [*network.EndedError].
func (a *Agent) Fail(err error) { a.fail(err) }

func (a *Agent) fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err == nil {
		a.floodLocked(message{Subject: fails, Why: bounded(err.Error()), Kind: network.Kind(err)})
	}
	a.faultLocked(err)
}

// greeting implements host.
func (a *Agent) greeting(to int) (session uint64, due int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.current == nil {
		return 0, 0
	}
	return a.current.x.id, a.current.x.due(to)
}

// admit implements host.
func (a *Agent) admit(h hello) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if h.Admission != "" {
		if err := a.admitLocked(h.From, h.Admission); err != nil {
			return err
		}
	}
	if a.roll.isRemoved(h.From) {
		return removedError(h.From)
	}
	l := a.lines[h.From]
	if l == nil {
		return fmt.Errorf("agent %d is no neighbour of agent %d", h.From, a.config.Agent)
	}
	if l.conn != nil && h.Instance < l.instance && time.Since(l.heard) < a.config.SilentAfter {
		return errFenced
	}
	return nil
}

// attach implements host.
func (a *Agent) attach(c *conn, h hello) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.lines[h.From]
	if l == nil {
		return fmt.Errorf("agent %d is no neighbour of agent %d", h.From, a.config.Agent)
	}
	if a.roll.isRemoved(h.From) {
		return removedError(h.From)
	}
	if old := l.conn; old != nil {
		reason := errReplaced
		if h.Instance != l.instance {
			reason = errFenced
		}
		a.detachLocked(l, reason)
		old.drop(reason)
	}
	other := l.instance != 0 && l.instance != h.Instance
	now := time.Now()
	l.conn, l.since, l.instance, l.heard, l.silent, l.lastErr, l.strange = c, now, h.Instance, now, false, nil, false
	l.activity = meeting
	l.stats.Connects++
	a.config.Log.Info("connected to a neighbour", "neighbour", l.agent)
	if a.isMeeting() {
		a.tellHere() // the others need not wait for a heartbeat
	}
	s := a.current
	if s == nil || s.x.tieOf(l.agent) == nil {
		return nil
	}
	switch {
	case other:
		a.endLocked(&Over{Session: s.Number, Agent: l.agent, Why: "its process began anew"}, true)
	case h.Session != s.x.id:
		a.endLocked(&Over{Session: s.Number, Agent: l.agent, Why: "it is not in this session"}, true)
	default:
		s.x.attach(l.agent, c, h.Due)
	}
	return nil
}

// detach implements host.
func (a *Agent) detach(c *conn, why error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if l := a.lines[c.to]; l != nil && l.conn == c {
		a.detachLocked(l, why)
	}
}

func (a *Agent) detachLocked(l *line, why error) {
	if a.current != nil {
		a.current.x.detach(l.conn)
	}
	l.conn, l.since, l.lastErr = nil, time.Now(), why
	if a.err == nil {
		a.config.Log.Warn("lost the connection to a neighbour", "neighbour", l.agent, "reason", why)
	}
}

// refused implements host.
func (a *Agent) refused(agent int, why error, settings bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.lines[agent]
	if l == nil || l.conn != nil {
		return
	}
	l.lastErr, l.strange = why, settings
	if fenced := (*FencedError)(nil); errors.As(why, &fenced) {
		a.fenceLocked(agent)
	}
	if a.isStrange() {
		a.faultLocked(settingsRefused(why))
	}
}

// isStrange reports whether this agent has met no neighbour since its start but such as have other
// settings, and has met all: one of them is wrong, and no wait helps.
func (a *Agent) isStrange() bool {
	for _, l := range a.lines {
		if !l.strange || l.stats.Connects > 0 {
			return false
		}
	}
	return len(a.lines) > 0
}

// fenceLocked ends this process's part, as a later one of this agent is there.
func (a *Agent) fenceLocked(neighbour int) {
	if a.err == nil {
		err := &FencedError{Agent: a.config.Agent, Neighbour: neighbour}
		a.config.Log.Error("this process ends", "reason", err)
		a.faultLocked(err)
	}
}

// Renew gives this agent another certificate, or other authorities: its connections are made again
// with them, within Config.Grace, and no vector is lost. Errors match dsbo.ErrConfig.
func (a *Agent) Renew(id *pki.Identity) error { return a.links.renew(id) }

// linked returns the neighbours that a session can have edges to, ascending: those that are
// connected, or were within AbsentAfter; without a quorum, all. The lock is held.
func (a *Agent) linked(now time.Time) (all []int) {
	for j, l := range a.lines {
		if l.conn != nil || a.config.AbsentAfter == 0 || now.Sub(l.since) < a.config.AbsentAfter {
			all = append(all, j)
		}
	}
	slices.Sort(all)
	return all
}

// connected returns the neighbours that are connected, ascending. The lock is held.
func (a *Agent) connected() (all []int) {
	for j, l := range a.lines {
		if l.conn != nil {
			all = append(all, j)
		}
	}
	slices.Sort(all)
	return all
}
