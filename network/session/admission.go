package session

import (
	"fmt"

	"dsbo/network/membership"
	"dsbo/network/pki"
)

// largestRoster is how many agents a roster may have of which a quorum is more than half.
func largestRoster(quorum int) int { return 2*quorum - 1 }

// admission reads what an agent shows that Matrix does not have, and checks it by the authorities
// that id knows: it must be that agent's, for this run, and leave the quorum more than half of
// the roster.
func (c *Config) admission(id *pki.Identity, agent int, text string) (membership.Admission, error) {
	n := c.Matrix.N()
	switch {
	case agent < n:
		return membership.Admission{}, fmt.Errorf("agent %d is in the cluster file, and must have no admission", agent)
	case c.Quorum == 0:
		return membership.Admission{}, fmt.Errorf(
			"agent %d cannot be admitted: there must be a quorum, which this run does not have", agent)
	case id == nil:
		return membership.Admission{}, fmt.Errorf(
			"agent %d cannot be admitted: there must be certificates, as the authority signs an admission", agent)
	case agent >= largestRoster(c.Quorum):
		return membership.Admission{}, fmt.Errorf(
			"agent %d cannot be admitted: the quorum must be more than half of the roster, which would have %d "+
				"agents; it is %d",
			agent, agent+1, c.Quorum)
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

// tagKey returns the key of the tag of this agent's data, which is its certificate's; nil: there is
// no certificate.
func (c *Config) tagKey() ([]byte, error) {
	if c.Identity == nil {
		return nil, nil
	}
	return c.Identity.Derive("dsbo tag of data")
}
