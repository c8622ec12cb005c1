package session

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"dsbo"
	"dsbo/network/masks"
	"dsbo/network/register"
)

// isMeeting reports whether this agent has no session, and one may begin. The caller has the lock.
func (a *Agent) isMeeting() bool { return a.err == nil && a.chain.current == nil && !a.isThrough() }

// isThrough reports whether this agent takes part in no further session: the result is final, and
// no agent present needs it. The caller has the lock.
func (a *Agent) isThrough() bool { return a.ledger.read().Final && a.council.needy(time.Now()) < 0 }

// tellHere announces this agent's presence and connections to all. The caller has the lock.
func (a *Agent) tellHere() {
	a.neighbours.flood(message{Subject: isHere, Number: a.ledger.read().Promised, Links: a.neighbours.connected(),
		Busy: !a.idle, Lacks: a.council.lacks, Admission: a.config.Admission, Removals: a.warrants.removals()})
}

// proposeIfDue proposes a session if it is this agent's turn. The caller has the lock.
func (a *Agent) proposeIfDue(now time.Time) {
	present := a.council.electors(now, a.neighbours.connected(), a.warrants.roster(&a.config))
	if present == nil {
		return
	}
	state := a.ledger.read()
	number := state.Next(a.council.highest, a.config.Agent)
	a.council.propose(number, present, now)
	a.neighbours.flood(message{Subject: proposes, Number: number})
	a.asked(number)
}

// asked records a proposed number, which ends the current session. The caller has the lock.
func (a *Agent) asked(number uint64) {
	if state := a.ledger.read(); a.err != nil || a.isThrough() || number <= state.Promised {
		return
	}
	a.endCurrent(a.config.Agent, "another session is proposed", nil)
	a.chain.asked = max(a.chain.asked, number)
	wake(a.asks)
}

// keepPromising promises the highest number that is proposed, again and again until Close: outside
// of the lock, as a disk may take long. After many attempts at one point it waits before.
func (a *Agent) keepPromising() {
	for {
		select {
		case <-a.asks:
		case <-a.closing.Done():
			return
		}
		pause := a.ledger.read().Attempts.Pause(a.config.timeout()) // since the last session's end
		a.mu.Lock()
		over := a.chain.over
		a.mu.Unlock()
		select {
		case <-time.After(time.Until(over.Add(pause))):
		case <-a.closing.Done():
			return
		}
		a.mu.Lock()
		number := a.chain.asked
		a.mu.Unlock()
		if err := a.promise(number); err != nil {
			a.fault(err)
			return
		}
	}
}

// promise writes a promise to the disk, and answers with a new key of masks. A number that is not
// above the promised one has no answer.
func (a *Agent) promise(number uint64) error {
	key, err := masks.NewKey()
	if err != nil {
		return err
	}
	var answer *register.Answer
	err = a.ledger.change(func(state *register.State) (bool, error) {
		if !state.Promise(number) { // it has promised as high a number meanwhile
			return false, nil
		}
		answer, err = a.answer(*state, key)
		return true, err
	})
	if err != nil || answer == nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.chain.key = key
	a.neighbours.flood(message{Subject: answers, Number: number, Answer: answer})
	a.collect(*answer)
	return nil
}

// answer returns this agent's answer to the proposal that a state promises, signed. This agent has
// the turn of its disk.
func (a *Agent) answer(state register.State, key *masks.Key) (*register.Answer, error) {
	points, err := a.ledger.points(state)
	if err != nil {
		return nil, err
	}
	kept, err := a.config.Store.Kept()
	if err != nil {
		return nil, err
	}
	now := time.Now()
	answer := &register.Answer{Agent: a.config.Agent, Number: state.Promised, Last: state.Last, Log: state.Log,
		Points: points, Kept: kept, Key: key.Public(), Data: a.tag, Tags: state.Tags, Instance: a.config.Instance,
		Time: now.UTC(), Admission: a.config.Admission}
	a.mu.Lock()
	answer.Links, answer.Removals = a.neighbours.linked(now, a.config.AbsentAfter), a.warrants.removals()
	answer.Slow = a.chain.slow
	a.mu.Unlock()
	if id := a.links.identity(); id != nil {
		err = answer.Sign(a.config.Run, a.config.Hash, id)
	}
	return answer, err
}

// collect records an answer to this agent's proposal, and begins the session once all are here. The
// caller has the lock.
func (a *Agent) collect(answer register.Answer) {
	if a.council.proposal == nil {
		return
	}
	if err := a.links.rule().Verify(answer, time.Now()); err != nil {
		a.council.wait = bounded(err.Error())
		a.config.Log.Warn("an answer is refused", "agent", answer.Agent, "reason", a.council.wait)
		return
	}
	all := a.council.collect(answer)
	if all == nil {
		return
	}
	if _, err := register.Decide(a.links.rule(), all); errors.As(err, new(*register.WaitError)) {
		a.undecided(err)
		return
	}
	// also where that is no session: who must not take part, or has lost all, learns it
	m := message{Subject: begins, Number: answer.Number, Answers: all}
	if n := len(m.frame()) - headerSize; n > maxFlood {
		a.undecided(fmt.Errorf("the answers of all agents have %d bytes, and must have %d at most", n, maxFlood))
		return
	}
	a.decided(m)
	a.neighbours.flood(m)
}

// undecided records the reason why answers lead to no session. The caller has the lock.
func (a *Agent) undecided(err error) {
	if refused := (*register.RefusedError)(nil); errors.As(err, &refused) && refused.Agent == a.config.Agent {
		a.faultLocked(dsbo.ConfigErrorf("%w", err))
		return
	}
	if errors.Is(err, register.ErrLost) {
		a.faultLocked(err)
		return
	}
	a.council.postpone(err.Error(), time.Now())
}

// decided begins the session determined by the answers, if this agent has promised it and is a
// member. The caller has the lock, so that agents to which this one forwards the session find it
// begun here.
func (a *Agent) decided(m message) {
	state := a.ledger.read()
	hasPromised := m.Number == state.Promised && a.chain.key != nil // nil: it has begun, or was left out
	if a.err != nil || a.isThrough() || !hasPromised || !accepts(a, m, state.Last) {
		return
	}
	decision, err := register.Decide(a.links.rule(), m.Answers)
	if err != nil {
		a.undecided(err)
		return
	}
	key := a.chain.key
	a.chain.key = nil // nobody begins twice with one key
	if why, refused := decision.Refused[a.config.Agent]; refused {
		a.faultLocked(dsbo.ConfigErrorf("agent %d is refused: %s", a.config.Agent, why))
		return
	}
	if _, member := decision.Epoch.Position(a.config.Agent); !member {
		// The members count as here for some heartbeats: a proposal now would end their session.
		a.council.postpone(fmt.Sprintf("left out of session %d; agents %v are in it", decision.Number,
			decision.Epoch.Members), time.Now())
		return
	}
	s, err := newSession(&a.config, a, a.ledger, &a.mu, a.neighbours.lineTo, decision, key)
	if err != nil {
		a.council.wait = err.Error()
		return
	}
	enterSession(a, s)
}

// accepts reports whether the answers of m may decide on a session at an agent, whose last session
// is given: they are whole, and it has not lost the secret of its noise. Where it has, that is a
// fault.
func accepts(a *Agent, m message, last uint64) bool {
	there := slices.DeleteFunc(a.neighbours.connected(), func(j int) bool {
		return a.warrants.isRemoved(j) || !a.council.expects(j, time.Now())
	})
	if err := checkAnswers(a.links.rule(), m.Answers, a.config.Agent, a.chain.key, there); err != nil {
		a.config.Log.Warn("a session is refused", "session", m.Number, "from", m.From, "reason", bounded(err.Error()))
		return false
	}
	isLate := last == 0 && slices.ContainsFunc(m.Answers, func(b register.Answer) bool { return b.Last > 0 })
	if a.config.Noisy && isLate {
		a.faultLocked(dsbo.ConfigErrorf("agent %d has lost its run folder, and with it the secret of its noise: it "+
			"must not take part again, as its answers would have other noise", a.config.Agent))
		return false
	}
	return true
}

// enterSession makes s an agent's current session. The caller has the agent's lock.
func enterSession(a *Agent, s *Session) {
	for _, p := range s.x.edges {
		p.line.activity = joining
	}
	a.chain.current, a.chain.begun = s, s
	a.council.blocked, a.council.wait = "", ""
	a.chain.slow = nil
	if len(s.Entering) > 0 { // the next agent waits for entrySaves saves again
		a.chain.saves = 0
	}
	a.config.Log.Info("a session begins", "session", s.Number, "members", s.Epoch.Members, "from", s.Begin.Iteration,
		"entering", s.Entering)
	wake(a.news)
}

// checkAnswers returns an error unless each answer is its agent's, the agent's own answer is the
// one given with key, and no agent in there is left out: a proposer could otherwise choose the
// agents whose terms are in a sum.
func checkAnswers(rule register.Rule, all []register.Answer, agent int, key *masks.Key, there []int) error {
	now := time.Now()
	for _, answer := range all {
		if answer.Agent == agent && !slices.Equal(answer.Key, key.Public()) {
			return fmt.Errorf("the answer of agent %d is not the one that it gave", agent)
		}
		if err := rule.Verify(answer, now); err != nil {
			return err
		}
	}
	for _, j := range there {
		if !slices.ContainsFunc(all, func(b register.Answer) bool { return b.Agent == j }) {
			return fmt.Errorf("agent %d is connected, and left out", j)
		}
	}
	return nil
}
