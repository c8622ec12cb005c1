package simulate

import (
	"flag"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/experiment"
	"dsbo/internal/num"
	"dsbo/models"
)

// quadratic is the task of all simulated runs: a few numbers an agent, so that a run takes moments.
var quadratic = experiment.Task{
	Name: "quadratic", About: "solve a quadratic problem whose agents differ",
	Flags: func(*flag.FlagSet) {}, Load: loadQuadratic,
}

const xLength, yLength, rows = 2, 3, 2

// loadQuadratic makes the data of the agents that are here. Their rows are noise around one
// problem, drawn by seed, agent, and entry.
func loadQuadratic(a experiment.Agents) (data.Task, models.Model, error) {
	t := data.Task{Features: yLength, Shards: make([]data.Shard, a.N)}
	for _, i := range a.Local {
		for set, e := range []*data.Examples{&t.Shards[i].Train, &t.Shards[i].Val} {
			v := make([]float64, rows*(yLength+1))
			for k := range v {
				v[k] = 2*float64(draw(num.SplitMix(a.Seed)).of("row", int64(i), int64(set), int64(k)).uniform()) - 1
			}
			var err error
			if e.X, err = ad.FloatTable(rows, yLength, v[:rows*yLength]); err != nil {
				return t, nil, err
			}
			if e.Target, err = ad.FloatTable(rows, 1, v[rows*yLength:]); err != nil {
				return t, nil, err
			}
		}
	}
	return t, problem{models.Quadratic{
		P: xLength, Q: yLength, A: []float64{2, .5, 0, .5, 1.5, .25, 0, .25, 1}, B: []float64{1, 0, .5, 1, 0, -1},
		C: []float64{1, -1, .5},
		D: []float64{1, .25, 0, .25, 1, 0, 0, 0, .5}, T: []float64{1, 2, -1}, E: []float64{.5, 0, 0, .5},
		LinearTerm: []float64{.1, -.2},
	}}, nil
}

// A problem has one baseline, which costs less than a search for one.
type problem struct{ models.Quadratic }

// Baselines implements [models.Baselined].
func (problem) Baselines() []models.Baseline {
	return []models.Baseline{{Name: "x = 0", X: make([]float64, xLength)}}
}

// Meaning implements [models.Meant].
func (problem) Meaning() models.Meaning {
	return models.Meaning{Symbol: "x", One: "entry", Many: "entries",
		About: "What the quadratic problem is solved for."}
}
