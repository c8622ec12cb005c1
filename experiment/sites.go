package experiment

import (
	"context"
	"fmt"
	"math"

	"dsbo"
	"dsbo/data"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/train"
)

// finishTask has the task make of the kept model what it makes of it.
func (r *runner) finishTask(ctx context.Context, kept *model) error {
	t, ok := r.Task.(Finisher)
	if !ok {
		return nil
	}
	together := train.Together(ctx, r.Settings.Agents, r.team, r.graph.W, &r.summary.Traffic.Models)
	return t.Finish(Finished{
		Folder: r.folder, Writes: r.layout.leads(), X: kept.x, Y: kept.y, Together: together,
		Solve: func(t data.Task, m models.Model, x []float64) ([]float64, error) { return r.solveOther(ctx, t, m, x) },
	})
}

// solveOther returns y of the lower problem of a model on other data of the agents, at x.
func (r *runner) solveOther(ctx context.Context, t data.Task, m models.Model, x []float64) ([]float64, error) {
	f, err := r.finderOf(t, m)
	if err != nil {
		return nil, err
	}
	solved := newModel("all rows", runs.Unknown(), x)
	if err := f.solve(ctx, solved, nil, nil, f.fine); err != nil {
		return nil, err
	}
	if solved.y == nil {
		return nil, dsbo.Errorf(dsbo.ErrDiverged, "the model of all rows: its solution is not finite")
	}
	return solved.y, nil
}

// siteNumbers are the numbers of a site's row: test examples; then losses and right answers of each of three models.
const siteNumbers = 1 + 2*3

// compareSites scores three models on the test examples of each site: its own, that of the best constant and the tuned one; nil where the
// task does not ask for it.
func (r *runner) compareSites(ctx context.Context, constant, tuned *model) ([]runs.Site, error) {
	t, ok := r.Task.(Sited)
	if !ok || !t.ComparesSites() || constant.y == nil || tuned.y == nil || r.problem.Score == nil {
		return nil, nil
	}
	r.view.Log("each site alone, for comparison")
	rows, err := r.problem.Rows(ctx, siteNumbers, func(i int, row []float64) error {
		alone, err := r.siteModel(ctx, i)
		if err != nil {
			return fmt.Errorf("agent %d alone: %w", i, err)
		}
		for k, m := range []train.Fit{alone, constant.fit(), tuned.fit()} {
			if m.Y == nil {
				row[1+2*k], row[2+2*k] = math.NaN(), math.NaN()
				continue
			}
			scores, err := r.problem.Score(i, m)
			if err != nil {
				return err
			}
			row[0], row[1+2*k], row[2+2*k] = scores.Test.Rows, scores.Test.Loss(), scores.Test.Accuracy()
		}
		return nil
	})
	var sites []runs.Site
	for _, row := range rows {
		score := func(k int) runs.SiteScore {
			return runs.SiteScore{Loss: runs.Number(row[1+2*k]), Accuracy: runs.Number(row[2+2*k])}
		}
		sites = append(sites, runs.Site{Examples: int(row[0]), Alone: score(0), Constant: score(1), Tuned: score(2)})
	}
	return sites, err
}

// siteModel returns the model that agent i finds by its own examples alone, at the best constant λ by its own validation examples; nil if
// none converges. It sends nothing.
func (r *runner) siteModel(ctx context.Context, i int) (m train.Fit, err error) {
	l := r.loaded
	shard := l.data.Shards[i]
	shard.Train.ID = nil // numbers among the examples of all
	own := data.Task{Shards: []data.Shard{shard}, Features: l.data.Features, Classes: l.data.Classes}
	p, err := train.NewProblem(own, l.model, models.Config{Seed: r.Settings.Seed})
	if err != nil {
		return m, err
	}
	alone := r.problem
	alone.Problem = p
	best, err := newFinder(alone, len(r.result.X), train.NewExact(p), unwatched{}).bestConstant(ctx, 0)
	if err != nil || best == nil {
		return m, err
	}
	return best.fit(), nil
}

// unwatched shows nothing.
type unwatched struct{}

func (unwatched) solving(string) {}

func (unwatched) solved() {}

func (unwatched) planned(int) {}

func (unwatched) Log(string, ...any) {}

func (unwatched) Note(Note) {}
