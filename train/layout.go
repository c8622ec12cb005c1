package train

import (
	"context"

	"dsbo/network"
)

// layout returns the layout of the problem's agents, with local the ones in this process.
func (p Problem) layout(local []int) layout {
	if p.Team == nil {
		return inProcess{}
	}
	part := multiProcess{local: p.agentNumbers(local)}
	if _, ok := p.Team.(network.Saver); ok {
		return session{ranks{part}}
	}
	if len(local) == len(p.Oracles) {
		return inProcess{}
	}
	return ranks{part}
}

// group returns the problem's agents, after a check that those in this process have oracles.
func (p Problem) group() (*group, error) {
	g := p.agents()
	if err := network.CheckOracles(g, p.Oracles); err != nil {
		return nil, err
	}
	return &group{g, p.layout(g.Local())}, nil
}

// GatherRows lets each agent of this process fill in a row, several at the same time, and returns
// the rows of all agents, which every agent sees. Each counts as sent to each other agent.
func (p Problem) GatherRows(ctx context.Context, length int,
	fill func(i int, row []float64) error) ([][]float64, error) {
	g, err := p.group()
	if err != nil {
		return nil, err
	}
	network.Label(p.Team, network.Carried{Way: network.ByRow, Numbers: length, Group: true})
	defer network.Label(p.Team)
	rows, err := g.Gather(ctx, length, fill)
	if err != nil {
		return nil, err
	}
	g.CountRows(length)
	return rows, nil
}
