package peer

import (
	"flag"

	"dsbo/data"
	"dsbo/experiment"
	"dsbo/models"
)

// quadratic is the task of drawn runs: a few numbers an agent, so that a run takes moments.
// Examples are noise around one problem.
var quadratic = experiment.Task{
	Name: "quadratic", About: "solve a quadratic problem whose agents differ", Flags: func(*flag.FlagSet) {},
	Load: func(a experiment.Agents) (t data.Task, m models.Model, err error) {
		noise := data.Synthetic{Agents: a.N, Features: 3, Train: 2, Val: 2, Test: 1, Rate: 0.2, Seed: a.Seed}
		t = data.Task{Features: noise.Features, Shards: make([]data.Shard, a.N)}
		for _, i := range a.Local {
			if t.Shards[i], err = noise.Shard(i); err != nil {
				return t, nil, err
			}
			t.Shards[i].Train.ID = nil // nothing has a parameter of its own
		}
		return t, models.Quadratic{
			P: 2, Q: noise.Features, A: []float64{2, .5, 0, .5, 1.5, .25, 0, .25, 1}, B: []float64{1, 0, .5, 1, 0, -1},
			C: []float64{1, -1, .5}, D: []float64{1, .25, 0, .25, 1, 0, 0, 0, .5}, T: []float64{1, 2, -1},
			E: []float64{.5, 0, 0, .5}, LinearTerm: []float64{.1, -.2},
		}, nil
	},
}
