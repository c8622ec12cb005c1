package train

import (
	"context"
	"slices"

	"dsbo/runs"
)

// usageByNumber returns the usage of each agent of the roster: the given one of members, and of
// former members the one at their last record.
func (e *evaluator) usageByNumber(members []runs.Usage) []runs.Usage {
	all := slices.Clone(e.lastUsage)
	for position, u := range members {
		number := e.Number(position)
		for len(all) <= number {
			all = append(all, runs.Usage{})
		}
		all[number] = u
	}
	return all
}

// usageName is the name of the agents' usage in a checkpoint.
const usageName = "spent"

// restoreShared takes over the usage of all agents and the damping of products from a checkpoint,
// if they are there.
func (e *evaluator) restoreShared(c *checkpoint) {
	for _, part := range c.arraysAfter(evaluationArrays, 0) {
		switch part.Name {
		case usageName:
			e.lastUsage = nil
			for u := range slices.Chunk(part.Value[:len(part.Value)/runs.UsageLen*runs.UsageLen], runs.UsageLen) {
				e.lastUsage = append(e.lastUsage, runs.UnpackUsage(u))
			}
		case dampingName:
			copy(e.products.Mu, part.Value)
		}
	}
}

// usageOf returns the usage of an agent of the roster at the last record that it was there.
func (e *evaluator) usageOf(number int) runs.Usage {
	if number < len(e.lastUsage) {
		return e.lastUsage[number]
	}
	return runs.Usage{}
}

// usages returns the usage of each agent. Times of agents that may come back stay in their own
// process: they are 0 for agents of other processes.
func (s *stepper) usages(ctx context.Context) ([]runs.Usage, error) {
	rows, err := s.Gather(ctx, runs.UsageLen, func(i int, row []float64) error {
		copy(row, s.sharedUsage(s.agents[i].usage()).Pack())
		return nil
	})
	if err != nil {
		return nil, err
	}
	all := make([]runs.Usage, s.N())
	for i, row := range rows {
		if all[i] = runs.UnpackUsage(row); s.agents[i] != nil { // with its times
			all[i] = s.agents[i].usage()
		}
	}
	return all, nil
}
