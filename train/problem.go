package train

import (
	"context"
	"slices"

	"dsbo"
	"dsbo/internal/linalg"
	"dsbo/network"
	"dsbo/runs"
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
	// Nonconvex is true if the lower problem is not known to be strongly convex: there are then no
	// exact values, records have the least eigenvalue of the averaged Hessian, and models are
	// solutions that depend on their start. Matrix is the matrix of the products of methods and
	// [exact.Solver].
	Nonconvex bool
	Matrix    dsbo.CurvatureMatrix // of the products with the Hessian
	// Score returns the scores of a model on agent i's examples; nil: there are no losses and no
	// accuracies. It is called for several agents at a time.
	Score func(i int, m Fit) (Scores, error)
	// Each returns a model's loss and answer for each of a set of agent i's examples. It is called
	// for several agents at a time. nil: models are not compared.
	Each func(i int, set Set, m Fit) (Each, error)
	// Digests are hashes of each agent's examples, "" for agents of other processes: a checkpoint
	// is resumed only on the same examples. nil: this is not checked.
	Digests []string
	// Numbers are the agents' numbers in the roster, ascending, where these are others than their
	// positions in Oracles ([Problem.OfMembers]); nil: they are not. Errors, checkpoints and
	// records name agents by them.
	Numbers []int
	// Team connects the agents of this process to other processes; nil: all agents are in this one.
	// All processes make the same calls on the problem, in the same order.
	Team network.Team
	// W is the mixing matrix over whose edges the averages of evaluation travel, and Average their
	// options: they use its wire, except for values that need seven digits. nil: a star. [Run]
	// takes the W of its configuration.
	W       *network.Matrix
	Average network.AverageOptions // how averages are found
	// Sent counts all agents' traffic in averages of the problem's methods and of [exact.Solver];
	// nil: it is not counted. A run has its own count.
	Sent *dsbo.Traffic
	Of   string // ends the names of sums and largest numbers, such as ", all folds"

	apart      apartness // of the epoch whose problem it is
	firstStart []float64 // Start of the first epoch, where it is not of that
}

// A Fit is a model y, of length q, with the hyperparameters x, of length p, that it was found at.
type Fit struct{ X, Y []float64 }

// Dims returns p and q, or an error that matches [dsbo.ErrShape] if the parts do not fit together.
func (p Problem) Dims() (np, nq int, err error) {
	if np, nq, err = network.Dims(p.agents(), p.Oracles); err != nil {
		return 0, 0, err
	}
	if p.Evaluate != nil && len(p.Evaluate) != len(p.Oracles) {
		return 0, 0, dsbo.ShapeErrorf(
			"oracles for evaluation must be one for each of %d agents, or none; there are %d", len(p.Oracles),
			len(p.Evaluate))
	}
	if p.Start != nil && len(p.Start) != nq {
		return 0, 0, dsbo.ShapeErrorf("start of y must have q = %d numbers; it has %d", nq, len(p.Start))
	}
	return np, nq, nil
}

// Solver returns the solver of the problem's exact values and models, which needs oracles for
// evaluation. The first solve begins at Start. Where products travel rounded, Oracles answer for
// them, which may be in float32.
func (p Problem) Solver() *exact.Solver {
	s := &exact.Solver{Oracles: p.Evaluate, Agents: p.agents(), Start: p.Start, Matrix: p.Matrix,
		Move: p.apart.moveNear, Blur: p.apart.blur}
	if s.Agents.FineWire() != network.Float64 {
		s.Rough = p.Oracles
	}
	return s
}

// RoughSolver returns the solver whose products and diagonals are as exact as a method's, such as
// in float32.
func (p Problem) RoughSolver() *exact.Solver {
	s := p.Solver()
	s.Rough = p.Oracles
	return s
}

// Counted returns the problem with the evaluation's calls of this process's first oracle counted.
func (p Problem) Counted() (counted Problem, calls *dsbo.Calls, err error) {
	m, i := &meter{products: linalg.NewMatrix(dsbo.Hessian), ctx: context.Background()}, p.agents().Local()[0]
	p.Evaluate, p.Oracles = slices.Clone(p.Evaluate), slices.Clone(p.Oracles)
	if p.Evaluate[i], err = newMeteredOracle(p.Evaluate[i], m); err == nil {
		p.Oracles[i], err = newMeteredOracle(p.Oracles[i], m)
	}
	return p, &m.calls, err
}

// Collective returns the collective operations of a problem's agents after a run. Agents are named
// by their numbers in the roster; absent agents have no texts.
func (p Problem) Collective(ctx context.Context) network.Collective { return p.agents().Bound(ctx) }

// GatherRows lets each agent of this process fill in a row, several at the same time, and returns
// the named rows of all agents, which every agent sees. Each counts as sent to each other agent.
func (p Problem) GatherRows(ctx context.Context, name string, length int,
	fill func(i int, row []float64) error) ([][]float64, error) {
	g, err := p.group()
	if err != nil {
		return nil, err
	}
	network.Label(p.Team, network.Carried{Name: name, Way: network.ByRow, Numbers: length, Group: true})
	defer network.Label(p.Team)
	rows, err := g.Gather(ctx, length, fill)
	if err != nil {
		return nil, err
	}
	g.CountRows(length)
	return rows, nil
}

// allExamples is the draw of all examples of an agent, which evaluation uses.
var allExamples = dsbo.Sample{Set: dsbo.Whole}

// group returns the problem's agents, after a check that those in this process have oracles.
func (p Problem) group() (*network.Group, error) {
	g := p.agents()
	return g, network.CheckOracles(g, p.Oracles)
}

// agents returns the problem's agents, which need not have oracles yet.
func (p Problem) agents() *network.Group {
	return network.NewGroup(network.GroupConfig{N: len(p.Oracles), Numbers: p.Numbers, Team: p.Team, Of: p.Of,
		W: p.W, Average: p.Average, Sent: p.Sent})
}

// entriesOf returns the members' entries of a list by agents; nil for a nil list.
func entriesOf[T any](all []T, members []int) (theirs []T) {
	if all != nil {
		for _, i := range members {
			theirs = append(theirs, all[i])
		}
	}
	return theirs
}

// agentNumbers returns the numbers in the roster of the agents at positions.
func (p Problem) agentNumbers(positions []int) []int {
	if p.Numbers == nil {
		return positions
	}
	return entriesOf(p.Numbers, positions)
}

// Each is a model's result for each of some examples: its loss, and 1 for a right answer and 0 for
// a wrong one (nil for a model without answers). The slices are views that the next call for the
// agent overwrites.
type Each struct {
	Losses, Hits []float64
	rows         func(example int) float64 // nil: 1 each
}

// Rows returns the number of rows that an example represents.
func (e Each) Rows(example int) float64 {
	if e.rows == nil {
		return 1
	}
	return e.rows(example)
}

// A Score is how well a model does on some examples: the number of their rows, the sum of their
// losses, without regularization, and the number of right answers.
type Score struct{ Rows, Losses, Right float64 }

// Loss returns the mean loss per example, NaN where there are no examples.
func (s Score) Loss() float64 { return s.Losses / s.Rows }

// Accuracy returns the share of right answers, NaN where there are no examples or no answers.
func (s Score) Accuracy() float64 { return s.Right / s.Rows }

// Numbers returns the loss and the accuracy as a run folder has them.
func (s Score) Numbers() (loss, accuracy runs.Number) {
	return runs.Number(s.Loss()), runs.Number(s.Accuracy())
}

// A Set is a part of an agent's examples.
type Set int

// The sets.
const (
	TrainSet Set = iota
	ValSet
	HoldoutSet
	TestSet
	allSets
)

// Scores are one model's scores on training, validation, held-out and test examples, for one agent,
// with its part of the test examples, or for all agents together. A set without examples has no
// rows.
type Scores struct{ Train, Val, Holdout, Test Score }

// sets returns the scores on all sets.
func (s *Scores) sets() [allSets]*Score {
	return [allSets]*Score{&s.Train, &s.Val, &s.Holdout, &s.Test}
}
