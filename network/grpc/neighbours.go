package grpc

import (
	"fmt"
	"slices"

	"dsbo/network/membership"
)

// newEdge returns an edge to a neighbour, at this agent's next exchange.
func (n *neighbours) newEdge(id int) *edge {
	e := &edge{m: n.m, id: id, position: -1, received: n.m.flow.round, next: n.m.flow.round, digests: digests{}}
	e.conduct.edge = e
	return e
}

// firstEdges makes the edges that this agent has at its start: to its neighbours, and to those that
// the membership log has admitted beside it.
func (n *neighbours) firstEdges() {
	c := &n.m.config
	ids := slices.Clone(c.neighbours())
	if c.Membership != nil {
		for _, e := range c.Membership.Log.Last(c.Matrix.N()).Edges {
			if e[0] == c.Agent && !slices.Contains(ids, e[1]) {
				ids = append(ids, e[1])
			}
		}
	}
	slices.Sort(ids)
	for _, j := range ids {
		n.edges = append(n.edges, n.newEdge(j))
	}
}

// edgeFor returns the edge to the agent that says hello: a neighbour, or one that is admitted
// beside this agent.
func (n *neighbours) edgeFor(h hello) (*edge, error) {
	n.m.mu.Lock()
	e := n.edge(h.from)
	n.m.mu.Unlock()
	if e != nil {
		return e, nil
	}
	c := &n.m.config
	if h.admission == "" {
		return nil, fmt.Errorf("agent %d is not a neighbour of agent %d", h.from, c.Agent)
	}
	a, err := c.admission(n.m.identity(), h.from, h.admission)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(a.Neighbours, c.Agent) {
		return nil, fmt.Errorf("agent %d is admitted beside agents %v, and not beside agent %d", h.from,
			a.Neighbours, c.Agent)
	}
	n.m.mu.Lock()
	defer n.m.mu.Unlock()
	if e = n.edge(h.from); e == nil {
		e = n.addEdge(h.from)
		c.Log.Info("an agent is admitted", "agent", h.from, "beside", a.Neighbours)
	}
	return e, nil
}

// addEdge adds an edge to an agent that is admitted beside this one.
func (n *neighbours) addEdge(id int) *edge {
	e := n.newEdge(id)
	at, _ := slices.BinarySearchFunc(n.edges, id, func(e *edge, id int) int { return e.id - id })
	n.edges = slices.Insert(n.edges, at, e)
	return e
}

// admittedEdges adds the edges to agents that the log has admitted beside this one, and that have
// not said hello to this process yet.
func (n *neighbours) admittedEdges(further membership.Edges) {
	for _, e := range further {
		if e[0] == n.m.config.Agent && n.edge(e[1]) == nil {
			n.addEdge(e[1])
		}
	}
}

// edge returns the edge to neighbour i, nil if i is none.
func (n *neighbours) edge(i int) *edge {
	for _, e := range n.edges {
		if e.id == i {
			return e
		}
	}
	return nil
}

// announce tells all neighbours how far this agent is in the end of the run.
func (n *neighbours) announce() {
	for _, e := range n.edges {
		e.announce()
	}
}

// passKeysOn wakes all streams if there are more keys to carry.
func (n *neighbours) passKeysOn(published bool) {
	for _, e := range n.edges {
		if published {
			e.wake()
		}
	}
}
