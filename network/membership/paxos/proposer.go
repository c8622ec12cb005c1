package paxos

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"dsbo/internal/wording"
	"dsbo/network/membership"
)

// A proposer has changes decided: in ballots of its own, of two phases each.
type proposer struct {
	*Node
	attempt  *attempt  // the ballot under way; nil: there is none
	highest  Ballot    // of all ballots that have come
	next     time.Time // of the next attempt; zero: none is due
	failures int       // attempts in a row
	waiting  string    // why the last attempts have led to nothing
	// apartSince is since when only edges are down, between members that answer; zero: they
	// are not.
	apartSince time.Time
	// since when no member has the state with which the epoch begins; zero: one has, as far as
	// is known
	lostSince time.Time
}

// An attempt is what a proposer knows of its own ballot.
type attempt struct {
	ballot  Ballot             // its own
	began   time.Time          // when its phase did
	sent    time.Time          // when it last asked
	pause   time.Duration      // until it asks again
	answers map[int]Message    // promises, by agent
	change  *membership.Change // what is proposed; nil in the first phase; with its proof in the third
	accept  Message            // what asks for the first votes
	refused map[int]bool       // members that have promised a later ballot
	// votes are the phase's, by agent
	votes map[int]membership.Signature
}

const (
	// attemptTimeouts is for how many times the patience the first attempt goes on without a
	// quorum. The next ones go on for longer: all may be slow.
	attemptTimeouts = 5
	// mostFailures bounds how often that doubles.
	mostFailures = 4
	// reportTimeouts is for how many times the patience what an agent said of itself counts.
	reportTimeouts = 4
	// cutTimeouts is for how many times the patience edges between members that answer must be down
	// before they are cut for that alone: a network that is whole again is so at one edge after
	// the other.
	cutTimeouts = 15
	// mostRank bounds the wait of agents with high numbers for those with lower ones, in halves of
	// the patience.
	mostRank = 4
)

// propose goes on with this agent's attempt, or begins one if there is a reason and others have had
// time to.
func (c *proposer) propose(now time.Time) error {
	switch {
	case !c.member():
		return nil
	case !c.lostSince.IsZero() && c.attempt == nil:
		return c.awaitLoss(now)
	case c.attempt != nil:
		return c.advance(now)
	case !c.needsChange(now):
		c.next, c.waiting, c.failures, c.apartSince = time.Time{}, "", 0, time.Time{}
		return nil
	case c.next.IsZero():
		rank, _ := c.epoch.Position(c.Agent)
		c.next = now.Add(time.Duration(min(rank, mostRank))*c.Patience/2 + c.spread(c.Patience/4))
	}
	if now.Before(c.next) {
		return nil
	}
	number := max(c.highest.Number, c.acceptor.vote.Promised.Number) + 1
	c.attempt = &attempt{ballot: Ballot{Number: number, Agent: c.Agent, Life: c.life}, began: now, sent: now,
		pause: c.Patience, answers: map[int]Message{}, refused: map[int]bool{}}
	c.sendPhase()
	return nil
}

// needsChange reports whether there must be a change: a vote has been given whose outcome is not
// known, an edge between members is down, a member is slow, an agent asks to come in that may, or a
// member has lost its state.
func (c *proposer) needsChange(now time.Time) bool {
	if c.voted() || c.acceptor.vote.Sealed {
		return c.voted()
	}
	said := newComposer(c.Node, nil)
	if len(c.newlyDown(c.Agent, c.seen.Down)) > 0 || len(c.seen.Blank) > 0 || len(c.witness.liars) > 0 ||
		len(said.stragglers(said.lastSaid(now))) > 0 {
		return true
	}
	for agent, r := range c.reports {
		if now.Sub(r.at) > reportTimeouts*c.Patience {
			continue
		}
		comes := c.mayCome(agent) && !c.keepsOut(agent) || c.isMember(agent)
		if r.Asks && comes || len(c.newlyDown(agent, r.Down))+len(r.Blank) > 0 {
			return true
		}
	}
	return false
}

// keepsOut reports whether an agent has come and gone for so often that it is not let in before
// there is a newer checkpoint, and this agent has none.
func (c *proposer) keepsOut(agent int) bool {
	return c.seen.Saved <= c.epoch.Round && c.log.VainLosses(agent, c.Founders) >= mostInVain
}

// newlyDown returns the members, of those that a member does not hear, to which its edge is in use.
func (c *Node) newlyDown(agent int, down []int) (newly []int) {
	if !c.isMember(agent) {
		return nil
	}
	for _, j := range down {
		if c.isMember(j) && !slices.Contains(c.epoch.Cut, edgeOf(agent, j)) {
			newly = append(newly, j)
		}
	}
	return newly
}

// mayCome reports whether an agent that is no member may be one: it is of the roster, or admitted,
// and the quorum stays more than half.
func (c *Node) mayCome(agent int) bool {
	_, admitted := c.admitted[agent]
	return !c.isMember(agent) && !c.isLiar(agent) && agent < c.Agents() && (c.known(agent) || admitted)
}

// known reports whether an agent is of the roster: from the start, or because the log has edges
// of it.
func (c *Node) known(agent int) bool {
	return agent < c.Founders ||
		slices.ContainsFunc(c.epoch.Edges, func(e [2]int) bool { return e[0] == agent || e[1] == agent })
}

func edgeOf(i, j int) [2]int { return [2]int{min(i, j), max(i, j)} }

// countAnswer takes in an answer to this agent's proposal.
func (c *proposer) countAnswer(now time.Time, m Message) error {
	a := c.attempt
	if a == nil {
		return nil
	}
	member := c.isMember(m.From) && !c.isLiar(m.From)
	switch {
	case m.Kind == Refuse:
		if member && m.Ballot.Compare(a.ballot) > 0 && m.Ballot.Number <= c.highest.Number+maxJump {
			a.refused[m.From] = true
			c.highest.Number = max(c.highest.Number, m.Ballot.Number)
		}
		if len(c.epoch.Members)-len(a.refused) < c.Quorum { // else it is the word of too few
			c.giveUp(now, "")
		}
		return nil
	case m.Ballot != a.ballot:
		return nil
	case m.Kind == Promise && a.change == nil:
		if m.Change == nil || c.acceptor.verifyFirst(now, m.Change) == nil {
			a.answers[m.From] = m
		}
	case member && a.change != nil && m.Kind == a.phase() &&
		c.acceptor.verifyVote(now, a.stage(), a.ballot, a.change, m.Vote, m.From) == nil:
		a.votes[m.From] = *m.Vote
	}
	return c.advance(now)
}

// stage returns which votes the attempt asks for.
func (a *attempt) stage() membership.Stage {
	if a.change.Proof != nil {
		return membership.SecondVote
	}
	return membership.FirstVote
}

// phase returns the kind of the answers that have them.
func (a *attempt) phase() Kind {
	if a.stage() == membership.SecondVote {
		return Confirmed
	}
	return Accepted
}

// proved returns the change with the votes of the phase.
func (a *attempt) proved(in membership.Council) *membership.Change {
	change := *a.change
	change.Proof = &membership.Proof{Council: in, Ballot: a.ballot, Stage: a.stage()}
	for _, i := range slices.Sorted(maps.Keys(a.votes)) {
		change.Proof.Votes = append(change.Proof.Votes, a.votes[i])
	}
	return &change
}

// promises returns the answers, of which those that are about another change than the last one that
// was confirmed go without its votes.
func (a *attempt) promises(last *membership.Change) (all []Message) {
	for _, i := range slices.Sorted(maps.Keys(a.answers)) {
		p := a.answers[i]
		if p.Change != nil && p.Change != last {
			p.Change = withoutVotes(*p.Change)
		}
		all = append(all, p)
	}
	return all
}

// sendPhase asks all for what the phase needs.
func (c *proposer) sendPhase() {
	switch a := c.attempt; {
	case a.change == nil:
		c.send(Message{Kind: Prepare, To: All, Ballot: a.ballot})
	case a.stage() == membership.FirstVote:
		c.send(a.accept)
	default:
		c.send(Message{Kind: Confirm, To: All, Ballot: a.ballot, Change: a.change})
	}
}

// begin begins a phase with a change.
func (c *proposer) begin(now time.Time, change *membership.Change) {
	a := c.attempt
	a.change, a.votes, a.refused = change, map[int]membership.Signature{}, map[int]bool{}
	a.began, a.sent, a.pause = now, now, c.Patience
	c.sendPhase()
}

// advance takes the next step of an attempt, if it is time for it.
func (c *proposer) advance(now time.Time) error {
	a := c.attempt
	late := now.Sub(a.began)
	enough := (attemptTimeouts * c.Patience) << c.failures
	switch {
	case a.change == nil && c.acceptor.vote.Sealed && !c.voted(): // members may leave meanwhile
		c.giveUp(now, "")
	case a.change != nil && len(a.votes) >= c.Quorum && a.stage() == membership.FirstVote:
		c.begin(now, a.proved(c.council()))
	case a.change != nil && len(a.votes) >= c.Quorum:
		c.attempt = nil
		c.send(Message{Kind: Decided, To: All, Change: a.proved(c.council())})
	case a.change == nil && c.promises() >= c.Quorum && (c.complete(now) || late >= c.Absent):
		return c.choose(now)
	case late >= enough && (a.change != nil || c.promises() < c.Quorum):
		c.giveUp(now, c.noAnswer())
		return nil
	case now.Sub(a.sent) >= a.pause:
		a.sent, a.pause = now, min(2*a.pause, standStillTimeouts*c.Patience/2) // members that have promised stand still
		c.sendPhase()
	}
	return nil
}

// noAnswer says why an attempt has no quorum.
func (c *proposer) noAnswer() string {
	var silent []int
	for _, i := range c.epoch.Members {
		if _, answered := c.attempt.answers[i]; !answered {
			silent = append(silent, i)
		}
	}
	return fmt.Sprintf("waiting for a quorum: %d of %d members must answer, and %d do; no answer from agents %s",
		c.Quorum, len(c.epoch.Members), c.promises(), wording.List(silent))
}

// promises returns how many members have answered.
func (c *proposer) promises() int { return c.countMembers(c.attempt.answers) }

// countMembers returns how many answers are of members.
func (c *Node) countMembers(answers map[int]Message) (count int) {
	for i := range answers {
		if c.isMember(i) {
			count++
		}
	}
	return count
}

// complete reports whether all have answered that can be expected to: the members and those that
// ask to come in to whom edges lead over which both ends hear each other, as far as is known.
func (c *proposer) complete(now time.Time) bool {
	down := map[[2]int]bool{}
	for agent, r := range c.reports {
		if now.Sub(r.at) > reportTimeouts*c.Patience {
			continue
		}
		for _, j := range r.Down {
			down[edgeOf(agent, j)] = true
		}
		if _, answered := c.attempt.answers[agent]; r.Asks && c.mayCome(agent) && !answered {
			return false
		}
	}
	connected := reached(slices.Concat(c.Edges, c.epoch.Edges), []int{c.Agent},
		func(i, j int) bool { return !down[edgeOf(i, j)] })
	return !slices.ContainsFunc(c.epoch.Members, func(i int) bool {
		_, answered := c.attempt.answers[i]
		return connected[i] && !answered
	})
}

// choose begins the second phase: with the change of the latest ballot that any answer has, or a
// new one.
func (c *proposer) choose(now time.Time) error {
	a := c.attempt
	change, err := c.acceptor.lastConfirmed(now, a.answers)
	if err != nil { // each has been verified
		return err
	}
	again := change != nil
	if !again {
		if c.stateIsLost() {
			c.lostSince = now
			c.giveUp(now, c.lossOfState())
			return nil
		}
		var problem string
		change, problem = newComposer(c.Node, a.answers).compose(now)
		if change != nil && c.areApart(now, change) {
			c.giveUp(now, fmt.Sprintf("waiting for edges %v between members that answer, until they are cut",
				change.Cut))
			c.failures, c.next = 0, c.apartSince.Add(cutTimeouts*c.Patience+c.spread(c.Patience)) // nobody disturbs
			return nil
		}
		if change == nil {
			c.giveUp(now, problem)
			return nil
		}
	}
	proposed := *change
	proposed.Proof = nil
	a.accept = Message{Kind: Accept, To: All, Ballot: a.ballot, Change: &proposed}
	if a.accept.Vote, err = c.acceptor.signVote(membership.FirstVote, a.ballot, &proposed); err != nil {
		return err
	}
	a.accept.Promises = a.promises(change)
	c.begin(now, &proposed)
	return nil
}

// areApart reports whether a change does nothing but cut edges between members that answer, which
// have not been down for long enough for that alone.
func (c *proposer) areApart(now time.Time, change *membership.Change) bool {
	if !slices.Equal(change.Members, c.epoch.Members) || len(change.Lost) > 0 {
		c.apartSince = time.Time{}
		return false
	}
	if c.apartSince.IsZero() {
		c.apartSince = now
	}
	return now.Before(c.apartSince.Add(cutTimeouts * c.Patience))
}

// giveUp ends an attempt, and has the next one wait for a random time, longer after each. why says
// what it was that this agent waits for; "": another proposer, or nothing any more.
func (c *proposer) giveUp(now time.Time, why string) {
	a := c.attempt
	c.attempt = nil
	if a.change == nil {
		m := Message{Kind: Withdraw, To: All, Ballot: a.ballot}
		if c.countMembers(a.answers) >= c.Quorum {
			m.Promises = a.promises(nil)
		}
		c.send(m)
	}
	c.waiting = why
	c.failures = min(c.failures+1, mostFailures)
	c.next = now.Add(c.Patience + c.spread(c.Patience<<c.failures))
}
