package train

import (
	"slices"

	"dsbo"
	"dsbo/data"
	"dsbo/models"
	"dsbo/network"
)

// NewProblem makes the problem of a model on the data of all agents. It sets c.Agent for each
// agent. Evaluation computes in float64 whatever c is.
func NewProblem(t data.Task, m models.Model, c models.Config) (Problem, error) {
	return NewPart(nil, t, m, c)
}

// NewPart makes the part of a problem that belongs to one process: the oracles of the team's local
// agents. It reads the data of these alone; the shards of the others may be absent, see
// [data.Shard]. A nil team makes the whole problem, as NewProblem does.
func NewPart(team network.Team, t data.Task, m models.Model, c models.Config) (Problem, error) {
	if team == nil {
		return NewShare(nil, t, m, c)
	}
	p, err := NewShare(team.Local(), t, m, c)
	p.Team = team
	return p, err
}

// keptBytes is the memory that each of a process's agents, whose y has q numbers, keeps for the
// next product at a point ([models.Config].Keep): 0, the default, for up to 20 agents; more agents
// share 640 MiB, with two vectors each at least.
func keptBytes(agents, q int) int {
	if agents <= 20 {
		return 0
	}
	return max(640<<20/agents, 2*8*q)
}

// NewShare makes the part of a problem that belongs to some agents of the roster, nil: to all,
// without a team: the problem of an epoch connects its members, at their positions
// ([Problem.OfMembers]). The oracles and scores share what is compiled of the model, and scratch
// memory ([models.Programs]).
func NewShare(local []int, t data.Task, m models.Model, c models.Config) (Problem, error) {
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
