package experiment

import (
	"context"
	"fmt"

	"dsbo/algo"
	"dsbo/internal/linalg"
	"dsbo/train"
)

// chooseSteps finds the curvature where steps follow it, chooses the steps that are auto and collects warnings of those that
// are not stable.
func (r *runner) chooseSteps(ctx context.Context) error {
	p, q, err := r.startProblem().Dims()
	if err != nil {
		return err
	}
	x, y := make([]float64, p), make([]float64, q)
	linalg.Fill(x, r.Settings.X0)
	copy(x, r.problem.startX)
	copy(y, r.problem.Start)
	r.startX = x
	l := highCurvature
	if r.method, err = r.params.method(highCurvature); err != nil {
		return err
	}
	if g := r.problem.guard; g != nil {
		if r.Settings.Privacy.LeastRows, err = r.leastRows(ctx); err != nil {
			return err
		}
		if err := g.plan(r.Settings, r.method); err != nil {
			return err
		}
	}
	if r.trainConfig().HasSteps() {
		if r.lmax, err = r.largestCurvature(ctx, x, y); err != nil {
			return err
		}
		l.L = r.lmax
		l.gamma, l.beta = train.StableBounds(r.graph.W, l.L)
		if g := r.problem.guard; g != nil {
			l.gamma = min(l.gamma, g.stableStep(r.Settings, q))
		}
	}
	if r.method, err = r.params.method(l); err != nil {
		return err
	}
	r.chooseStart()
	if r.problem.Score == nil {
		r.view.Log("losses and accuracies are not known: the model does not score examples (models.Scorer)")
	}
	r.warnings = nil
	if r.lmax > 0 {
		r.warnings = train.StepWarnings(r.trainConfig(), r.lmax, 0)
	}
	for _, flag := range r.params.unknown {
		r.warnings = append(r.warnings, fmt.Sprintf("-%s changes nothing: %s has no such parameter", flag, r.params.algorithm))
	}
	if m, ok := r.method.(*algo.NewtonCG); ok && !m.Part && r.givenFlags["batch"] && r.Settings.Batch > 0 {
		r.warnings = append(r.warnings, fmt.Sprintf("-batch %d changes nothing: newtoncg takes all examples (-set part=true takes products on draws)", r.Settings.Batch))
	}
	return nil
}

// showWarnings shows what there is to warn of before the run begins.
func (r *runner) showWarnings() {
	for _, w := range r.warnings {
		r.view.Log("warning: %s", w)
	}
}

// largestCurvature returns the largest curvature of an agent at the start.
func (r *runner) largestCurvature(ctx context.Context, x, y []float64) (float64, error) {
	switch g := r.problem.guard; {
	case g != nil:
		return g.curvature(r.problem.Oracles[r.loaded.local[0]], x)
	case r.point != nil:
		return r.point.Curvature, nil
	}
	return r.startProblem().Curvature(ctx, x, y)
}

// networkDamping is the first damping of Newton's steps where the lower problem is not convex.
const networkDamping = 1

// chooseStart damps a method of Newton steps where the lower problem is not convex, and fixes its number of products where averages
// are by Mix. A method that would search for its start begins at -x0 where that is given, and where the problem has no penalties by
// which it could search.
func (r *runner) chooseStart() {
	m, ok := r.method.(*algo.NewtonCG)
	if ok && r.problem.Nonconvex && r.Settings.Set["damping"] == nil {
		m.Damping = networkDamping
	}
	if ok && r.Settings.Average == "mix" {
		m.Most = 0 // agents whose last bits differ cannot agree where a solve ends
	}
	if !ok || m.Start == "x0" || r.Settings.Set["init"] != nil {
		return
	}
	known := r.givenFlags["x0"] || r.problem.startX != nil
	if known || !r.problem.penalties {
		m.Start = "x0"
	}
	if !known && !r.problem.penalties {
		r.view.Log("x starts at %g: the problem tells no penalties by which a start could be found (-x0 chooses another)", r.Settings.X0)
	}
}
