package experiment

import (
	"context"
	"fmt"

	"dsbo/algo"
	"dsbo/internal/linalg"
	"dsbo/train"
)

// chooseSteps returns the configuration of the iterations on a problem. If steps follow the
// curvature, it finds that and gives the steps their numbers; it warns of given steps that are not
// stable. With differential privacy the answers are counted first, since a stable step depends on
// their noise.
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
	copy(x, p.startX) // of length p, or nil
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
	if p.startY != nil { // but the curvature is found at the model's own start, where it may be larger
		c.Problem.Start = p.startY
	}
	if c.HasSteps() {
		if err := r.bindSteps(ctx, at, start, &c, y); err != nil {
			return c, nil, err
		}
	}
	r.adaptMethod(m, p)
	if l := c.Start.Curvature; l > 0 {
		warnings = append(warnings, train.StepWarnings(c, l, 0)...)
	}
	return c, append(warnings, r.settings.vainFlags(r.params.unknown, m)...), nil
}

// bindSteps finds the curvature at c.StartX and y and binds the steps of c.Method that follow it.
// start is the problem of the starting members. A resuming agent takes the curvature from its
// checkpoint, as the other agents, with which it would have to find it, may be at a later stage.
// With differential privacy it is a public bound, as an estimate would be one more answer.
func (r *run) bindSteps(ctx context.Context, at beginning, start problem, c *train.Config, y []float64) (err error) {
	if err := start.CheckStart(c.StartX, y); err != nil { // its error is clearer than the curvature's
		return err
	}
	g := start.guard
	switch {
	case g != nil:
		c.Start.Curvature, err = g.curvature(start.Oracles[start.local[0]], c.StartX)
	case at.point != nil:
		c.Start.Sent, c.Start.Curvature = at.point.Start.Sent, at.point.Start.Curvature
	default:
		start.Sent = &c.Start.Sent
		c.Start.Curvature, err = start.Curvature(ctx, c.StartX, y)
	}
	if err != nil {
		return err
	}
	l := algo.Curvature{L: c.Start.Curvature}
	l.Z, l.Y = train.StableBounds(r.graph.W, l.L)
	if g != nil {
		l.Z = min(l.Z, g.stableStep(r.settings, len(y)))
	}
	c.Following, err = algo.Bind(c.Method, l)
	return err
}

// vainFlags returns a warning for each flag that changes nothing for a method: its unknown
// ones, of parameters that it lacks, and others of what the run or the method does not have.
func (s *Settings) vainFlags(unknown []string, m algo.Method) (warnings []string) {
	for _, flag := range unknown {
		warnings = append(warnings, fmt.Sprintf("-%s changes nothing: %s has no such parameter", flag, s.Algorithm))
	}
	if draws := algo.TraitsOf(m).FullBatch; draws != "" && s.given["batch"] && s.Batch > 0 {
		warnings = append(warnings, fmt.Sprintf("-batch %d changes nothing: %s takes all examples (%s)",
			s.Batch, s.Algorithm, draws))
	}
	probe := algo.Clone(m)
	if s.given["mix"] && s.Mix != "" && probe.Init(1, 1, 1) == nil && algo.TraitsOf(probe).Alike {
		warnings = append(warnings, fmt.Sprintf("-mix %s changes nothing: all that agents send with %s is for exact "+
			"averages", s.Mix, s.Algorithm))
	}
	if s.given["patience"] && s.Patience > 0 && s.Holdout == 0 {
		warnings = append(warnings, fmt.Sprintf("-patience %d changes nothing: no examples are held out", s.Patience))
	}
	if s.given["memory"] && algo.TraitsOf(m).Dense == nil {
		warnings = append(warnings, fmt.Sprintf("-memory changes nothing: %s has no matrices", s.Algorithm))
	}
	return warnings
}

// adaptMethod lets a method adapt the parameters that the user left open to the problem. If the
// method would search for a start of x but cannot, without penalties, x starts at -x0; this is
// logged unless the user or the problem gave a start.
func (r *run) adaptMethod(m algo.Method, p *problem) {
	adapt := algo.TraitsOf(m).Adapt
	if adapt == nil {
		return
	}
	startKnown := r.settings.given["x0"] || r.settings.X0Best || p.startX != nil || r.job.Task.crossFit(true) != nil
	gaveUpSearch := adapt(algo.Setting{
		Nonconvex: p.Nonconvex, StartKnown: startKnown, Penalties: p.penalties,
		Given: func(name string) bool { return r.settings.Set[name] != nil },
	})
	if gaveUpSearch && !startKnown {
		r.view.Log(
			"x starts at %g: the problem gives no penalties by which a start could be found (-x0 chooses another)",
			r.settings.X0)
	}
}

// trainConfig returns the configuration, for package train, of a method's run on a problem; its
// steps are not bound yet. An agent with its own files always resumes what its folder has, since it
// may have been lost. If nothing judges iterates, neither rivals nor held-out examples, the newest
// is the result.
func (r *run) trainConfig(at beginning, p *problem, m algo.Method, startX []float64) train.Config {
	s, evaluation := r.settings, r.settings.Evaluate
	// Exact evaluation takes all examples: too expensive next to iterations on minibatches.
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
