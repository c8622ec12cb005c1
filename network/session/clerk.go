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

// clerk promises numbers, one after the other, until the agent is closed: it writes each to the
// disk before it answers.
func (a *Agent) clerk() {
	for {
		select {
		case number := <-a.promises:
			number, ok := a.awaitTurn(number)
			if !ok {
				return
			}
			if err := a.promise(number); err != nil {
				a.fault(err)
				return
			}
		case <-a.closing.Done():
			return
		}
	}
}

// asked notes that a number is proposed, which ends the session under way. The lock is held.
func (a *Agent) asked(number uint64) {
	if a.err != nil || a.state.Final || number <= a.state.Promised {
		return
	}
	if s := a.current; s != nil {
		a.endLocked(&Over{Session: s.Number, Agent: a.config.Agent, Why: "another session is proposed"}, true)
	}
	select {
	case <-a.promises: // a lower one that was not promised yet
	default:
	}
	select {
	case a.promises <- number:
	default:
	}
}

// awaitTurn waits until the attempts at one point let this agent answer again after the session
// before, and returns the number that is proposed then; false once the agent is closed.
func (a *Agent) awaitTurn(number uint64) (uint64, bool) {
	a.mu.Lock()
	until := a.over.Add(a.state.Attempts.Pause(a.timeout()))
	a.mu.Unlock()
	select {
	case <-time.After(time.Until(until)):
	case <-a.closing.Done():
		return 0, false
	}
	select {
	case number = <-a.promises: // a higher one
	default:
	}
	return number, true
}

// promise writes a promise, and answers. No file on which the run depends is written meanwhile.
func (a *Agent) promise(number uint64) error {
	defer a.writing()()
	a.mu.Lock()
	state := a.state
	a.mu.Unlock()
	if state.Final || !state.Promise(number) {
		return nil
	}
	key, err := masks.NewKey()
	if err != nil {
		return err
	}
	answer, err := a.answer(state, number, key)
	if err != nil {
		return err
	}
	if err := a.config.Store.SaveRegister(state); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.state, a.key = state, key
	a.floodLocked(message{Subject: answers, Number: number, Answer: &answer})
	a.collect(answer)
	return nil
}

// writing locks the disk, and returns what unlocks it.
func (a *Agent) writing() (done func()) {
	a.disk <- struct{}{}
	a.mu.Lock()
	a.diskBusy = time.Now()
	a.mu.Unlock()
	return func() {
		a.mu.Lock()
		a.diskBusy = time.Time{}
		a.mu.Unlock()
		<-a.disk
	}
}

// answer returns this agent's answer to a proposal, signed.
func (a *Agent) answer(state register.State, number uint64, key *masks.Key) (register.Answer, error) {
	points, err := a.config.Store.Points()
	if err != nil {
		return register.Answer{}, err
	}
	kept, err := a.config.Store.Kept()
	if err != nil {
		return register.Answer{}, err
	}
	answer := register.Answer{Agent: a.config.Agent, Number: number, Last: state.Last, Log: state.Log, Points: points,
		Kept: kept, Key: key.Public(), Data: a.tag, Tags: state.Tags, Instance: a.config.Instance,
		Time: time.Now().UTC(), Admission: a.config.Admission}
	a.mu.Lock()
	answer.Links, answer.Removals = a.linked(time.Now()), a.roll.removals()
	for j := range a.slow {
		answer.Slow = append(answer.Slow, j)
	}
	a.mu.Unlock()
	slices.Sort(answer.Slow)
	return answer, answer.Sign(a.config.Run, a.config.Hash, a.links.identity())
}

// rule is what all agents decide by.
func (a *Agent) rule() register.Rule {
	c := &a.config
	r := register.Rule{Run: c.Run, Hash: c.Hash, Matrix: c.Matrix, Quorum: c.Quorum, FewMembers: c.FewMembers,
		Masked: !c.Unmasked}
	if id := a.links.identity(); id != nil {
		r.Authority = id
	}
	return r
}

// propose proposes a session to those that are here. The lock is held.
func (a *Agent) propose(present []int) {
	number := a.state.Next(a.council.highest, a.config.Agent)
	a.council.propose(number, present, time.Now())
	a.floodLocked(message{Subject: proposes, Number: number})
	a.asked(number)
}

// collect takes an answer to this agent's proposal, and has the session begin once all are here.
// The lock is held.
func (a *Agent) collect(answer register.Answer) {
	if a.council.proposal == nil {
		return
	}
	if err := a.rule().Verify(answer, time.Now()); err != nil {
		a.wait = bounded(err.Error())
		a.config.Log.Warn("an answer is refused", "agent", answer.Agent, "reason", a.wait)
		return
	}
	all := a.council.collect(answer)
	if all == nil {
		return
	}
	if _, err := register.Decide(a.rule(), all); err != nil {
		a.undecided(err)
		return
	}
	m := message{Subject: begins, Number: answer.Number, Answers: all}
	a.decided(m)
	a.floodLocked(m)
}

// undecided notes why answers lead to no session. The lock is held.
func (a *Agent) undecided(err error) {
	if refused := (*register.RefusedError)(nil); errors.As(err, &refused) && refused.Agent == a.config.Agent {
		a.faultLocked(dsbo.ConfigErrorf("%w", err))
		return
	}
	if errors.Is(err, register.ErrLost) {
		a.faultLocked(err)
		return
	}
	a.wait, a.council.notBefore = err.Error(), time.Now().Add(answerBeats*a.config.Heartbeat)
}

// decided begins the session that follows from answers, if this agent has promised it. The lock is
// held: who hears of the session from this agent, or has told it, finds it here.
func (a *Agent) decided(m message) {
	if a.err != nil || a.state.Final || a.key == nil || m.Number != a.state.Promised {
		return
	}
	if err := a.checkAnswers(m.Answers); err != nil {
		a.config.Log.Warn("a session is refused", "session", m.Number, "from", m.From, "reason", bounded(err.Error()))
		return
	}
	if a.config.Noisy && a.state.Last == 0 &&
		slices.ContainsFunc(m.Answers, func(b register.Answer) bool { return b.Last > 0 }) {
		a.faultLocked(dsbo.ConfigErrorf("agent %d has lost its run folder, and with it the secret of its noise: it "+
			"must not take part again, as its answers would have other noise", a.config.Agent))
		return
	}
	decision, err := register.Decide(a.rule(), m.Answers)
	if err != nil {
		a.undecided(err)
		return
	}
	key := a.key
	a.key = nil // nobody begins twice with one key
	if why, refused := decision.Refused[a.config.Agent]; refused {
		a.faultLocked(dsbo.ConfigErrorf("agent %d is refused: %s", a.config.Agent, why))
		return
	}
	if _, member := decision.Position(a.config.Agent); !member {
		a.wait = fmt.Sprintf("left out of session %d; agents %v are in it", decision.Number, decision.Epoch.Members)
		return
	}
	s, err := a.newSession(decision, key)
	if err != nil {
		a.wait = err.Error()
		return
	}
	a.current, a.begun, a.wait = s, s, ""
	clear(a.slow)
	a.config.Log.Info("a session begins", "session", s.Number, "members", s.Epoch.Members, "from", s.Begin.Iteration,
		"entering", s.Entering)
	a.notify()
}

// newSession returns a session with its masks, and the connections that there are. The lock is held.
func (a *Agent) newSession(d register.Session, key *masks.Key) (*Session, error) {
	s, err := newSession(&a.config, a, d)
	if err != nil {
		return nil, err
	}
	if !a.config.Unmasked {
		if s.masks, err = key.Session(d.ID, a.config.Agent, d.Epoch.Members, d.Keys); err != nil {
			return nil, err
		}
	}
	for _, p := range s.x.ties {
		if l := a.lines[p.agent]; l != nil {
			p.conn = l.conn
			l.activity = joining
		}
	}
	return s, nil
}

// checkAnswers returns an error unless each answer is its agent's, this agent's is the one that it
// gave, and none is left out that is there: a proposer could otherwise choose whose terms are
// together in a sum. The lock is held.
func (a *Agent) checkAnswers(all []register.Answer) error {
	rule, now := a.rule(), time.Now()
	for _, answer := range all {
		if answer.Agent == a.config.Agent {
			if !slices.Equal(answer.Key, a.key.Public()) {
				return fmt.Errorf("the answer of agent %d is not the one that it gave", answer.Agent)
			}
			continue
		}
		if err := rule.Verify(answer, now); err != nil {
			return err
		}
	}
	for j, l := range a.lines {
		answered := slices.ContainsFunc(all, func(b register.Answer) bool { return b.Agent == j })
		if heard, known := a.council.heard[j]; !answered && l.conn != nil && known && !a.roll.isRemoved(j) &&
			now.Sub(heard) < a.config.AbsentAfter {
			return fmt.Errorf("agent %d is connected, and left out", j)
		}
	}
	return nil
}

// begin notes on the disk that a session is this agent's last one, unless the agent enters, which
// does so when it has what it takes over (enter).
func (a *Agent) begin(s *Session) error {
	if s.Enters() {
		return nil
	}
	return a.enter(s.Session)
}

// enter implements desk.
func (a *Agent) enter(d register.Session) error {
	defer a.writing()()
	a.mu.Lock()
	state, current := a.state, a.current
	a.mu.Unlock()
	if current == nil || current.Number != d.Number || !state.Begin(d) {
		return &Over{Session: d.Number, Agent: a.config.Agent, Why: "another session is proposed"}
	}
	if err := state.Attempts.Err(); err != nil {
		return err
	}
	if err := a.config.Store.SaveRegister(state); err != nil {
		return err
	}
	a.mu.Lock()
	a.state = state
	a.mu.Unlock()
	return nil
}

// save implements desk.
func (a *Agent) save(session uint64, write func() error) error {
	defer a.writing()()
	a.mu.Lock()
	s := a.current
	goesOn := s != nil && s.Number == session && a.state.Promised == session
	a.mu.Unlock()
	if !goesOn {
		return &Over{Session: session, Agent: a.config.Agent, Why: "it ended before a file was written"}
	}
	return write()
}

// seal implements desk.
func (a *Agent) seal(session uint64) error {
	defer a.writing()()
	a.mu.Lock()
	state := a.state
	a.mu.Unlock()
	if !state.Final {
		state.Final = true
		if err := a.config.Store.SaveRegister(state); err != nil {
			return err
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.state = state
	a.finals[a.config.Agent] = true
	if s := a.current; s != nil {
		a.current = nil
		s.x.end(&Over{Session: s.Number, Agent: a.config.Agent, Why: "the result is final"})
	}
	a.floodLocked(message{Subject: final, Number: session})
	a.notify()
	return nil
}

// give implements desk.
func (a *Agent) give(p register.Point) ([]byte, error) { return a.config.Store.Handover(p) }
