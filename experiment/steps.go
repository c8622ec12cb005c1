package experiment

import (
	"context"
	"fmt"

	"dsbo/algo"
	"dsbo/internal/linalg"
	"dsbo/train"
)

// chooseSteps returns the configuration of the iterations on a problem: it finds the curvature for
// steps that follow it, chooses the steps that are auto, and warns of given steps that are not
// stable.
func (r *run) chooseSteps(ctx context.Context, at beginning, p *problem) (c train.Config, warnings []string,
	err error) {
	start, err := p.ofMembers(p.epoch)
	if err != nil {
		return c, nil, err
	}
	np, nq, err := start.Dims()
	if err != nil {
		return c, nil, err
	}
	x, y := make([]float64, np), make([]float64, nq)
	linalg.Fill(x, r.settings.X0)
	copy(x, p.startX)
	copy(y, p.Start)
	m := algo.Clone(r.params.method)
	if g := p.guard; g != nil {
		if r.settings.Privacy.LeastRows, err = r.leastRows(ctx, at, p); err != nil {
			return c, nil, err
		}
		if err := g.plan(r.settings, m); err != nil {
			return c, nil, err
		}
	}
	c = r.trainConfig(at, p, m, x)
	warnings = r.settings.widenBox(c)
	if p.startY != nil { // steps follow the curvature where the model starts, which may be larger
		c.Problem.Start = p.startY
	}
	if start.Sent = &c.Start.Sent; c.HasSteps() {
		if err := start.CheckStart(x, y); err != nil { // its error is clearer than the curvature's
			return c, nil, err
		}
		switch g := p.guard; {
		case g != nil:
			c.Start.Curvature, err = g.curvature(p.Oracles[p.local[0]], x)
		case at.point != nil:
			c.Start.Sent, c.Start.Curvature = at.point.Start.Sent, at.point.Start.Curvature
		default:
			c.Start.Curvature, err = start.Curvature(ctx, x, y)
		}
		if err != nil {
			return c, nil, err
		}
		l := algo.Curvature{L: c.Start.Curvature}
		l.Z, l.Y = train.StableBounds(r.graph.W, l.L)
		if g := p.guard; g != nil {
			l.Z = min(l.Z, g.stableStep(r.settings, nq))
		}
		if c.Following, err = algo.Bind(m, l); err != nil {
			return c, nil, err
		}
	}
	r.adaptMethod(m, p)
	if l := c.Start.Curvature; l > 0 {
		warnings = append(warnings, train.StepWarnings(c, l, 0)...)
	}
	return c, append(warnings, r.settings.vainFlags(r.params.unknown, m)...), nil
}

// vainFlags returns a warning for each flag that changes nothing for a method: its unknown
// ones, of parameters that it lacks, and -batch.
func (s *Settings) vainFlags(unknown []string, m algo.Method) (warnings []string) {
	for _, flag := range unknown {
		warnings = append(warnings, fmt.Sprintf("-%s changes nothing: %s has no such parameter", flag, s.Algorithm))
	}
	if draws := algo.TraitsOf(m).FullBatch; draws != "" && s.given["batch"] && s.Batch > 0 {
		warnings = append(warnings, fmt.Sprintf("-batch %d changes nothing: %s takes all examples (%s)",
			s.Batch, s.Algorithm, draws))
	}
	return warnings
}

// adaptMethod lets a method suit a problem in the parameters that the user left open.
func (r *run) adaptMethod(m algo.Method, p *problem) {
	adapt := algo.TraitsOf(m).Adapt
	if adapt == nil {
		return
	}
	known := r.settings.given["x0"] || r.settings.X0Best || p.startX != nil || r.job.Task.crossFit(true) != nil
	gaveUp := adapt(algo.Setting{
		Nonconvex: p.Nonconvex, StartKnown: known, Penalties: p.penalties,
		Given: func(name string) bool { return r.settings.Set[name] != nil },
	})
	if gaveUp && !known {
		r.view.Log(
			"x starts at %g: the problem gives no penalties by which a start could be found (-x0 chooses another)",
			r.settings.X0)
	}
}

// trainConfig returns the configuration of a method's run on a problem, for package train, whose
// steps are not chosen yet.
func (r *run) trainConfig(at beginning, p *problem, m algo.Method, startX []float64) train.Config {
	s, evaluation := r.settings, r.settings.Evaluate
	// evaluating all examples costs too much beside iterations on few
	if p.Nonconvex && s.Batch > 0 && !r.settings.given["evaluate"] {
		evaluation = train.EvaluateOff
	}
	return train.Config{
		Problem: p.Problem, W: r.graph.W, Membership: at.changes, Changing: r.layout.ownsFiles(),
		Method: m, StartX: startX, K: s.Iterations, CurvatureX: startX,
		EvalEvery: s.EvalEvery, ExactEach: r.settings.given["eval-every"], Patience: s.Patience,
		HeldOut: s.Holdout > 0, Newest: !s.Rivals && s.Holdout == 0,
		CheckpointEvery: s.CheckpointEvery, Dir: string(r.folder),
		Resume: s.Resume || at.point != nil || r.layout.ownsFiles(), From: at.point,
		Settings: s.checkpointSettings(p), Defaults: s.defaults, Evaluate: evaluation,
		Start: train.Start{Spent: p.searched}, DenseLimit: int64(s.Memory * (1 << 30)),
	}
}
