package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"dsbo"
	"dsbo/algo"
	"dsbo/data"
	"dsbo/internal/wording"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/train"
)

// applyPrivacy checks the settings of differential privacy, if -dp-epsilon is given, and turns off
// everything that would reveal examples without noise. Each record of the test loss spends budget,
// so that without -eval-every there are only records at the start and at the end.
func (s *Settings) applyPrivacy() error {
	given := s.given
	if s.Epsilon == 0 {
		if given["dp-delta"] || given["dp-clip"] {
			return dsbo.ConfigErrorf("-dp-delta and -dp-clip are for runs with -dp-epsilon")
		}
		return nil
	}
	if err := (Budget{Epsilon: s.Epsilon, Delta: s.Delta}).Check(); err != nil {
		return fmt.Errorf("-dp-epsilon, -dp-delta: %w", err)
	}
	if !given["dtype"] {
		s.DType = "float64"
	}
	if !given["batch"] {
		s.Batch = 0
	}
	for _, v := range []struct {
		flag    string
		allowed bool
		want    string
		value   any
	}{
		{"dp-clip", s.Norm > 0 && s.Norm <= math.MaxFloat32, "positive", s.Norm},
		{"evaluate", !given["evaluate"] || s.Evaluate == train.EvaluateOff,
			"off: exact values have no noise", s.Evaluate},
		{"holdout", s.Holdout == 0, "0: losses on held-out examples have no noise", s.Holdout},
		{"batch", s.Batch == 0, "0: answers are about all examples", s.Batch},
		{"dtype", s.DType == "float64", "float64: the rounding of float32 may tell of an example", s.DType},
	} {
		if !v.allowed {
			return dsbo.ConfigErrorf("-%s must be %s; with -dp-epsilon it is %v", v.flag, v.want, v.value)
		}
	}
	s.holdoutNamed = true // the numbers of examples do not choose it
	s.Evaluate = train.EvaluateOff
	if s.EvalEvery == 0 {
		s.EvalEvery = s.Iterations
	}
	s.Privacy = &runs.Privacy{Epsilon: s.Epsilon, Delta: s.Delta, Clip: s.Norm}
	return nil
}

// withoutSums is the Collective of a task that loads for a run with differential privacy: it
// refuses all.
var withoutSums = noCollective{
	dsbo.ConfigErrorf(
		"-dp-epsilon: sums and texts of the agents' data by which this task prepares them would have no noise")}

// maxRows is the number of rows up to which float64 is exact enough for the margin of noise.
const maxRows = 1 << 20

// newGuard returns the guard of the local agents, whose rows are clipped. A loss is a mean of terms
// over rows, so that one row changes gradients and products by at most the model's bound of a term,
// divided by the number of rows. An error is the reason why no bound is known, such as weights, by
// which one row may count for many. Test examples are scored separately, with noise of their own.
func newGuard(s *Settings, t data.Task, m models.Model, local []int) (*guard, error) {
	bounded, ok := m.(models.Bounded)
	var gradient, curvature float64
	if ok {
		gradient, curvature, ok = bounded.TermBounds(s.Norm)
	}
	if !ok {
		return nil, dsbo.ConfigErrorf(
			"-dp-epsilon: %T with these settings has a loss whose terms have no known bound, or which is not their "+
				"mean, and noise cannot hide a term: it must be a linear model with the mean of cross-entropies or "+
				"Huber losses", m)
	}
	g := &guard{curve: curvature, bounds: map[int][2]rowBound{}, scores: map[int]*models.Score{}}
	programs := models.NewPrograms(m)
	for _, i := range local {
		var two [2]rowBound
		for side, e := range []data.Examples{t.Shards[i].Train, t.Shards[i].Val} {
			rows := e.Len()
			switch {
			case e.Weight != nil || e.Count != nil:
				return nil, dsbo.ConfigErrorf(
					"-dp-epsilon: the examples of agent %d have weights, with which one may count for many: there "+
						"must be none", i)
			case rows > maxRows:
				return nil, dsbo.ConfigErrorf(
					"-dp-epsilon: an agent must have at most %d rows of a kind; agent %d has %d", maxRows, i, rows)
			case float64(rows)*s.Delta >= 1:
				return nil, dsbo.ConfigErrorf(
					"-dp-delta must be below 1/%d, one over the rows of agent %d, or it may tell all of one; it is %g",
					rows, i, s.Delta)
			}
			// Replacing a row moves its gradient term by up to 2 bounds, and its Hessian term,
			// whose eigenvalues are in [0, κ], by up to κ.
			two[side] = rowBound{Gradient: 2 * gradient / float64(rows), Product: curvature / float64(rows)}
		}
		g.bounds[i] = two
		test, err := t.TestPart(i)
		if err == nil && test.Len() > 0 { // a model that does not score examples leaves none
			g.scores[i], err = programs.Score(test, false, programs.Workspace())
		}
		if err != nil && !errors.Is(err, dsbo.ErrCapability) {
			return nil, err
		}
	}
	return g, nil
}

// plan counts the answers about each kind of rows that the method and the records will need, and
// chooses the noise with which these keep within the budget. Costs count calls, which do not depend
// on p and q, so the method is initialized with 1 and 1.
func (g *guard) plan(s *Settings, m algo.Method) error {
	m = algo.Clone(m)
	if err := m.Init(1, 1, s.Iterations); err != nil {
		return err
	}
	var answers [rowKinds]int
	for k := range s.Iterations {
		c := m.Cost(k)
		if c.Value+c.Diagonal+c.Hessian+c.Jacobian > 0 {
			return dsbo.ConfigErrorf(
				"-dp-epsilon: %s asks for losses, diagonals or matrices, which are not answered with noise; "+
					"gradients and products are: -preset %s has a method of these",
				s.Algorithm, privatePreset().Name)
		}
		answers[trainingRows] += c.LowerGrad + c.HVP
		answers[validationRows] += c.UpperGrad
	}
	answers[testRows] = 1 + (s.Iterations+s.EvalEvery-1)/s.EvalEvery // a record at 0, each one later, one at K
	g.terms = newPrivacyTerms(Budget{Epsilon: s.Epsilon, Delta: s.Delta}, answers)
	s.Privacy.Answers, s.Privacy.Noise = g.terms.Answers, g.terms.Multipliers
	return nil
}

// stableStep returns a step of z at which noise does not carry z away. The noise of a product grows
// with z, by s = σ κ √q / m in norm, with m the fewest training rows of an agent: of the average of
// n agents, after all products of a run, it is at most about half of z.
func (g *guard) stableStep(s *Settings, q int) float64 {
	noise := g.terms.Multipliers[trainingRows] * g.curve * math.Sqrt(float64(q)) / float64(s.Privacy.LeastRows)
	return math.Sqrt(float64(s.Agents)/float64(g.terms.Answers[trainingRows])) / noise / 2
}

// leastRows returns the smallest number of training rows of an agent, which is public. At the start
// of a run the agents exchange these numbers; a resumed run reads it from the run folder.
func (r *run) leastRows(ctx context.Context, at beginning, p *problem) (int, error) {
	if at.point != nil {
		c, err := r.folder.ReadConfig()
		if err != nil || c.Privacy == nil {
			return 0, err
		}
		return c.Privacy.LeastRows, nil
	}
	counts, err := gatherCounts(ctx, at.team, p.whole.Shards[:r.settings.Agents],
		func(s data.Shard) []float64 { return []float64{float64(s.Train.Len())} })
	if err != nil {
		return 0, err
	}
	return int(slices.MinFunc(counts, slices.Compare)[0]), nil
}

// addNoise returns the problem with noise in all answers of its agents. The secrets of the noise
// are in ledgers in the run folder until the run ends; their files stay open. Digests of data are
// keyed by the secrets. Evaluate and Each, which would answer without noise, are removed.
func (g *guard) addNoise(p train.Problem, folder runs.Folder) (train.Problem, error) {
	curators := map[int]*curator{}
	oracles := make([]dsbo.Oracle, len(p.Oracles))
	p.Digests = slices.Clone(p.Digests)
	for i, two := range g.bounds {
		l, err := openNoiseLedger(folder.NoisePath(i))
		if err != nil {
			return p, err
		}
		curators[i] = &curator{g.terms, l, p.Digests[i]}
		if oracles[i], err = newPrivateOracle(p.Oracles[i], two[0], two[1], curators[i]); err != nil {
			return p, err
		}
		p.Digests[i] = l.Keyed(p.Digests[i])
	}
	p.Oracles, p.Evaluate, p.Each = oracles, nil, nil
	if p.Score != nil {
		p.Score = func(i int, m train.Fit) (train.Scores, error) { return g.score(i, m, curators[i]) }
	}
	return p, nil
}

// maxLoss bounds the loss of one test example in a score: larger ones count as it.
const maxLoss = 8

// score returns agent i's score on its test examples, with noise: the mean loss, and the share of
// right answers, which is NaN for a model that predicts numbers. Losses are cut to [0, maxLoss] and
// divided by maxLoss, so that one row moves each of the two means by at most 1/rows, and both
// together by √2/rows in norm. Without test examples, or for a model that does not score, it is the
// zero score.
func (g *guard) score(i int, m train.Fit, c *curator) (train.Scores, error) {
	of := g.scores[i]
	if of == nil {
		return train.Scores{}, nil
	}
	losses, hits, err := of.Examples(m.X, m.Y)
	if err != nil {
		return train.Scores{}, err
	}
	rows := float64(of.Len())
	means := make([]float64, 2) // of losses and of right answers, which count as one answer
	for _, loss := range losses {
		means[0] += min(max(loss, 0), maxLoss) / maxLoss / rows
	}
	for _, hit := range hits {
		means[1] += hit / rows
	}
	if err := c.AddNoise(means, testRows, math.Sqrt2/rows, "score", m.X, m.Y); err != nil {
		return train.Scores{}, err
	}
	right := rows * means[1]
	if hits == nil {
		right = math.NaN()
	}
	return train.Scores{Test: train.Score{Rows: rows, Losses: rows * maxLoss * means[0], Right: right}}, nil
}

// curvature returns an upper bound of the eigenvalues of every agent's Hessian at x. It uses public
// quantities only: the bound of the losses' Hessian, and the largest entry of the penalty's, which
// is diagonal. o is any agent's oracle; models with bounded terms have a penalty.
func (g *guard) curvature(o dsbo.Oracle, x []float64) (float64, error) {
	_, q := o.Dims()
	penalty := make([]float64, q)
	of, err := dsbo.Capabilities(o)
	if err == nil {
		err = of.Penalty(penalty, x)
	}
	if err != nil {
		return 0, err
	}
	return g.curve + slices.Max(penalty), nil
}

// finishPrivate writes the λ and the model of a run with differential privacy, the last ones.
// Nothing is compared: that would take more answers.
func (e *ending) finishPrivate() error {
	r, best := e.run, e.result.Best
	e.summary.Verdict = withoutVerdict(fmt.Sprintf(
		"Tuned %s with noise on all that a site sends: they are not compared with one penalty for all, which would "+
			"cost more of the budget.", wording.Count(len(best.X), "hyperparameter")),
		fmt.Sprintf(
			"Differential privacy %v: what was sent is about as likely with another row in its place. Losses and "+
				"accuracies have noise too.", *r.settings.Privacy))
	if r.job.Task.Finish == nil {
		return nil
	}
	return r.job.Task.Finish(FinishedRun{Folder: r.folder, Writes: r.layout.leads(), X: best.X, Y: best.Y,
		Collective: withoutSums})
}
