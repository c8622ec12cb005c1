package session

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"dsbo"
	"dsbo/internal/wording"
	"dsbo/network"
	"dsbo/network/masks"
	"dsbo/network/pki"
	"dsbo/network/register"
)

// An Agent meets the other agents and takes part in sessions.
type Agent struct {
	config  Config             // valid, with its defaults
	tag     string             // of the agent's data
	links   *links             // connections, and the attempts to make them
	ledger  *ledger            // the register, on the disk
	work    sync.WaitGroup     // of all goroutines but the links'
	closing context.Context    // until Close
	close   context.CancelFunc // ends closing
	news    chan struct{}      // has a wake-up of Next and Linger
	asks    chan struct{}      // has a wake-up of keepPromising

	mu         sync.Mutex    // guards the fields below
	err        error         // why the agent's part is over
	idle       bool          // whether the caller waits in Next
	looking    bool          // whether the disk is asked for a result that is final
	neighbours neighbourhood // who this agent is connected to
	warrants   warrants      // who may take part
	council    *council      // who is here while the agents meet
	chain      chain         // of sessions at this agent
}

// A chain is a run's sessions at one agent, of which it keeps the newest.
type chain struct {
	current *Session   // under way, or about to begin; nil: the agents meet
	begun   *Session   // current, until Next has returned it
	key     *masks.Key // of the masks of the session that was promised last; nil: used
	asked   uint64     // highest number that was proposed
	slow    []int      // neighbours for which the session before ended as slow, ascending
	saves   int        // since a session ended to admit an agent
	over    time.Time  // when the session before ended
	sealed  time.Time  // when this process found the result to be final
}

var (
	_ host  = (*Agent)(nil)
	_ owner = (*Agent)(nil)
)

// Open starts an agent: it connects to its neighbours, with retries, and meets the other agents.
// [Agent.Close] ends it. On error the listener is closed too.
func Open(c Config) (*Agent, error) {
	a, err := newAgent(c)
	if err != nil {
		if c.Listener != nil {
			err = errors.Join(err, c.Listener.Close())
		}
		return nil, err
	}
	a.links.start()
	a.work.Go(a.keepPromising)
	a.work.Go(func() { every(a.closing, a.config.Heartbeat, a.heartbeat) })
	return a, nil
}

// newAgent returns an agent in the state of its folder, without connections.
func newAgent(c Config) (*Agent, error) {
	c = c.withDefaults()
	err := c.validate()
	if err != nil {
		return nil, err
	}
	if c.Identity != nil {
		if c.Identity, err = c.Identity.InRun(c.Run, c.Keys); err != nil {
			return nil, err
		}
	}
	key, err := c.tagKey()
	if err != nil {
		return nil, err
	}
	now := time.Now()
	a := &Agent{config: c, tag: register.DataTag(key, c.Run, c.Data), news: make(chan struct{}, 1),
		asks:       make(chan struct{}, 1),
		neighbours: newNeighbourhood(&c),
		council:    newCouncil(c.Agent, c.Heartbeat, c.AbsentAfter, now),
		chain:      chain{saves: entrySaves, over: now}}
	if a.ledger, err = openLedger(c.Store); err != nil {
		return nil, err
	}
	state := a.ledger.read()
	if tag, known := state.Tags[c.Agent]; known && tag != a.tag {
		return nil, dsbo.ConfigErrorf("agent %d is refused: %s", c.Agent, register.OtherData)
	}
	if a.warrants, err = newWarrants(&a.config, state); err != nil {
		return nil, err
	}
	if a.warrants.isRemoved(c.Agent) {
		return nil, &removedError{c.Agent}
	}
	for _, j := range a.warrants.neighbours(c.Agent, c.neighbours()) {
		a.neighbours.lines[j] = &line{agent: j, since: now, heard: now}
	}
	if state.Final {
		a.council.finals[c.Agent] = state.Known
	}
	a.links = newLinks(&a.config, a)
	a.closing, a.close = context.WithCancel(context.Background())
	return a, nil
}

// Close ends this agent's part: the session under way ends for all, and the connections.
func (a *Agent) Close() error {
	a.mu.Lock()
	a.endCurrent(a.config.Agent, "it stops", network.ErrClosed)
	if a.err == nil {
		a.err = network.ErrClosed
	}
	a.mu.Unlock()
	wake(a.news)
	a.close()
	a.links.close()
	a.work.Wait()
	return nil
}

// wake leaves a wake-up in a channel that has room for one.
func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Next ends the previous session, if it is still running, and waits for the next one with this
// agent as a member. [Session.Join] is due then. Once the result is final it returns
// [register.ErrFinal], and [Agent.Linger] is due. Other errors end the agent's part: a
// [*fencedError]; a [*network.SilentError], if a meeting leads to no session for
// Config.PeerTimeout; a [*network.EndedError], if another agent has failed; dsbo.ErrConfig, if this
// agent is refused or removed; an error of the disk, or of ctx.
func (a *Agent) Next(ctx context.Context) (*Session, error) {
	a.mu.Lock()
	a.idle = true
	if a.chain.begun == nil { // the current session, if any, is the one that Next has returned before
		a.endCurrent(a.config.Agent, "it goes back to the checkpoint", nil)
	}
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.idle = false
	}()
	for {
		a.mu.Lock()
		s, err, through := a.chain.begun, a.err, a.isThrough()
		a.chain.begun = nil
		a.mu.Unlock()
		switch {
		case through:
			return nil, register.ErrFinal
		case err != nil:
			return nil, err
		case s != nil:
			if s.Enters() { // it joins the session once it has the handover
				return s, nil
			}
			err := s.record()
			switch {
			case err == nil:
				return s, nil
			case !errors.As(err, new(*register.Over)):
				return nil, err
			}
			continue // it is over already
		}
		select {
		case <-a.news:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Fail ends this agent's part because of err. Without a quorum it ends the run of all agents, with
// an [*network.EndedError]; with a quorum the other agents continue.
func (a *Agent) Fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err == nil && a.config.Quorum == 0 { // before faultLocked, which ends the session
		a.neighbours.flood(message{Subject: fails, Why: bounded(err.Error()), Kind: network.Kind(err)})
	}
	a.faultLocked(err)
}

// fault ends this agent's part because of an error of its own, such as of its disk.
func (a *Agent) fault(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.faultLocked(err)
}

// faultLocked ends this agent's part with its first error, and its session for all. The caller has
// the lock.
func (a *Agent) faultLocked(err error) {
	if a.err != nil {
		return
	}
	a.err = err
	if errors.As(err, new(*fencedError)) {
		a.config.Log.Error("this process ends", "reason", err)
	}
	a.endCurrent(a.config.Agent, bounded(err.Error()), err)
	wake(a.news)
}

// bounded returns as much of a text as a message may have, in one line of printable characters.
func bounded(text string) string {
	text = wording.Plain(text)
	return strings.ToValidUTF8(text[:min(len(text), maxWhy)], "")
}

// Renew gives this agent another certificate, or other authorities: its connections are made again
// with them, within Config.Grace, and no vector is lost. Errors match dsbo.ErrConfig.
func (a *Agent) Renew(id *pki.Identity) error { return a.links.renew(id) }

// Remove records removals signed by the authority, as Config.Removals does: a session with one of
// those agents ends, and the next one begins without it. The other agents learn of it. Known
// removals are skipped.
func (a *Agent) Remove(texts []string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, text := range texts {
		if err := a.remove(text); err != nil {
			return err
		}
	}
	return nil
}

// remove records a removal, and ends the removed agent's connection and a session with it, or the
// part of this agent if it is the removed one. One that is known already changes nothing; one that
// the authority has not signed for this run is an error. The caller has the lock.
func (a *Agent) remove(text string) error {
	agent, known, err := a.warrants.remove(&a.config, a.links.identity(), text)
	if err != nil || known {
		return err
	}
	why := &removedError{agent}
	if agent == a.config.Agent {
		a.faultLocked(why)
	}
	if l := a.neighbours.lines[agent]; l != nil && l.conn != nil {
		l.conn.drop(why)
	}
	if s := a.chain.current; s != nil && slices.Contains(s.Epoch.Members, agent) {
		a.endCurrent(a.config.Agent, why.Error(), nil)
	}
	return nil
}

// Linger has the others know that the result is final, until all members of the last session know
// that all do and nobody is here who may lack it, or for Config.AbsentAfter (Config.PeerTimeout
// without a quorum): one that was lost at the very end then finds whoever it needs, or knows that
// it needs nobody. An agent that lacks the result takes it over in one more session: [Agent.Next]
// is due after an [register.Over].
func (a *Agent) Linger(ctx context.Context) error {
	state, limit := a.ledger.read(), a.config.timeout()
	if state.Known { // all have it on their disks; some may need this agent's word, and connect soon
		limit = a.config.SilentAfter
	}
	a.tellFinal()
	// first until all members know that the result is final, then until all know that all do
	late, members := time.After(limit), state.Log.Last(a.config.Matrix.N()).Members
	for _, ofAll := range []bool{false, true} {
		all, err := a.awaitFinals(ctx, late, func(now time.Time) bool { return a.council.allKnow(members, ofAll, now) })
		if err != nil || !all {
			return err
		}
		if err := a.ledger.seal(true); err != nil {
			return err
		}
		a.tellFinal()
	}
	a.mu.Lock()
	reached := len(members) == len(a.warrants.agents()) && a.neighbours.reached(a.chain.sealed)
	a.mu.Unlock()
	if reached {
		return nil
	}
	// one more announcement, for agents that may just be back
	_, err := a.awaitFinals(ctx, time.After(2*a.config.Heartbeat), func(time.Time) bool { return false })
	return err
}

func (a *Agent) tellFinal() {
	state := a.ledger.read()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.council.finals[a.config.Agent] = state.Known
	a.neighbours.flood(finalMessage(state))
}

// finalMessage is an agent's announcement of the result, which a quorum has.
func finalMessage(state register.State) message { return message{Subject: final, Known: state.Known} }

// awaitFinals waits until all know the result as allKnow requires, which is called with the lock;
// false if late comes first. An agent that lacks the result ends the wait with an [*register.Over],
// and only a later process of this agent, not another error of its part, does too.
func (a *Agent) awaitFinals(ctx context.Context, late <-chan time.Time,
	allKnow func(now time.Time) bool) (bool, error) {
	for {
		a.mu.Lock()
		now := time.Now()
		needy, all, err := a.council.needy(now), allKnow(now), a.err
		a.mu.Unlock()
		switch {
		case errors.As(err, new(*fencedError)):
			return false, err
		case needy >= 0:
			return false, &register.Over{Session: a.ledger.read().Last, Agent: needy, Why: "it lacks the result"}
		case all:
			return true, nil
		}
		select {
		case <-a.news:
		case <-late:
			return false, nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}
