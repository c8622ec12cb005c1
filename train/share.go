package train

import (
	"slices"

	"dsbo"
	"dsbo/data"
	"dsbo/models"
)

// keptBytes is the memory that each of a process's agents, whose y has q numbers, keeps for the
// next product at a point ([models.Config].Keep): 0, the default, for up to 20 agents; more agents
// share 640 MiB, with two vectors each at least.
func keptBytes(agents, q int) int {
	if agents <= 20 {
		return 0
	}
	return max(640<<20/agents, 2*8*q)
}

// NewProblem makes the problem of a model on the agents' data. With local it makes only these
// agents' part; the shards of others are not read and may be absent ([data.Shard]). It sets c.Agent
// for each agent. Oracles and scores share the compiled model and scratch memory
// ([models.Programs]). Evaluation computes in float64 whatever c is.
func NewProblem(t data.Task, m models.Model, c models.Config, local ...int) (Problem, error) {
	if err := t.Validate(local...); err != nil {
		return Problem{}, err
	}
	n := len(t.Shards)
	_, convex := m.(models.StronglyConvex)
	prob := Problem{Nonconvex: !convex, Oracles: make([]dsbo.Oracle, n), Evaluate: make([]dsbo.ValueOracle, n),
		Digests: make([]string, n)}
	if local == nil {
		local = prob.agents().Local()
	}
	if _, q := m.Dims(); c.Keep == 0 {
		c.Keep = keptBytes(len(local), q)
	}
	programs := models.NewPrograms(m)
	for i, s := range t.Shards {
		if !slices.Contains(local, i) {
			continue
		}
		c.Agent = i
		o, err := programs.Oracle(s, c)
		if err != nil {
			return Problem{}, err
		}
		prob.Oracles[i] = o
		if prob.Digests[i], err = t.Digest(i); err != nil {
			return Problem{}, err
		}
		prob.Evaluate[i] = o.Double()
	}
	if st, ok := m.(models.Starter); ok {
		_, q := m.Dims()
		prob.Start = make([]float64, q)
		st.Start(prob.Start)
	}
	if _, ok := m.(models.Scorer); ok {
		s, err := newScorer(t, programs, local)
		if err != nil {
			return Problem{}, err
		}
		prob.Score, prob.Each = s.score, s.examples
	}
	return prob, nil
}
