package train

import (
	"slices"

	"dsbo"
	"dsbo/algo"
	"dsbo/network"
	"dsbo/network/membership"
	"dsbo/runs"
)

// OfMembers returns the problem of the members of an epoch, with an agent for each member, in
// order. p must have the agents of the roster, or just these members already; w is the roster's
// mixing matrix. The result has the members' W, and a Start that differs between epochs. A team is
// kept, since it connects the members already. It fails as [network.Matrix.Members] does.
func (p Problem) OfMembers(e membership.Epoch, w *network.Matrix) (Problem, error) {
	var err error
	if p.W, err = w.Members(e); err != nil {
		return p, err
	}
	p.setApart(e)
	n := len(e.Members) // ascending: if the last one is n−1, they are 0..n−1
	isOfAll := p.Numbers == nil && len(p.Oracles) == n && e.Members[n-1] == n-1
	if isOfAll || slices.Equal(p.Numbers, e.Members) {
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
		p.Each = func(i int, set Set, m Fit) (Each, error) { return all.Each(e.Members[i], set, m) }
	}
	return p, nil
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

// epochEnds reports whether the next epoch begins after the iterations done.
func (r *runner) epochEnds() bool {
	next := r.epoch.Number
	return next < len(r.Membership) && r.Membership[next].Iteration == r.done
}

// beginEpoch begins the next epoch after the iterations done, in a run with all agents in this
// process. Members continue with re-formed states and a new exchange. The evaluation's state
// belongs to the old members and is reset, except for counts and damping.
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
		if !r.epoch.StateKept(was, a.id) { // it joins, and may have been a member before
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

// takeOver prepares a joining agent's new method from a handover.
func takeOver(late dsbo.Algorithm, from []dsbo.Named) error {
	if err := algo.TakeOver(late.(algo.Reformer), from); err != nil {
		return err
	}
	setStart(late, late.Y())
	return nil
}

// epochMethods returns the methods of some members (whose) at the beginning of c's epoch, by number
// in the roster, given the states at the end of the epoch before. A member that remains continues
// its own state; one that joins takes over the state of its source ([network.Matrix.Giver]). States
// are re-formed only after all joining members have taken over.
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

// setApart makes p, a problem of any epoch, the problem of epoch e: solves start at a point of the
// epoch's own, the first epoch's start moved at random, see [apartness].
func (p *Problem) setApart(e membership.Epoch) {
	apart := apartnessOf(p.Average.Seed, e)
	if p.apart.epoch == apart.epoch {
		return
	}
	if p.apart.epoch == 0 { // it is of the first epoch so far
		p.firstStart = p.Start
	}
	p.apart = apart
	if p.Start = p.firstStart; e.Number == 0 {
		return
	}
	at := slices.IndexFunc(p.Oracles, func(o dsbo.Oracle) bool { return o != nil })
	if at < 0 { // no agent is in this process, which the run refuses
		return
	}
	_, q := p.Oracles[at].Dims() // Start may be nil, for zeros
	p.Start = make([]float64, q)
	copy(p.Start, p.firstStart)
	p.apart.move(p.Start, moveStart)
}

// moveState moves y and z of a method whose averages are exact sums, as an epoch begins. The steps
// that follow make up for it; where none do, at the end of the run, the state stays.
func (c *Config) moveState(m dsbo.Algorithm) {
	t := algo.TraitsOf(m)
	if !t.Alike || c.epoch.Iteration == c.K {
		return
	}
	c.Problem.apart.move(m.Y(), moveY)
	c.Problem.apart.move(t.Z, moveZ)
}
