package grpc

import (
	"errors"
	"fmt"

	"dsbo/network/membership/paxos"
	"dsbo/network/pki"
)

// agents returns how many numbers of agents there may be: the agents of Matrix and, where members
// change, as many as can be admitted.
func (c *Config) agents() int {
	if c.Membership == nil {
		return c.Matrix.N()
	}
	return paxos.Largest(c.Membership.Quorum)
}

// address returns the address of an agent, "" of one that has been admitted.
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

// admission reads what an agent shows that Matrix does not have, and checks it by the authorities
// that id knows: it must be that agent's, for this run, and leave the quorum more than half of
// the roster.
func (c *Config) admission(id *pki.Identity, agent int, text string) (pki.Admission, error) {
	n := c.Matrix.N()
	switch {
	case agent < n:
		return pki.Admission{}, fmt.Errorf("agent %d is in the cluster file, and must have no admission", agent)
	case c.Membership == nil:
		return pki.Admission{}, fmt.Errorf(
			"agent %d cannot be admitted: there must be a quorum, which this run does not have", agent)
	case id == nil:
		return pki.Admission{}, fmt.Errorf(
			"agent %d cannot be admitted: there must be certificates, as the authority signs an admission", agent)
	case agent >= c.agents():
		return pki.Admission{}, fmt.Errorf(
			"agent %d cannot be admitted: the quorum must be more than half of the roster, which would have %d "+
				"agents; it is %d",
			agent, agent+1, c.Membership.Quorum)
	}
	a, err := id.Admission(text, c.Run, c.Hash)
	switch {
	case err != nil:
		return a, err
	case a.Agent != agent:
		return a, fmt.Errorf("agent %d shows the admission of agent %d", agent, a.Agent)
	case a.Neighbours[len(a.Neighbours)-1] >= n:
		return a,
			fmt.Errorf(
				"the neighbours of agent %d, which is admitted, must be agents of the cluster file, 0 to %d; "+
					"they are %v", agent, n-1, a.Neighbours)
	}
	return a, nil
}

// admit lets the seat know of an agent that asks to come in for the first time, after a check of
// what it shows.
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
