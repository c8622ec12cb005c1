package network

import (
	"context"

	"dsbo"
)

// Gather lets each agent of this process fill in a row, several at the same time, and returns the
// rows of all agents, which every agent sees: small ones, that are no data. They are not counted;
// see [Group.CountRows]. What is gathered must depend on nothing but the run's configuration: an
// agent that may be lost gathers it again when it comes back, and has to send the same.
func (g *Group) Gather(ctx context.Context, length int, fill func(i int, row []float64) error) ([][]float64, error) {
	rows := zeroRows(g.config.N, length)
	err := g.forEach(ctx, func(_, i int) error { return fill(i, rows[i]) })
	switch {
	case err != nil:
	case g.alone:
		err = ctx.Err()
	default:
		err = g.config.Team.Gather(ctx, rows)
	}
	return rows, err
}

// CountRows counts the rows of a Gather that are of data: as sent to each other agent.
func (g *Group) CountRows(length int) {
	g.countSent(func(int) dsbo.Traffic { return GatherCost(g.config.N, length) })
}

// GatherTexts fills in the texts of the agents elsewhere: texts has one for each agent.
func (g *Group) GatherTexts(ctx context.Context, name string, texts []string) error {
	if g.config.N == 1 {
		return nil
	}
	if err := g.open(); err != nil {
		return err
	}
	for _, i := range g.local {
		Label(g.config.Team, Carried{Name: name, Way: ByText, Numbers: len(texts[i]), Text: texts[i], Group: true})
	}
	defer Label(g.config.Team)
	longest, err := GatherTexts(g.context(ctx), g.config.Team, texts)
	if err == nil {
		g.countSent(func(int) dsbo.Traffic { return GatherTextsCost(g.config.N, longest) })
	}
	return err
}
