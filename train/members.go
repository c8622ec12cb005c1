package train

import (
	"fmt"
	"slices"

	"dsbo"
	"dsbo/algo"
	"dsbo/network"
	"dsbo/network/membership"
	"dsbo/runs"
)

// OfMembers returns the problem of the members of an epoch, whose agents are at the members'
// positions; p's agents are the roster's or these members, and w is the roster's mixing matrix. Its
// W is the members', and its Start is another one in each epoch. A team connects the members
// already: it is taken over as it is. It fails as [network.Matrix.Members] does.
func (p Problem) OfMembers(e membership.Epoch, w *network.Matrix) (Problem, error) {
	var err error
	if p.W, err = w.Members(e); err != nil {
		return p, err
	}
	p.setApart(e)
	if slices.Equal(p.Numbers, e.Members) || p.Numbers == nil && len(p.Oracles) == len(e.Members) &&
		e.Members[len(e.Members)-1] < len(p.Oracles) {
		return p, nil
	}
	all := p
	p.Numbers = e.Members
	p.Oracles, p.Evaluate, p.Digests = entriesOf(all.Oracles, e.Members), entriesOf(all.Evaluate, e.Members),
		entriesOf(all.Digests, e.Members)
	if all.Score != nil {
		p.Score = func(i int, m Fit) (Scores, error) { return all.Score(e.Members[i], m) }
	}
	if all.Each != nil {
		p.Each = func(i int, set Set, m Fit) (losses, hits []float64, err error) {
			return all.Each(e.Members[i], set, m)
		}
	}
	return p, nil
}

// entriesOf returns what members have of a list by agents; nil of a nil list.
func entriesOf[T any](all []T, members []int) []T {
	if all == nil {
		return nil
	}
	var theirs []T
	for _, i := range members {
		theirs = append(theirs, all[i])
	}
	return theirs
}

// agentNumber returns the number in the roster of the agent at a position.
func (p Problem) agentNumber(position int) int {
	if p.Numbers == nil {
		return position
	}
	return p.Numbers[position]
}

// agentNumbers returns the numbers in the roster of the agents at positions.
func (p Problem) agentNumbers(positions []int) []int {
	if p.Numbers == nil {
		return positions
	}
	return entriesOf(p.Numbers, positions)
}

// A roster is the run that a configuration is the part of one epoch of.
type roster struct {
	problem Problem
	w       *network.Matrix
}

// inEpoch returns the configuration of an epoch. c may be the configuration of any epoch, or of the
// whole run.
func (c Config) inEpoch(epoch int) (Config, error) {
	if c.roster == nil {
		c.roster = &roster{c.Problem, c.W}
	}
	var err error
	if c.epoch, err = c.Membership.At(epoch, c.roster.w.N()); err != nil {
		return c, err
	}
	c.Problem, err = c.roster.problem.OfMembers(c.epoch, c.roster.w)
	c.W = c.Problem.W
	return c, err
}

// startEpoch returns the configuration of the epoch in which this process begins: of a run over
// several processes the last one, which the team connects, else the epoch of the checkpoint. The
// log must be one of the run.
func (c Config) startEpoch() (Config, error) {
	if len(c.Membership) == 0 {
		return c, nil
	}
	if err := c.checkMembership(); err != nil {
		return c, err
	}
	if c.Problem.Team != nil {
		return c.inEpoch(len(c.Membership))
	}
	c, err := c.inEpoch(0)
	if err != nil || !c.Resume {
		return c, err
	}
	found, err := c.findCheckpoint(nil)
	if err != nil || found == nil {
		return c, err
	}
	if found.Epoch > len(c.Membership) {
		return c, dsbo.Errorf(dsbo.ErrConfig,
			"the checkpoint is of epoch %d; the membership log must have it, but has %d", found.Epoch,
			len(c.Membership))
	}
	return c.inEpoch(found.Epoch)
}

// checkMembership reports a log that is not one of the run, or that its method cannot go through.
func (c Config) checkMembership() error {
	matrices, err := EpochMatrices(c.Membership, c.W, c.K)
	if err != nil {
		return err
	}
	if have, want := len(c.Problem.Oracles), c.Membership.Roster(c.W.N()); have != want {
		return dsbo.Errorf(dsbo.ErrConfig, "the problem must be of the roster's %d agents; it is of %d", want, have)
	}
	if _, ok := c.Method.(algo.Reformer); !ok {
		return dsbo.Errorf(dsbo.ErrCapability,
			"%s does not say how it goes on when members change (algo.Reformer is missing)", algo.NameOf(c.Method))
	}
	for _, w := range matrices {
		if err := checkGraph(c.Method, w); err != nil {
			return err
		}
	}
	return nil
}

// EpochMatrices returns the mixing matrix of each epoch of a log, for the roster's matrix w, after
// a check that the log is one of a run of K iterations: its agents are known, no epoch begins after
// K, and no graph of members falls apart. Errors match dsbo.ErrConfig.
func EpochMatrices(l membership.Log, w *network.Matrix, K int) ([]*network.Matrix, error) {
	if err := l.Validate(w.N(), 0); err != nil {
		return nil, err
	}
	var all []*network.Matrix
	for number := range len(l) + 1 {
		e, err := l.At(number, w.N())
		if err != nil {
			return nil, err
		}
		if e.Iteration > K {
			return nil, dsbo.Errorf(dsbo.ErrConfig,
				"membership log: epoch %d must begin at iteration K = %d at the latest; it begins at %d",
				number, K, e.Iteration)
		}
		m, err := w.Members(e)
		if err != nil {
			return nil, fmt.Errorf("membership log: %w", err)
		}
		all = append(all, m)
	}
	return all, nil
}

// epochEnds reports whether the next epoch begins after the iterations done.
func (r *runner) epochEnds() bool {
	next := r.epoch.Number
	return next < len(r.Membership) && r.Membership[next].Iteration == r.done
}

// beginEpoch begins the next epoch after the iterations done: the agents of its members go on with
// states that are re-formed, and a new exchange. What evaluation knows is of the old members, and
// begins anew. All agents of the run are in this process.
func (r *runner) beginEpoch() error {
	states, usage := map[int]dsbo.Algorithm{}, map[int]runs.Usage{}
	for _, a := range r.agents {
		states[a.id], usage[a.id] = a.alg, a.usage()
	}
	c, err := r.Config.inEpoch(r.epoch.Number + 1)
	if err != nil {
		return err
	}
	if states, err = c.epochMethods(states, r.epoch, c.epoch.Members); err != nil {
		return err
	}
	was, before, eval := r.epoch, r.stepper, r.eval
	before.close()
	if err := r.makeAgents(c, func(number int) (dsbo.Algorithm, error) { return states[number], nil }); err != nil {
		return err
	}
	for _, a := range r.agents {
		spent := usage[a.id]
		if !r.epoch.StateKept(was, a.id) {
			spent = eval.usageOf(a.id)
		}
		a.k, a.usageBefore = before.done, spent
	}
	r.done, r.seconds, r.times = before.done, before.seconds, before.times
	r.products.Mu, r.eval.sent, r.eval.lastUsage = before.products.Mu, eval.sent, eval.lastUsage
	r.epochBegun()
	return nil
}

// epochBegun follows the beginning of an epoch: a checkpoint of it is due and, where neither
// iterations nor another epoch follow, an evaluation of its members. What they may have found
// before another epoch began after the same iteration counts for nothing.
func (r *runner) epochBegun() {
	r.end, r.newEpoch = r.K, true
	if r.done == r.K && !r.epochEnds() {
		r.evaluated = -1
	}
	if r.OnEpoch != nil {
		r.OnEpoch(r.epoch)
	}
}

// takeOver readies a new method for an agent that comes in, with what another one hands over.
func takeOver(late dsbo.Algorithm, from []dsbo.Named) error {
	if err := algo.TakeOver(late.(algo.Reformer), from); err != nil {
		return err
	}
	setStart(late, late.Y())
	return nil
}

// epochMethods returns the methods with which some members of c's epoch begin it, by their numbers
// in the roster, from those that members had at the end of the epoch before. A member that keeps
// its state needs its own, one that comes in the checkpoint of its source ([network.Matrix.Giver]).
func (c *Config) epochMethods(states map[int]dsbo.Algorithm, before membership.Epoch,
	whose []int) (map[int]dsbo.Algorithm, error) {
	after := map[int]dsbo.Algorithm{}
	for _, i := range whose {
		if c.epoch.StateKept(before, i) {
			after[i] = states[i]
			continue
		}
		late, err := c.newMethod()
		if err != nil {
			return nil, err
		}
		_, source, err := c.roster.w.Giver(before, c.epoch, i)
		if err != nil {
			return nil, err
		}
		if err = takeOver(late, states[source].(algo.Reformer).Handover()); err != nil {
			return nil, err
		}
		after[i] = late
	}
	moved := map[dsbo.Algorithm]bool{} // agents with the same state may have one method
	for _, i := range whose {
		if c.epoch.StateKept(before, i) {
			after[i].(algo.Reformer).Reform()
		}
		if !moved[after[i]] {
			c.moveState(after[i])
			moved[after[i]] = true
		}
	}
	return after, nil
}
