package experiment

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"dsbo/algo"
	"dsbo/internal/recycle"
	"dsbo/network"
	"dsbo/runs"
)

// A Plan is what a run will send and need, before it is run. Where that depends on what the run finds, it is a range with what is usual
// on the tasks of this module.
type Plan struct {
	Line       string // what problem, on what graph
	Agents     int
	Quantities []Quantity
	All, Site  Load // of all agents together, and of the agent that sends most
	Memory     Range
	Privacy    *runs.Privacy // nil: what is sent has no noise
	tree       *network.Tree
	w          *network.Matrix
	averages   *network.Averages
}

// A Load is what is sent, in all phases by their names and together.
type Load struct {
	Phases                  map[string]Range // bytes
	Bytes, Messages, Floats Range
}

// Plan returns what the job's run will send. It loads the data, as far as they are in this process, and exchanges nothing.
func (j *Job) Plan(ctx context.Context) (*Plan, error) {
	r := &runner{Job: j, layout: inProcess{}}
	if err := r.prepare(io.Discard); err != nil {
		return nil, err
	}
	if err := r.load(ctx, r.here()); err != nil {
		return nil, err
	}
	if err := r.makeProblem(ctx); err != nil {
		return nil, err
	}
	var err error
	if r.method, err = r.params.method(steep); err != nil {
		return nil, err
	}
	r.chooseStart()
	if g := r.problem.guard; g != nil {
		if err := g.plan(r.Settings, r.method); err != nil {
			return nil, err
		}
	}
	plan := &Plan{Line: fmt.Sprintf("%s; %v", r.problem.line, r.graph), Agents: r.Settings.Agents, Privacy: r.Settings.Privacy, tree: r.graph.W.Tree(), w: r.graph.W}
	if plan.Quantities, err = r.quantities(); err != nil {
		return nil, err
	}
	o := r.problem.Average
	o.ByMix = false // as far as averages are by Mix, their rounds are quantities of their own
	if plan.averages, err = network.NewAverages(nil, plan.w, o); err != nil {
		return nil, err
	}
	plan.All = plan.load(func(sites []Range) (sum Range) {
		for _, s := range sites {
			sum.add(s)
		}
		return sum
	})
	plan.Site = plan.load(func(sites []Range) (most Range) {
		for _, s := range sites {
			most = Range{max(most.Least, s.Least), max(most.Usual, s.Usual), max(most.Most, s.Most)}
		}
		return most
	})
	plan.Memory = r.memoryOfSite()
	return plan, nil
}

// load combines what the sites send of each phase.
func (p *Plan) load(combine func(sites []Range) Range) (l Load) {
	l.Phases = map[string]Range{}
	for _, q := range p.Quantities {
		bytes, messages, floats := make([]Range, p.Agents), make([]Range, p.Agents), make([]Range, p.Agents)
		for i := range p.Agents {
			s := q.sent(i, p.w, p.averages)
			bytes[i], messages[i], floats[i] = q.Times.Times(s.bytes), q.Times.Times(s.messages), q.Times.Times(s.floats)
		}
		phase := l.Phases[q.Phase]
		phase.add(combine(bytes))
		l.Phases[q.Phase] = phase
		l.Bytes.add(combine(bytes))
		l.Messages.add(combine(messages))
		l.Floats.add(combine(floats))
	}
	return l
}

// memoryOfSite returns about what a site's process takes: the program, its share of the data and programs that are loaded here, and the
// vectors of its method and of exact solutions.
func (r *runner) memoryOfSite() Range {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	p, q, _ := r.problem.Dims() // which are known by now
	vectors := 40 * float64(q)
	if method := algo.Clone(r.method); method.Init(p, q, r.Settings.Iterations) == nil {
		for _, s := range method.State() {
			vectors += float64(len(s.Value))
		}
	}
	if r.problem.guard == nil { // the pairs of exact solutions
		vectors += 3 * float64(q) * float64(min(recycle.MostPairs, max(4, q)))
	}
	const program = 40e6
	return exactly(program + float64(m.HeapAlloc)/float64(len(r.loaded.here)) + 8*vectors)
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
	step := func(bytes float64) float64 { return l.Ms/1000 + 8*bytes/(l.Mbit*1e6) }
	for _, q := range p.Quantities {
		one := q.sent(p.tree.Root, p.w, p.averages)
		bytes := one.bytes / max(1, one.messages) // of a message
		seconds := 0.0
		switch up, down := float64(p.tree.Height), float64(p.tree.Height*children); q.Way {
		case ByMix:
			seconds = step(one.bytes)
		case ByMax:
			seconds = up*step(bytes) + float64(p.tree.Height)*step(bytes*down/max(1, up))
		case ByText, ByRow:
			seconds = 2 * float64(p.tree.Height) * step(one.bytes)
		default: // scales and sums
			seconds = 2*float64(p.tree.Height)*2*l.Ms/1000 + 2*(up+down)*8*bytes/(l.Mbit*1e6)
		}
		total.add(q.Times.Times(seconds))
	}
	return total
}
