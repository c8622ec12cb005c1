package data

import (
	"math"
	"slices"

	"dsbo"
)

// HoldOut returns t with a share of each agent's validation examples moved to its [Shard.Holdout],
// which judges the hyperparameters without having chosen them. Each agent gives the share rounded
// to whole examples, at least one and not all, drawn from the seed and the agent's number alone;
// the rest keep their order. t is returned as it is if the share is 0 or agents have held-out
// examples already. The result shares t's memory.
//
// It fails with [dsbo.ErrConfig] if the share is not in [0, 1), or if an agent has fewer than two
// validation examples.
func HoldOut(t Task, share float64, seed uint64) (Task, error) {
	if !(share >= 0 && share < 1) {
		return Task{}, dsbo.ConfigErrorf(
			"the held-out share of the validation examples must be at least 0 and less than 1; it is %g", share)
	}
	if share == 0 {
		return t, nil
	}
	t.Shards = slices.Clone(t.Shards)
	for i, s := range t.Shards {
		rows := s.Val.Len()
		if s.isAbsent() || s.Holdout.Len() > 0 {
			continue
		}
		if rows < 2 {
			return Task{}, dsbo.ConfigErrorf(
				"each agent must have at least 2 validation examples to hold some out; agent %d has %d", i, rows)
		}
		held := min(max(int(math.Round(share*float64(rows))), 1), rows-1)
		order := newRand(seed, streamHoldout, uint64(i)).Perm(rows)
		slices.Sort(order[:held])
		slices.Sort(order[held:])
		var err error
		if t.Shards[i].Holdout, err = s.Val.Pick(order[:held:held]); err != nil {
			return Task{}, err
		}
		if t.Shards[i].Val, err = s.Val.Pick(order[held:]); err != nil {
			return Task{}, err
		}
	}
	return t, nil
}
