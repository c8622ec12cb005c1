package experiment

import (
	"context"
	"fmt"
	"io"

	"dsbo/network"
	"dsbo/runs"
)

// A Plan is what a run will send and need, before it is run. Where that depends on what the run finds, it is a range with what is usual
// on the tasks of this module.
type Plan struct {
	Line       string // what problem, on what graph
	Agents     int
	Quantities []Quantity
	All, Site  Load          // of all agents together, and of the agent that sends most
	Memory     float64       // bytes that a site's process takes, about
	Privacy    *runs.Privacy // nil: what is sent has no noise
	Pilot      *Pilot        // nil: nothing was tried, and ranges are of formulas
	runner     *runner
	memory     memory
	tree       *network.Tree
	w          *network.Matrix
	averages   *network.Averages
}

// A Sending is how much is sent.
type Sending struct{ Bytes, Messages, Floats Range }

// add adds another one.
func (s *Sending) add(t Sending) {
	s.Bytes.add(t.Bytes)
	s.Messages.add(t.Messages)
	s.Floats.add(t.Floats)
}

// raise makes it at least another one.
func (s *Sending) raise(t Sending) {
	s.Bytes.raise(t.Bytes)
	s.Messages.raise(t.Messages)
	s.Floats.raise(t.Floats)
}

// A Load is what is sent, in each phase by its name and in all of them.
type Load struct {
	Phases map[string]Sending
	Sending
}

// addTo adds what is sent in a phase.
func (l *Load) addTo(phase string, s Sending) {
	if l.Phases == nil {
		l.Phases = map[string]Sending{}
	}
	sum := l.Phases[phase]
	sum.add(s)
	l.Phases[phase] = sum
	l.add(s)
}

// Plan returns what the job's run will send. It loads the data, as far as they are in this process, and exchanges nothing.
func (j *Job) Plan(ctx context.Context) (*Plan, error) {
	r, program := &runner{Job: j, layout: inProcess{}}, peakMemory()
	if err := r.prepare(io.Discard); err != nil {
		return nil, err
	}
	if err := r.load(ctx, r.localAgents()); err != nil {
		return nil, err
	}
	if err := r.makeProblem(ctx); err != nil {
		return nil, err
	}
	var err error
	if r.method, err = r.params.method(highCurvature); err != nil {
		return nil, err
	}
	r.chooseStart()
	if g := r.problem.guard; g != nil {
		if err := g.plan(r.Settings, r.method); err != nil {
			return nil, err
		}
	}
	plan := &Plan{Line: fmt.Sprintf("%s; %v", r.problem.line, r.graph), Agents: r.Settings.Agents, Privacy: r.Settings.Privacy, runner: r, tree: r.graph.W.Tree(), w: r.graph.W}
	if plan.Quantities, err = r.quantities(); err != nil {
		return nil, err
	}
	o := r.problem.Average
	o.ByMix = false // as far as averages are by Mix, their rounds are quantities of their own
	if plan.averages, err = network.NewAverages(nil, plan.w, o); err != nil {
		return nil, err
	}
	plan.All, plan.Site = plan.loads()
	plan.memory = r.memory(program)
	plan.Memory = plan.memory.siteBytes(plan.Agents)
	return plan, nil
}

// loads returns what all agents send together, and for each quantity the most that one of them does.
func (p *Plan) loads() (all, site Load) {
	for _, q := range p.Quantities {
		var sum, most Sending
		for i := range p.Agents {
			s := q.sent(i, p.w, p.averages).sending(q.Times)
			sum.add(s)
			most.raise(s)
		}
		all.addTo(q.Phase, sum)
		site.addTo(q.Phase, most)
	}
	return all, site
}

// A Link is a connection between two sites.
type Link struct {
	Mbit float64 // millions of bits a second
	Ms   float64 // milliseconds of one way
}

// Seconds returns the time that exchanges take over links, without computation: a sum goes up the tree and down again, scales first, and
// each step sends all of it to the agent that has most to send.
func (p *Plan) Seconds(l Link) (total Range) {
	children := 1
	for _, c := range p.tree.Children {
		children = max(children, len(c))
	}
	height := float64(p.tree.Height)
	for _, q := range p.Quantities {
		one := q.sent(p.tree.Root, p.w, p.averages)
		message := one.bytes / max(1, one.messages)
		steps, bytes := 1., one.bytes // one after the other, and bytes of these
		switch q.Way {
		case ByMix:
		case ByMax:
			steps, bytes = 2*height, height*(1+float64(children))*message
		case ByText, ByRow:
			steps, bytes = 2*height, 2*height*one.bytes
		default: // scales and sums
			steps, bytes = 4*height, 2*height*(1+float64(children))*message
		}
		waits, lasts, times := steps*l.Ms/1000, 8*bytes/(l.Mbit*1e6), q.Times
		if p.Pilot != nil {
			share := p.Pilot.shares[q.Phase]
			waits, lasts, times = waits*share.messages, lasts*share.bytes, exactRange(times.Usual)
		}
		total.add(times.Times(waits + lasts))
	}
	return total
}
