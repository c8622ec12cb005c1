package experiment

import (
	"context"
	"fmt"

	"dsbo/algo"
	"dsbo/internal/linalg"
	"dsbo/train"
)

// chooseSteps finds the curvature where steps follow it, chooses the steps that are auto and
// collects warnings of those that are not stable.
func (r *stepChooser) chooseSteps(ctx context.Context) error {
	p, q, err := r.startProblem().Dims()
	if err != nil {
		return err
	}
	x, y := make([]float64, p), make([]float64, q)
	linalg.Fill(x, r.X0)
	copy(x, r.problem.startX)
	copy(y, r.problem.Start)
	r.startX = x
	r.method = algo.Clone(r.params.method)
	if g := r.problem.guard; g != nil {
		if r.Privacy.LeastRows, err = r.leastRows(ctx); err != nil {
			return err
		}
		if err := g.plan(r.Settings, r.method); err != nil {
			return err
		}
	}
	if r.trainConfig().HasSteps() {
		if err := r.startProblem().CheckStart(x, y); err != nil { // the curvature of nothing finite says less
			return err
		}
		if r.lmax, err = r.largestCurvature(ctx, x, y); err != nil {
			return err
		}
		l := algo.Curvature{L: r.lmax}
		l.Z, l.Y = train.StableBounds(r.graph.W, l.L)
		if g := r.problem.guard; g != nil {
			l.Z = min(l.Z, g.stableStep(r.Settings, q))
		}
		if r.following, err = algo.Bind(r.method, l); err != nil {
			return err
		}
	}
	r.chooseStart()
	r.warnings = nil
	if r.lmax > 0 {
		r.warnings = train.StepWarnings(r.trainConfig(), r.lmax, 0)
	}
	for _, flag := range r.params.unknown {
		r.warnings = append(r.warnings,
			fmt.Sprintf("-%s changes nothing: %s has no such parameter", flag, r.Algorithm))
	}
	if draws := algo.TraitsOf(r.method).FullBatch; draws != "" && r.givenFlags["batch"] && r.Batch > 0 {
		r.warnings = append(r.warnings, fmt.Sprintf("-batch %d changes nothing: %s takes all examples (%s)",
			r.Batch, r.Algorithm, draws))
	}
	return nil
}

// showWarnings shows what there is to warn of before the run begins.
func (r *stepChooser) showWarnings() {
	for _, w := range r.warnings {
		r.view.Log("warning: %s", w)
	}
}

// largestCurvature returns the largest curvature of an agent at the start.
func (r *stepChooser) largestCurvature(ctx context.Context, x, y []float64) (float64, error) {
	switch g := r.problem.guard; {
	case g != nil:
		return g.curvature(r.problem.Oracles[r.loaded.local[0]], x)
	case r.point != nil:
		r.stepsSent = r.point.Start.Sent
		return r.point.Start.Curvature, nil
	}
	return r.startProblem().Curvature(ctx, x, y)
}

// chooseStart lets a method suit the run in the parameters that the user left open.
func (r *stepChooser) chooseStart() {
	adapt := algo.TraitsOf(r.method).Adapt
	if adapt == nil {
		return
	}
	known := r.givenFlags["x0"] || r.X0Best || r.problem.startX != nil || r.crossFit(true) != nil
	gaveUp := adapt(algo.Setting{
		Nonconvex: r.problem.Nonconvex, ByMix: r.Average == "mix", StartKnown: known,
		Penalties: r.problem.penalties,
		Given:     func(name string) bool { return r.Settings.Set[name] != nil },
	})
	if gaveUp && !known {
		r.view.Log(
			"x starts at %g: the problem tells no penalties by which a start could be found (-x0 chooses another)",
			r.X0)
	}
}
