package experiment

import (
	"context"
	"fmt"
	"math"

	"dsbo"
	"dsbo/data"
	"dsbo/experiment/candidates"
	"dsbo/experiment/plan"
	"dsbo/internal/num"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/train"
)

// siteNumbers are the numbers of a site's row: test examples; then losses and right answers of each
// of three models.
const siteNumbers = 1 + 2*3

// compareSites scores three models on the test examples of each site: its own, the model of the
// best constant and the tuned one; and the scores that other sites find alone, where they may be
// seen. It returns nil where the task does not ask for it.
func (r *finisher) compareSites(ctx context.Context, constant, tuned *candidates.Model) ([]runs.Site, error) {
	sites := r.Task.sites()
	if !sites.Compare || constant.Y == nil || tuned.Y == nil || r.problem.Score == nil {
		return nil, nil
	}
	r.view.Log("each site alone, for comparison")
	// without Y of sites elsewhere, and where none converges
	siteModels := make([]train.Fit, len(r.problem.Oracles))
	rows, err := r.problem.GatherRows(ctx, siteNumbers, func(i int, row []float64) (err error) {
		if siteModels[i], err = r.siteModel(ctx, i, constant.X); err != nil {
			return fmt.Errorf("agent %d alone: %w", i, err)
		}
		if row[0], err = r.scoreTest(i, r.problem.Problem, []train.Fit{siteModels[i]}, row[1:]); err != nil {
			return err
		}
		for k, m := range []*candidates.Model{constant, tuned} {
			if _, err := r.scoreTest(i, m.Finder.Problem, []train.Fit{m.Fit()}, row[3+2*k:]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var found []runs.Site
	for k, row := range rows {
		name := ""
		if r.finalEpoch.Members != nil {
			name = fmt.Sprintf("site %d", r.finalEpoch.Members[k])
		}
		scores := scoresOf(row[1:])
		found = append(found, runs.Site{Name: name, Examples: int(row[0]), Alone: scores[0], Constant: scores[1],
			Tuned: scores[2]})
	}
	return found, r.exchangeSiteModels(ctx, sites.Exchange, siteModels, found)
}

// exchangedRows returns what comparing the sites sends of each of them to all.
func (r *finisher) exchangedRows() []plan.Row {
	sites := r.Task.sites()
	if !sites.Compare || r.problem.Score == nil {
		return nil
	}
	rows := []plan.Row{{Name: "scores on the site's test rows", Length: siteNumbers}}
	p, q := r.loaded.model.Dims()
	if n := r.Agents; sites.Exchange && n <= mostCrossed {
		rows = append(rows, plan.Row{Name: "model of the site alone", Length: p + q},
			plan.Row{Name: "scores of such models", Length: 2 * n})
	}
	return rows
}

// scoreTest scores models of a problem on the test examples of agent i, whose number it returns,
// and writes two numbers of each to dst: NaN of a model without Y.
func (r *finisher) scoreTest(i int, of train.Problem, fits []train.Fit, dst []float64) (examples float64, err error) {
	for k, m := range fits {
		if m.Y == nil {
			dst[2*k], dst[2*k+1] = math.NaN(), math.NaN()
			continue
		}
		scores, err := of.Score(i, m)
		if err != nil {
			return 0, err
		}
		examples, dst[2*k], dst[2*k+1] = scores.Test.Rows, scores.Test.Loss(), scores.Test.Accuracy()
	}
	return examples, nil
}

// scoresOf returns the scores that scoreTest has written.
func scoresOf(numbers []float64) (all []runs.SiteScore) {
	for k := 0; k < len(numbers); k += 2 {
		all = append(all, runs.SiteScore{Loss: runs.Number(numbers[k]), Accuracy: runs.Number(numbers[k+1])})
	}
	return all
}

// mostCrossed is the largest number of sites whose models are tried on the rows of each.
const mostCrossed = 32

// exchangeSiteModels tries the model of each site alone on the test examples of all sites. Where
// the sites are in several processes the models leave them, if that is allowed; in one process
// nothing does, and nothing is counted unless it is allowed.
func (r *finisher) exchangeSiteModels(ctx context.Context, allowed bool, siteModels []train.Fit,
	sites []runs.Site) error {
	if len(sites) > mostCrossed || !allowed && r.team != nil {
		return nil
	}
	p := r.problem.Problem
	if !allowed {
		p.Sent = new(dsbo.Traffic)
	}
	nx, ny := r.loaded.model.Dims()
	vectors, err := p.GatherRows(ctx, nx+ny, func(i int, row []float64) error {
		if siteModels[i].Y == nil {
			row[0] = math.NaN()
			return nil
		}
		copy(row, siteModels[i].X)
		copy(row[nx:], siteModels[i].Y)
		return nil
	})
	if err != nil {
		return err
	}
	models := make([]train.Fit, len(vectors))
	for i, v := range vectors {
		if !math.IsNaN(v[0]) {
			models[i] = train.Fit{X: v[:nx], Y: v[nx:]}
		}
	}
	rows, err := p.GatherRows(ctx, 2*len(models), func(i int, row []float64) error {
		_, err := r.scoreTest(i, p, models, row)
		return err
	})
	for i, row := range rows {
		sites[i].OthersAlone = scoresOf(row)
	}
	return err
}

// siteModel returns the model that agent i finds by its own examples alone, at the best constant λ
// by its own validation examples, which is looked for near the best one of all sites; nil if none
// converges. It sends nothing.
func (r *finisher) siteModel(ctx context.Context, i int, xOfAll []float64) (m train.Fit, err error) {
	l := r.loaded
	shard := l.data.Shards[i]
	shard.Train.ID = nil // numbers among the examples of all
	own := data.Task{Shards: []data.Shard{shard}, Features: l.data.Features, Classes: l.data.Classes}
	p, err := train.NewProblem(own, l.model, models.Config{Seed: r.Seed})
	if err != nil {
		return m, err
	}
	best, err := candidates.New(p, r.problem.meaning.Symbol, len(r.result.X), p.RoughSolver(), nil,
		nil).ConstantNear(ctx, int(math.Round(num.Median(xOfAll))))
	if err == nil {
		m = best.Fit()
	}
	return m, err
}
