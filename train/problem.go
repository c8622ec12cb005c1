package train

import (
	"slices"

	"dsbo"
	"dsbo/data"
	"dsbo/models"
	"dsbo/network"
	"dsbo/network/collective"
	"dsbo/train/exact"
)

// A Problem is the bilevel problem that a run solves, given by the agents' oracles. [NewProblem]
// makes one of a model and data; any other oracles will do.
type Problem struct {
	Oracles []dsbo.Oracle // one for each agent; nil for agents of other processes
	// Evaluate are the oracles that evaluation asks, on all examples (dsbo.Whole): one an agent as
	// Oracles, and may be the same. nil: there is no exact Φ.
	Evaluate []dsbo.ValueOracle
	Start    []float64 // start of every agent's y, length q; nil: 0
	// Nonconvex says that the lower problem is not known to be strongly convex: exact values are
	// not known then, records have the least eigenvalue of the averaged Hessian, and models are
	// solutions that depend on where they start. Matrix is the matrix of the products that methods
	// and [Exact] take.
	Nonconvex bool
	Matrix    dsbo.CurvatureMatrix // of the products with the Hessian
	// Score returns the scores of a model on agent i's examples; nil: there are no losses and no
	// accuracies. It is called for several agents at a time.
	Score func(i int, m Fit) (Scores, error)
	// Each returns what a model makes of each of a set of agent i's examples: its loss, and 1 for a
	// right answer and 0 for a wrong one (nil of a model without answers). Both are views that the
	// next call for the agent overwrites. It is called for several agents at a time. nil: models
	// are not compared.
	Each func(i int, set Set, m Fit) (losses, hits []float64, err error)
	// Digests stand for the examples of each agent, "" for agents of other processes: a checkpoint
	// is resumed only on the same ones. nil: this is not checked.
	Digests []string
	// Numbers are the agents' numbers in the roster, ascending, where these are others than their
	// positions in Oracles ([Problem.OfMembers]); nil: they are not. Errors, checkpoints and
	// records name agents by them.
	Numbers []int
	// Team connects the agents of this process to the agents of others; nil: all agents are in this
	// one. All processes make the same calls on the problem, in the same order.
	Team network.Team
	// W is the mixing matrix over whose edges the averages of evaluation travel, and Average says
	// how: on its wire, but for what has to be right to seven digits. nil: a star. [Run] takes the
	// W of its configuration.
	W       *network.Matrix
	Average network.AverageOptions // how averages are found
	// Sent counts what all agents send in averages of the problem's methods and of [Exact]; nil:
	// that is not counted. A run counts for itself.
	Sent *dsbo.Traffic

	apart      apartness // of the epoch whose problem it is
	firstStart []float64 // Start of the first epoch, where it is not of that
}

// A Fit is a model y, of length q, with the hyperparameters x, of length p, that it was found at.
type Fit struct{ X, Y []float64 }

// Dims returns p and q, or an error that matches [dsbo.ErrShape] if the parts do not fit together.
func (p Problem) Dims() (np, nq int, err error) {
	if np, nq, err = collective.Dims(p.agents(), p.Oracles); err != nil {
		return 0, 0, err
	}
	if p.Evaluate != nil && len(p.Evaluate) != len(p.Oracles) {
		return 0, 0, dsbo.Errorf(dsbo.ErrShape,
			"oracles for evaluation must be one for each of %d agents, or none; there are %d", len(p.Oracles),
			len(p.Evaluate))
	}
	if p.Start != nil && len(p.Start) != nq {
		return 0, 0, dsbo.Errorf(dsbo.ErrShape, "start of y must have q = %d numbers; it has %d", nq, len(p.Start))
	}
	return np, nq, nil
}

// Solver returns the solver of the problem's exact values and models, which needs oracles for
// evaluation. The first solve begins at Start.
func (p Problem) Solver() *exact.Solver {
	return &exact.Solver{Oracles: p.Evaluate, Agents: p.agents(), Start: p.Start, Matrix: p.Matrix,
		Move: p.apart.moveNear(), Blur: p.apart.blur}
}

// NewProblem makes the problem of a model on the data of all agents. c.Agent is set for each agent.
// Evaluation computes in float64 whatever c says.
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

// keptBytes is how much each of some agents of a process, whose y has q numbers, keeps for the next
// product at a point ([models.Config].Keep): 0, which is the default, for up to 20 agents; more
// share 640 MiB, but for two vectors each.
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
