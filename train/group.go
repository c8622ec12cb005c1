package train

import (
	"context"

	"dsbo"
	"dsbo/network"
	"dsbo/network/collective"
)

// allExamples is the draw of all examples of an agent, which evaluation uses.
var allExamples = dsbo.Sample{Set: dsbo.Whole}

// A group is the n agents of a problem as one process sees them, with their layout.
type group struct {
	*collective.Group
	layout
}

// group returns the problem's agents, after a check that those in this process have oracles.
func (p Problem) group() (*group, error) {
	g := p.agents()
	if err := collective.CheckOracles(g, p.Oracles); err != nil {
		return nil, err
	}
	return &group{g, p.layout(g.Local())}, nil
}

// agents returns the problem's agents, which need not have oracles yet.
func (p Problem) agents() *collective.Group {
	return collective.New(collective.Config{N: len(p.Oracles), Numbers: p.Numbers, Team: p.Team, W: p.W,
		Average: p.Average, Sent: p.Sent})
}

// Collective returns the way of a problem's agents to what they find together after a run. Agents
// are named by their numbers in the roster; there are no texts of those that are not there.
func (p Problem) Collective(ctx context.Context) network.Collective { return p.agents().Bound(ctx) }

// GatherRows lets each agent of this process fill in a row, several at the same time, and returns
// the rows of all agents, which every agent sees. Each counts as sent to each other agent.
func (p Problem) GatherRows(ctx context.Context, length int,
	fill func(i int, row []float64) error) ([][]float64, error) {
	g, err := p.group()
	if err != nil {
		return nil, err
	}
	rows, err := g.Gather(ctx, length, fill)
	if err != nil {
		return nil, err
	}
	g.CountRows(length)
	return rows, nil
}
