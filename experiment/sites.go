package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"dsbo"
	"dsbo/data"
	"dsbo/experiment/candidates"
	"dsbo/experiment/site"
	"dsbo/internal/linalg"
	"dsbo/internal/num"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/train"
)

// siteNumbers is the length of a site's row of sums over its test examples: their number; for each
// of three models, the site's own, the constant and the tuned one, losses and right answers; and
// the squared differences of losses between the kept model and the site's own.
const siteNumbers = 1 + 2*3 + 1

// A siteComparison is what [ending.findSites] finds.
type siteComparison struct {
	Sites []runs.Site
	All   *runs.Site
}

// compareSites compares, if the task asks for it, three models on the test examples of each site:
// the one that the site finds alone, the best constant's, and the tuned one; and, if allowed, the
// sites' own models on other sites' examples. c is the choice by folds that constant and tuned come
// from, and that each site makes for its own model; nil if there is none.
func (e *ending) compareSites(ctx context.Context, c *CrossFit, constant, tuned *candidates.Model) error {
	if !e.run.job.Task.sites().Compare || constant.Y == nil || tuned.Y == nil || e.problem.Score == nil {
		return nil
	}
	found, err := kept(ctx, e, "sites", func() (siteComparison, error) { return e.findSites(ctx, c, constant, tuned) })
	e.summary.Sites, e.summary.AllSites = found.Sites, found.All
	return err
}

// findSites finds the scores for compareSites. Each site shows all others its row of sums, except
// that a site with few test examples shows only their number. These sites are part of the sum over
// all sites, in which they cannot be told apart. That sum is left out if a site has no model of its
// own.
func (e *ending) findSites(ctx context.Context, c *CrossFit, constant,
	tuned *candidates.Model) (found siteComparison, err error) {
	e.run.view.Log("each site alone, for comparison")
	// The own model's Y is nil for sites in other processes, and where none has converged.
	p, own := e.problem.Problem, make([]train.Fit, len(e.problem.Oracles))
	if c != nil { // own models are of all examples, not of folds, and have one level
		p = c.alone
		p.Of = "" // a suffix for the names of sums over models; sums of sites have none
	}
	sums := make([][]float64, len(own))
	rows, err := p.GatherRows(ctx, "scores on the site's rows", siteNumbers, func(i int, row []float64) (err error) {
		if own[i], err = e.siteModel(ctx, c, i, constant.X); err != nil {
			return fmt.Errorf("agent %d alone: %w", i, err)
		}
		if sums[i], err = e.siteSums(i, p, own[i], constant, tuned); err == nil {
			copy(row, shownSums(sums[i]))
		}
		return err
	})
	if err != nil {
		return found, err
	}
	for k, row := range rows {
		name := ""
		if members := e.result.Epoch.Members; members != nil {
			name = fmt.Sprintf("site %d", members[k])
		}
		found.Sites = append(found.Sites, siteOf(name, row, tuned))
	}
	if found.All, err = e.allSites(ctx, p, sums, tuned); err != nil {
		return found, err
	}
	return found, e.exchangeSiteModels(ctx, found.Sites, p, own)
}

// allSites returns the means over all sites, nil if a site has no model of its own. sums are the
// rows of the sites here, by their positions among the members.
func (e *ending) allSites(ctx context.Context, p train.Problem, sums [][]float64,
	tuned *candidates.Model) (*runs.Site, error) {
	total := make([]float64, siteNumbers+1) // the last counts sites without a model of their own
	if err := p.Collective(ctx).Sum("scores over all sites", total, func(agent int, part []float64) error {
		position := agent
		if epoch := e.result.Epoch; epoch.Members != nil {
			position, _ = epoch.Position(agent)
		}
		for k, v := range sums[position] {
			if part[k] = v; math.IsNaN(v) { // no own model, which a sum of numbers cannot tell
				part[k], part[siteNumbers] = 0, 1
			}
		}
		return nil
	}); err != nil || total[siteNumbers] > 0 {
		return nil, err
	}
	all := siteOf("all sites", total, tuned)
	return &all, nil
}

// siteSums returns site i's row (siteNumbers) for three models: its own, of problem p, the
// constant's and the tuned one. Without a model of its own, its sums and the differences from it
// are NaN.
func (e *ending) siteSums(i int, p train.Problem, own train.Fit, constant, tuned *candidates.Model) ([]float64,
	error) {
	sums := make([]float64, siteNumbers)
	squares := &sums[siteNumbers-1]
	var ownLosses []float64 // nil: there is no own model
	for k, m := range []struct {
		train.Problem
		train.Fit
		kept bool
	}{{p, own, false}, {constant.Finder.Problem, united(e.problem.model, constant.Fit()), constant.Kept},
		{tuned.Finder.Problem, united(e.problem.model, tuned.Fit()), tuned.Kept}} {
		if m.Y == nil { // the own model
			sums[1], sums[2], *squares = math.NaN(), math.NaN(), math.NaN()
			continue
		}
		each, err := m.Each(i, train.TestSet, m.Fit)
		if err != nil {
			return nil, err
		}
		sums[0] = 0 // counted again for each model, with the same result
		for row, l := range each.Losses {
			n := each.Rows(row)
			sums[0] += n
			if sums[1+2*k] += float64(n * l); each.Hits != nil {
				sums[2+2*k] += float64(n * each.Hits[row])
			}
			if m.kept && ownLosses != nil {
				d := l - ownLosses[row]
				*squares += float64(n * d * d)
			}
		}
		if k == 0 {
			ownLosses = slices.Clone(each.Losses) // Each reuses them
		}
	}
	return sums, nil
}

// shownSums returns the sums that a site shows of itself: of few test examples their number alone.
func shownSums(sums []float64) []float64 {
	if sums[0] < runs.FewestOfSite {
		return append([]float64{sums[0]}, slices.Repeat([]float64{math.NaN()}, len(sums)-1)...)
	}
	return sums
}

// siteOf returns the means that a row of sums describes, and the standard error of the mean change
// of the loss from the site's own model to the kept one, by the variance of the changes over
// examples.
func siteOf(name string, row []float64, tuned *candidates.Model) runs.Site {
	n := row[0]
	score := func(k int) runs.SiteScore {
		s := runs.SiteScore{Loss: runs.Number(row[1+2*k] / n), Accuracy: runs.Number(row[2+2*k] / n)}
		if !tuned.TestAccuracy.Known() { // numbers have no right answers
			s.Accuracy = runs.Unknown()
		}
		return s
	}
	s := runs.Site{Name: name, Examples: int(math.Round(n)), Alone: score(0), Constant: score(1), Tuned: score(2)}
	s.Change = s.Joint(tuned.Kept).Loss - s.Alone.Loss
	square := float64(s.Change * s.Change)
	s.ChangeError = runs.Number(math.Sqrt(max(0, row[siteNumbers-1]/n-square) / (n - 1)))
	return s
}

// exchangedRows returns what comparing the sites sends of each of them to all.
func (r *run) exchangedRows(of *problem) []site.Quantity {
	sites := r.job.Task.sites()
	if !sites.Compare || of.Score == nil {
		return nil
	}
	rows := []site.Quantity{site.Row("scores on the site's rows", siteNumbers)}
	if n := r.settings.Agents; sites.Exchange && n <= mostCrossed {
		p, q := r.job.Task.siteModelDims(of.model)
		rows = append(rows, site.Row("model of the site alone", p+q), site.Row("scores of such models", 2*n))
	}
	return rows
}

// siteModelDims returns the lengths of λ and of the model of a site alone, of a run of a model.
func (t *Task) siteModelDims(of models.Model) (p, q int) {
	if t.crossFit(false) != nil {
		return linearOf(of).Dims()
	}
	return of.Dims()
}

// united returns the fit of a model of folds with each fold's weights replaced by the mean over
// folds; other fits are returned unchanged. A site alone has one model of all its examples, so a
// fair rival is one model too: the mean's loss is close to that, but the mean of the folds' losses
// is larger, by 1 to 4 % with 40 to 120 examples.
func united(of models.Model, m train.Fit) train.Fit {
	folds, ok := of.(models.Folds)
	if !ok {
		return m
	}
	if _, q := folds.Dims(); len(m.Y) != q {
		return m
	}
	mean := folds.Mean(m.Y)
	y := slices.Clone(m.Y)
	for k := range folds.Count {
		weights, intercepts := folds.Fold(y, k)
		copy(intercepts, mean[copy(weights, mean):])
	}
	return train.Fit{X: m.X, Y: y}
}

// mostCrossed is the largest number of sites whose models are tried on the rows of each.
const mostCrossed = 32

// exchangeSiteModels scores each site's own model, of problem p, on the test examples of all sites
// that have enough. With sites in several processes their models must leave them, which needs
// permission (Sites.Exchange). In one process nothing leaves, so traffic is counted only if it
// would be permitted. A vector that begins with NaN is a site without a model; a score of NaN is
// unknown.
func (e *ending) exchangeSiteModels(ctx context.Context, sites []runs.Site, p train.Problem, own []train.Fit) error {
	allowed := e.run.job.Task.sites().Exchange
	if len(sites) > mostCrossed || !allowed && p.Team != nil {
		return nil
	}
	if !allowed {
		p.Sent = new(dsbo.Traffic)
	}
	nx, ny := e.run.job.Task.siteModelDims(e.problem.model)
	vectors, err := p.GatherRows(ctx, "model of the site alone", nx+ny, func(i int, row []float64) error {
		if own[i].Y == nil {
			row[0] = math.NaN()
			return nil
		}
		copy(row, own[i].X)
		copy(row[nx:], own[i].Y)
		return nil
	})
	if err != nil {
		return err
	}
	rows, err := p.GatherRows(ctx, "scores of such models", 2*len(vectors), func(i int, row []float64) error {
		linalg.Fill(row, math.NaN())
		for k, v := range vectors {
			if math.IsNaN(v[0]) || sites[i].Examples < runs.FewestOfSite {
				continue
			}
			s, err := p.Score(i, train.Fit{X: v[:nx], Y: v[nx:]})
			if err != nil {
				return err
			}
			row[2*k], row[2*k+1] = s.Test.Loss(), s.Test.Accuracy()
		}
		return nil
	})
	for i, row := range rows {
		for k := 0; k < len(row); k += 2 {
			sites[i].OthersAlone = append(sites[i].OthersAlone,
				runs.SiteScore{Loss: runs.Number(row[k]), Accuracy: runs.Number(row[k+1])})
		}
	}
	return err
}

// siteModel returns the model that agent i finds from its own examples, in the same way as all
// agents together: by structures of penalties if c is not nil, else at the constant λ that is best
// on its validation examples, with a search that starts at the best one of all sites. Y is nil if
// no model converges. It sends nothing.
func (e *ending) siteModel(ctx context.Context, c *CrossFit, i int, xOfAll []float64) (m train.Fit, err error) {
	of := &e.problem
	alone := func(shard data.Shard, model models.Model) (train.Problem, data.Task, error) {
		shard.Train.ID = nil // IDs number the examples of all agents
		own := data.Task{Shards: []data.Shard{shard}, Features: of.whole.Features, Classes: of.whole.Classes}
		p, err := train.NewProblem(own, model, models.Config{Seed: of.config.Seed, Gorgonia: of.config.Gorgonia})
		return p, own, err
	}
	if c != nil {
		m, err = of.ownStructures(ctx, *c, i, num.Median(xOfAll), alone)
		if errors.Is(err, dsbo.ErrDiverged) { // as an implicit node of a model may: the run has its own model
			err = nil
		}
		return m, err
	}
	p, _, err := alone(of.whole.Shards[i], of.model)
	if err != nil {
		return m, err
	}
	best, err := candidates.New(p, of.meaning.Symbol, len(e.result.X), p.RoughSolver(), nil,
		nil).ConstantNear(ctx, int(math.Round(num.Median(xOfAll))))
	if err == nil {
		m = united(of.model, best.Fit())
	}
	return m, err
}

// ownStructures returns the model of the best structure of penalties of agent i's own examples, of
// which alone makes problems. near is a good penalty.
func (p *problem) ownStructures(ctx context.Context, c CrossFit, i int, near float64,
	alone func(data.Shard, models.Model) (train.Problem, data.Task, error)) (m train.Fit, err error) {
	fit := candidates.CrossFit{Model: p.model.(models.Folds), Blocks: c.Blocks, Variance: c.Variance,
		Lasso: c.lassoOf(c.All.Shards[i : i+1])}
	fit.Model.Of, fit.Model.Apart = linearOf(p.model), true
	if fit.Problem, fit.Data, err = alone(p.data.Shards[i], fit.Model); err != nil {
		return m, err
	}
	if fit.All, _, err = alone(c.All.Shards[i], fit.Model.Of); err != nil {
		return m, err
	}
	found, err := fit.Structures(ctx, near)
	if err != nil {
		return m, err
	}
	_, best, err := found.Models(ctx)
	if err != nil {
		return m, err
	}
	return best.Fit(), nil
}
