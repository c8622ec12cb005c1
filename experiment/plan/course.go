package plan

import (
	"cmp"
	"math"
	"slices"

	"dsbo/network"
)

// An event is that an agent can go on: it has what a message brought, or what it waited for.
type event struct {
	at       float64 // seconds
	before   int     // the event that it follows; -1: none
	from, to int     // the agents of the message; from < 0: there is none
}

// A graph is who can send to whom, the neighbours of each ascending: a [network.Matrix] is one.
type graph interface {
	N() int
	Neighbours(i int) []int
}

// A course is the messages of a run over links, one exchange after the other, event by event.
// Computing takes no time in it.
type course struct {
	w      graph         // the edges
	tree   *network.Tree // of sums
	centre int           // the agent opposite the root, with which sums meet; -1: none
	links  Links         // of the edges
	order  []int         // agents, the deepest in the tree last
	events []event       // so far; the first one is the start
	ready  []int         // of each agent, the event with which it begins the next exchange
	next   []int         // the same, of the exchange that follows
	busy   [][]float64   // until when each agent sends to each neighbour; nil: messages take no time but delays
}

// newCourse returns a course in which nothing has been sent, of messages whose bytes take time or
// do not.
func newCourse(w graph, tree *network.Tree, l Links, withBytes bool) *course {
	c := &course{w: w, tree: tree, centre: tree.Opposite(),
		links: l, order: make([]int, w.N()), ready: make([]int, w.N()),
		next: make([]int, w.N()), events: []event{{before: -1, from: -1}}}
	for i := range c.order {
		c.order[i] = i
	}
	for i := 0; withBytes && i < w.N(); i++ {
		c.busy = append(c.busy, make([]float64, len(w.Neighbours(i))))
	}
	slices.SortStableFunc(c.order, func(i, j int) int { return cmp.Compare(tree.Depth[i], tree.Depth[j]) })
	return c
}

// send sends bytes after an event, as soon as the edge is free. Where they arrive later than all
// that the receiver has waited for so far, it waits for them.
func (c *course) send(receiver []int, after, from, to int, bytes float64) {
	l, start := c.links.of(from, to), c.events[after].at
	if c.busy != nil {
		edge, _ := slices.BinarySearch(c.w.Neighbours(from), to)
		start = max(start, c.busy[from][edge]) + 8*bytes/(l.Mbit*1e6)
		c.busy[from][edge] = start
	}
	if at := start + l.Delay.Seconds(); at > c.events[receiver[to]].at {
		c.events = append(c.events, event{at, after, from, to})
		receiver[to] = len(c.events) - 1
	}
}

// mix has all agents send bytes to all neighbours, and wait for theirs.
func (c *course) mix(bytes float64) {
	copy(c.next, c.ready)
	for i := range c.w.N() {
		for _, j := range c.w.Neighbours(i) {
			c.send(c.next, c.ready[i], i, j, bytes)
		}
	}
	c.ready, c.next = c.next, c.ready
}

// reduce has words of some bytes go up the tree and down again, with a frame without words to all
// other neighbours: the stages of network/grpc. The words of a sum meet where they can.
func (c *course) reduce(bytes float64, op network.Op) {
	root, centre := c.tree.Root, -1
	if op == network.Sum {
		centre = c.centre
	}
	up := c.ready // and then with the words of all below
	for _, i := range slices.Backward(c.order) {
		if parent := c.tree.Parent[i]; parent >= 0 && i != centre {
			c.send(up, up[i], i, parent, bytes)
		}
	}
	copy(c.next, up)
	if centre >= 0 {
		c.send(c.next, up[centre], centre, root, bytes)
		c.send(c.next, up[root], root, centre, bytes)
	}
	for _, i := range c.order {
		for _, j := range c.tree.Children[i] {
			if j != centre {
				c.send(c.next, c.next[i], i, j, bytes)
			}
		}
	}
	for i := range up {
		for _, j := range c.w.Neighbours(i) {
			if c.tree.Parent[i] != j && c.tree.Parent[j] != i {
				c.send(c.next, up[i], i, j, 0)
			}
		}
	}
	c.ready, c.next = c.next, up
}

// end returns the last event of all agents.
func (c *course) end() int {
	return slices.MaxFunc(c.ready, func(a, b int) int { return cmp.Compare(c.events[a].at, c.events[b].at) })
}

// repeated is how often exchanges are gone through to find how long one takes where others come
// before and after it: agents do not begin and end at one time.
const repeated = 4

// period returns how long exchanges take that follow each other, and for how long edges held up
// some of these.
func (c *course) period(exchanges func()) (seconds float64, edges map[Edge]float64) {
	began := 0.
	for k := range repeated {
		if exchanges(); k == 0 {
			began = c.events[c.end()].at
		}
	}
	seconds = (c.events[c.end()].at - began) / (repeated - 1)
	edges = map[Edge]float64{}
	for e := c.end(); e >= 0; e = c.events[e].before {
		if x := c.events[e]; x.from >= 0 {
			edges[between(x.from, x.to)] += x.at - c.events[x.before].at
		}
	}
	return seconds, edges
}

// A Wait is the time of exchanges over links, without computing.
type Wait struct {
	Seconds Range
	Edge    Edge    // that holds them up most, where links differ
	Share   float64 // of what is usual, the part for which it does; 0 where all links are alike
}

// Wait returns the time that exchanges take over links, each of which must be given.
func (p *Plan) Wait(l Links) (total Wait, err error) {
	if err := l.check(p.w); err != nil || p.w.N() == 1 {
		return total, err
	}
	edges := map[Edge]float64{}
	for _, q := range p.Quantities {
		delays, _ := p.course(q, l, false)
		all, held := p.course(q, l, true)
		waits, lasts, times := delays, all-delays, q.Times
		if q.With {
			waits, q.With = 0, false
		}
		if p.Pilot == nil {
			one, again, often := p.passes(q, p.w.Tree().Root)
			total.Seconds.Most += float64(often * delays * again.messages / one.messages)
			total.Seconds.Most += float64(often * (all - delays) * again.bytes / one.bytes)
		} else {
			share := p.Pilot.shares[q.Phase]
			waits, lasts, times = waits*share.messages, lasts*share.bytes, exactly(times.Usual)
		}
		q := times.Times(waits + lasts)
		total.Seconds = total.Seconds.plus(q)
		for e, seconds := range held {
			edges[e] += float64(q.Usual*seconds) / (repeated * max(all, math.SmallestNonzeroFloat64))
		}
	}
	if l.edges == nil {
		return total, nil
	}
	for e, seconds := range edges {
		share := seconds / total.Seconds.Usual
		if share > total.Share || share == total.Share && slices.Compare(e[:], total.Edge[:]) < 0 {
			total.Edge, total.Share = e, share
		}
	}
	return total, nil
}

// course returns how long a quantity takes that is sent again and again, by its delays alone or
// with its bytes, and for how long which edges hold it up.
func (p *Plan) course(q Quantity, l Links, withBytes bool) (seconds float64, edges map[Edge]float64) {
	_, passes := p.averages.Passes(q.Length, q.Wire)
	q.With = false
	c, one := newCourse(p.w, p.w.Tree(), l, withBytes), p.sent(q, p.w.Tree().Root, passes)
	hops := 1 // of rows, which go from neighbour to neighbour: the same again and again
	switch q.Way {
	case ByText: // lengths go before
		hops = 2 * p.w.Diameter()
	case ByRow:
		hops = p.w.Diameter()
	}
	seconds, edges = c.period(func() {
		switch q.Way {
		case BySum: // words, with scales before
			if passes == network.TwoPasses {
				c.reduce(one.bytes/one.messages, network.Max)
			}
			c.reduce(one.bytes/one.messages, network.Sum)
		case ByMax:
			c.reduce(one.bytes/one.messages, network.Max)
		case ByMix:
			c.mix(one.bytes / one.messages)
		default:
			c.mix(one.bytes / float64(hops))
		}
	})
	for e := range edges {
		edges[e] *= float64(hops)
	}
	return float64(hops) * seconds, edges
}
