package grpc

import (
	"errors"
	"fmt"
	"slices"

	"dsbo/network/membership"
	"dsbo/network/membership/council"
	"dsbo/network/pki"
)

// agents returns how many numbers of agents there may be: those of Matrix and, where members change, as many as can be admitted.
func (c *Config) agents() int {
	if c.Membership == nil {
		return c.Matrix.N()
	}
	return council.Largest(c.Membership.Quorum)
}

// address returns that of an agent, "" of one that has been admitted.
func (c *Config) address(agent int) string {
	if agent >= len(c.Addresses) {
		return ""
	}
	return c.Addresses[agent]
}

// neighbours returns this agent's in the graph of Matrix, or those that its admission has.
func (c *Config) neighbours() []int {
	if c.Agent >= c.Matrix.N() {
		return c.admissionNeighbours
	}
	return c.Matrix.Neighbours(c.Agent)
}

// admission reads what an agent shows that Matrix does not have, and checks it by the authorities that id knows: it must be that agent's, for this
// run, and leave the quorum more than half of the roster.
func (c *Config) admission(id *pki.Identity, agent int, text string) (pki.Admission, error) {
	n := c.Matrix.N()
	switch {
	case agent < n:
		return pki.Admission{}, fmt.Errorf("agent %d is in the cluster file, and must have no admission", agent)
	case c.Membership == nil:
		return pki.Admission{}, fmt.Errorf("agent %d cannot be admitted: there must be a quorum, which this run does not have", agent)
	case id == nil:
		return pki.Admission{}, fmt.Errorf("agent %d cannot be admitted: there must be certificates, as the authority signs an admission", agent)
	case agent >= c.agents():
		return pki.Admission{}, fmt.Errorf("agent %d cannot be admitted: the quorum must be more than half of the roster, which would have %d agents; it is %d",
			agent, agent+1, c.Membership.Quorum)
	}
	a, err := id.Admission(text, c.Run, c.Hash)
	switch {
	case err != nil:
		return a, err
	case a.Agent != agent:
		return a, fmt.Errorf("agent %d shows the admission of agent %d", agent, a.Agent)
	case a.Neighbours[len(a.Neighbours)-1] >= n:
		return a, fmt.Errorf("the neighbours of agent %d, which is admitted, must be agents of the cluster file, 0 to %d; they are %v", agent, n-1, a.Neighbours)
	}
	return a, nil
}

// newEdge returns an edge to a neighbour, at this agent's next exchange.
func (m *Mixer) newEdge(id int) *edge {
	return &edge{m: m, id: id, position: -1, received: m.round, next: m.round, digests: digests{}}
}

// firstEdges makes the edges that this agent has at its start: to its neighbours, and to those that the membership log has admitted beside it.
func (m *Mixer) firstEdges() {
	c := &m.config
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
		m.edges = append(m.edges, m.newEdge(j))
	}
}

// edgeFor returns the edge to the agent that says hello: a neighbour, or one that is admitted beside this agent.
func (m *Mixer) edgeFor(h hello) (*edge, error) {
	m.mu.Lock()
	e := m.edge(h.from)
	m.mu.Unlock()
	if e != nil {
		return e, nil
	}
	c := &m.config
	if h.admission == "" {
		return nil, fmt.Errorf("agent %d is not a neighbour of agent %d", h.from, c.Agent)
	}
	a, err := c.admission(m.identity(), h.from, h.admission)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(a.Neighbours, c.Agent) {
		return nil, fmt.Errorf("agent %d is admitted beside agents %v, and not beside agent %d", h.from, a.Neighbours, c.Agent)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if e = m.edge(h.from); e == nil {
		e = m.addEdge(h.from)
		c.Log.Info("an agent is admitted", "agent", h.from, "beside", a.Neighbours)
	}
	return e, nil
}

// addEdge adds an edge to an agent that is admitted beside this one.
func (m *Mixer) addEdge(id int) *edge {
	e := m.newEdge(id)
	at, _ := slices.BinarySearchFunc(m.edges, id, func(e *edge, id int) int { return e.id - id })
	m.edges = slices.Insert(m.edges, at, e)
	return e
}

// admittedEdges adds the edges to agents that the log has admitted beside this one, and that have not said hello to this process yet.
func (m *Mixer) admittedEdges(further membership.Edges) {
	for _, e := range further {
		if e[0] == m.config.Agent && m.edge(e[1]) == nil {
			m.addEdge(e[1])
		}
	}
}

// admit lets the seat know of an agent that asks to come in for the first time, after a check of what it shows.
func (c *chamber) admit(agent int, text string) error {
	a, err := c.m.config.admission(c.m.identity(), agent, text)
	if err != nil {
		return errors.New("its admission is refused: " + err.Error())
	}
	edges := make([][2]int, len(a.Neighbours))
	for k, j := range a.Neighbours {
		edges[k] = [2]int{j, agent}
	}
	c.seat.Admit(agent, edges)
	return nil
}
