package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"dsbo"
	"dsbo/network"
	"dsbo/network/masks"
	"dsbo/network/register"
)

// A Session is a chain of exchanges among some members, as one of them sees it. It is the
// [network.Team] of this process, which has this one agent, and the agent's mixer.
//
// Every method that exchanges returns an error that wraps an [*register.Over] once the session has
// ended: what was computed since the last [Session.Save] counts for nothing then, and [Agent.Next]
// returns the next session. A Session belongs to one goroutine.
type Session struct {
	register.Session              // the members' decision
	view                          // of the members
	config           *Config      // of the agent
	owner            owner        // of the agent
	ledger           *ledger      // of the agent
	x                *exchange    // with the neighbours
	masks            *masks.Masks // nil: sums are not masked
	bound            [32]byte     // the digest that the next sum's masks are bound to
	scratch                       // of exchanges
}

// A scratch is memory of exchanges.
type scratch struct {
	terms, decoded [][]float64
	words          []uint64
}

// A view is the members as this agent's position among them has it.
type view struct {
	matrix            *network.Matrix // of the members
	position          int             // of this agent
	row               []*edge         // the neighbours in the order of the matrix's row, nil in this agent's own place
	*network.Combiner                 // of the next vectors
	tree              *network.Tree   // of reductions; nil before the first
	opposite          int             // the child of the root that sends to it as it sends to that one; -1: none
}

// An owner is the agent as its session sees it.
type owner interface {
	// end ends a session for all.
	end(o *register.Over)
	// Fail is [Agent.Fail].
	Fail(err error)
	// awaitsEntry reports whether an agent, or a cut edge, waits for the next session.
	awaitsEntry(s register.Session) bool
	// sealed is called when the disk has the result as final.
	sealed()
}

var (
	_ network.Saver  = (*Session)(nil)
	_ network.Waiter = (*Session)(nil)
	_ network.Binder = (*Session)(nil)
)

// newSession returns a decided session with masks by a key. mu is the agent's lock, which the
// caller has. An agent that is no member, and a key of others in the decision, are errors.
func newSession(c *Config, agent owner, l *ledger, mu *sync.Mutex, lineTo func(agent int) *line, s register.Session,
	key *masks.Key) (*Session, error) {
	matrix, err := c.Matrix.Members(s.Epoch)
	if err != nil {
		return nil, err
	}
	position, member := s.Epoch.Position(c.Agent)
	if !member {
		return nil, fmt.Errorf("agent %d is no member of session %d", c.Agent, s.Number)
	}
	var edges, row []*edge
	for _, w := range matrix.Row(position) {
		var p *edge
		if w.Agent != position {
			other := s.Epoch.Members[w.Agent]
			p = &edge{agent: other, position: w.Agent, line: lineTo(other)}
			edges = append(edges, p)
		}
		row = append(row, p)
	}
	var m *masks.Masks
	if !c.Unmasked {
		if m, err = key.Session(s.ID, c.Agent, s.Epoch.Members, s.Keys); err != nil {
			return nil, err
		}
	}
	x := newExchange(s.Name(), edges, mu)
	x.count = c.Sent
	return &Session{Session: s, config: c, owner: agent, ledger: l, x: x, masks: m,
		view:    view{matrix: matrix, position: position, row: row, Combiner: matrix.Combiner(position), opposite: -1},
		scratch: scratch{terms: make([][]float64, len(row)), decoded: make([][]float64, len(row))}}, nil
}

// Local implements [network.Team]: it returns this agent's position among the members.
func (s *Session) Local() []int { return []int{s.position} }

// Mixer implements [network.Team]: it returns s for this agent's position, else nil.
func (s *Session) Mixer(i int) network.Reducer {
	if i != s.position {
		return nil
	}
	return s
}

// Fail implements [network.Team] by [Agent.Fail].
func (s *Session) Fail(err error) { s.owner.Fail(err) }

// Waited implements [network.Waiter], for this session: by the agents' numbers in the roster, up to
// the highest member.
func (s *Session) Waited() []float64 {
	s.x.mu.Lock()
	defer s.x.mu.Unlock()
	waited := make([]float64, s.Epoch.Members[len(s.Epoch.Members)-1]+1)
	for _, p := range s.x.edges {
		waited[p.agent] = p.waited.Seconds()
	}
	return waited
}

// Bind implements [network.Binder].
func (s *Session) Bind(to [32]byte) { s.bound = to }

// Noise implements [network.Binder]: without masks it leaves words as they are.
func (s *Session) Noise(words []uint64) {
	if s.masks != nil {
		s.masks.Noise(s.x.round, s.bound, words)
	}
}

// Save writes a file on which the run depends, by write, unless the session has ended, and waits
// until all members have called Save too. If an agent waits to join, Save ends the session after
// writing the file.
func (s *Session) Save(ctx context.Context, write func() error) error {
	s.x.about(saving)
	err := s.ledger.during(func() error {
		// A promise of a later session would be followed by a file that its answer does not have.
		if s.x.ended() != nil || s.ledger.read().Promised != s.Number {
			return s.endedBy("it ended before a file was written")
		}
		return write()
	})
	s.x.about(computing)
	if err != nil {
		return err
	}
	entry, err := s.gatherFlags(ctx, s.owner.awaitsEntry(s.Session))
	if err == nil && entry {
		o := s.endedBy("an agent comes in, or an edge is there again")
		s.owner.end(o)
		return o
	}
	return err
}

// Finish makes the result final, which all members have on their disks: the last Save was of it, or
// Join handed it over. [Agent.Linger] is due then.
func (s *Session) Finish() error {
	err := s.ledger.seal(false)
	if err == nil {
		s.owner.sealed()
	}
	return err
}

// record notes on the disk that a session is this agent's last one.
func (s *Session) record() error {
	return s.ledger.change(func(state *register.State) (bool, error) {
		if s.x.ended() != nil || !state.Begin(s.Session, s.config.Agent) {
			return false, s.endedBy("another session is proposed")
		}
		return true, state.Attempts.Err()
	})
}

// endedBy returns that the session has ended at this agent.
func (s *Session) endedBy(why string) *register.Over {
	return &register.Over{Session: s.Number, Agent: s.config.Agent, Why: why}
}

// gatherFlags waits for all members, and reports whether one of them has raised its flag.
func (s *Session) gatherFlags(ctx context.Context, flag bool) (raised bool, err error) {
	words := []uint64{0}
	if flag {
		words[0] = 1
	}
	err = s.Reduce(ctx, network.Reduction{Op: network.Max, Bits: 1, Words: words})
	return words[0] > 0, err
}

// blame ends the session because of a neighbour's frame, and returns the error.
func (s *Session) blame(p *edge, reason error) error {
	o := s.faultOf(p.agent, s.x.round, reason)
	s.owner.end(o)
	return o
}

// faultOf returns the end of the session because of an agent's frame in an exchange.
func (s *Session) faultOf(agent, exchange int, reason error) *register.Over {
	fault := &network.PeerError{Process: fmt.Sprintf("agent %d", agent), Exchange: exchange, Reason: reason}
	return &register.Over{Session: s.Number, Agent: agent, Why: bounded(fault.Error()), Cause: fault}
}

// wrap names the agent and the exchange of an error.
func (s *Session) wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("agent %d, exchange %d of session %d%s: %w", s.config.Agent, s.x.round, s.Number, doing, err)
}

// running returns why an exchange cannot begin.
func (s *Session) running(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if o := s.x.ended(); o != nil {
		return o
	}
	return nil
}

// failed ends the run because of an error of this agent's caller, which it returns.
func (s *Session) failed(err error) error {
	s.owner.Fail(err)
	return err
}

// awaitWork waits for the vectors of some neighbours, which must do the same as this agent. check,
// if not nil, looks at them then. It returns a neighbour whose vector cannot be, and why, which
// ends the session, or no neighbour and an error of this agent's, which ends its part in the run.
func (s *Session) awaitWork(ctx context.Context, purpose uint64, from func(p *edge) bool,
	check func() (bad *edge, reason error)) error {
	if err := s.x.await(ctx, from); err != nil {
		return err
	}
	for _, p := range s.x.edges {
		if !from(p) { // whose vector may come at this moment
			continue
		}
		if theirs := s.x.came(p).purpose; !sameWork(theirs, purpose) {
			return s.blame(p, dsbo.ShapeErrorf("neighbours must do the same; agent %d %s and agent %d %s",
				s.config.Agent, purposeName(purpose), p.agent, purposeName(theirs)))
		}
	}
	if check == nil {
		return nil
	}
	switch bad, reason := check(); {
	case bad != nil:
		return s.blame(bad, reason)
	case reason != nil:
		return s.failed(reason)
	}
	return nil
}

// errStuck ends a connection over which the neighbour reads too little.
var errStuck = errors.New("the neighbour does not read")

// maxGift bounds a handover, in bytes.
const maxGift = 1 << 30

// Enters reports whether this agent lacks the session's starting state, and takes it over.
func (s *Session) Enters() bool { return slices.Contains(s.Entering, s.config.Agent) }

// Join hands the state over to joining members, and waits until all members have begun the session.
// At a joining agent it first calls keep with the state, which must be on the disk when keep
// returns. The caller's exchanges come after Join.
//
// Members take over in rounds: first the neighbours of agents that have the state, each from the
// first of these, then their neighbours, and so on. Replays of a log compute the same rounds
// ([network.Matrix.Giver]).
func (s *Session) Join(ctx context.Context, keep func(given []byte) error) error {
	var holders []int // positions of members that have the state
	for k, i := range s.Epoch.Members {
		if !slices.Contains(s.Entering, i) {
			holders = append(holders, k)
		}
	}
	depth := s.matrix.Distances(holders...)
	for round := 1; round <= slices.Max(depth); round++ {
		giver := func(k int) int { // the position of who gives to position k; -1: nobody does
			if depth[k] != round {
				return -1
			}
			all := s.matrix.Neighbours(k)
			return all[slices.IndexFunc(all, func(j int) bool { return depth[j] < round })]
		}
		given, err := s.pass(ctx, func(p *edge) bool { return giver(p.position) == s.position },
			func(p *edge) bool { return giver(s.position) == p.position })
		if err == nil && depth[s.position] == round {
			if err = keep(given); err == nil {
				err = s.record()
			}
		}
		if err != nil {
			return s.wrap(", handing over", err)
		}
	}
	_, err := s.gatherFlags(ctx, false) // which ends once all are here
	return err
}

// pass hands the session's starting state to the neighbours of gives, and returns the state
// received from one of takes. It takes an exchange for each piece of the longest state.
func (s *Session) pass(ctx context.Context, takes, gives func(p *edge) bool) (given []byte, err error) {
	var gift []byte
	if slices.ContainsFunc(s.x.edges, takes) {
		err := s.ledger.during(func() (err error) {
			gift, err = s.config.Store.Handover(s.Begin)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	length := []uint64{uint64(len(gift))} // then the longest: all make as many exchanges
	if err := s.Reduce(ctx, network.Reduction{Op: network.Max, Bits: 64, Words: length}); err != nil {
		return nil, err
	}
	if length[0] > maxGift {
		return nil, s.failed(dsbo.ConfigErrorf("what is handed over must have at most %d bytes; it has %d", maxGift,
			length[0]))
	}
	most := 8 * s.config.mostWords()
	for range (int(length[0]) + most - 1) / most {
		piece := gift[:min(len(gift), most)]
		gift = gift[len(piece):]
		head := s.header(handing)
		err := s.x.post(newFrame(head, 0), func(p *edge) bool { return !takes(p) })
		if err == nil {
			err = s.x.post(append(newFrame(head, len(piece)), piece...), takes)
		}
		if err == nil {
			err = s.awaitWork(ctx, handing, everyone, nil)
		}
		if err != nil {
			return nil, err
		}
		for _, p := range s.x.edges {
			if gives(p) { // one at most
				given = append(given, s.x.came(p).payload...)
			}
		}
		s.x.advance()
	}
	return given, nil
}
