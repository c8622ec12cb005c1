package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"dsbo"
	"dsbo/algo"
	"dsbo/internal/vec"
	"dsbo/network"
)

// Refit solves the lower problem at hyperparameters that stay, decentralized, on all examples: the y that it
// finds is the model to take home. During a run y only follows x, and is never quite there.
//
// It is gradient descent with gradient tracking and momentum ([algo.Lower]), so that every agent ends
// at the solution of the averaged problem.
type Refit struct {
	Problem Problem
	W       *network.Matrix
	Beta    float64 // step of y; 0: 1/L_max of the worst agent, see Curvature, halved while it diverges
	MomY    float64 // momentum of y, in [0, 1); 0: 0.985
	// Tol bounds the tracked gradient of every agent, relative to the averaged gradient at Problem.Start; 0: 3e-4.
	Tol    float64
	Steps  int                              // at most so many steps of y; 0: 3000
	OnStep func(done int, gradient float64) // called now and then with what Tol bounds
}

// A Refitted is the result of a Refit.
type Refitted struct {
	Y         []float64 // ȳ
	Gradient  float64   // what Tol bounds
	Consensus float64   // (1/n) Σ ‖y_i − ȳ‖²
	Steps     int
	Converged bool  // whether Gradient is at most Tol
	Floats    int64 // sent by all agents
}

// refitChunk is how many steps are taken between looks at the gradient.
const refitChunk = 10

// Solve refits at x (length p), from y on all agents; nil: from Problem.Start. It does not change them.
func (r Refit) Solve(ctx context.Context, x, y []float64) (Refitted, error) {
	auto := r.Beta == 0
	for try := 0; ; try++ {
		res, beta, err := r.solve(ctx, x, y)
		// How much tracking and momentum let of 1/L_max depends on the graph and on how unlike the agents are.
		if d := (*dsbo.DivergedError)(nil); auto && try < 5 && errors.As(err, &d) { // not another agent's
			r.Beta = beta / 2
			continue
		}
		if err != nil {
			err = fmt.Errorf("refit: %w", err)
		}
		return res, err
	}
}

// solve is one try, and returns the step that it took.
func (r Refit) solve(ctx context.Context, x, y []float64) (res Refitted, beta float64, err error) {
	s, err := r.prepare(ctx, x, y)
	if err != nil {
		return res, 0, err
	}
	defer s.close()
	res.Gradient = math.Inf(1)
	for limit := cmp.Or(r.Steps, 3000); res.Steps < limit && !res.Converged; {
		if err := s.advance(ctx, res.Steps/refitChunk); err != nil {
			return res, s.beta, err
		}
		res.Steps += refitChunk
		if res.Gradient, err = s.gradient(ctx, res.Steps); err != nil {
			return res, s.beta, err
		}
		res.Converged = res.Gradient <= cmp.Or(r.Tol, 3e-4)
		if r.OnStep != nil {
			r.OnStep(res.Steps, res.Gradient)
		}
	}
	return res, s.beta, s.collect(ctx, &res)
}

// A refitting is one Solve under way.
type refitting struct {
	group
	exchange network.Team
	close    func()
	agents   []*refitter // nil for those of other processes
	q        int
	scale    float64
	best     float64 // the least gradient so far
	lmax     float64
	beta     float64
}

// A refitter is one agent.
type refitter struct {
	*algo.Lower
	oracle dsbo.Oracle
	mixer  *meteredMixer
}

// entire makes an oracle answer every draw from all examples.
type entire struct{ dsbo.Oracle }

func (e entire) LowerGrad(dst, x, y []float64, _ dsbo.Sample) error {
	return e.Oracle.LowerGrad(dst, x, y, whole)
}

func (r Refit) prepare(ctx context.Context, x, y []float64) (*refitting, error) {
	p, q, err := r.Problem.Dims()
	if err != nil {
		return nil, err
	}
	g, err := r.Problem.group()
	if err != nil {
		return nil, err
	}
	start := make([]float64, q)
	copy(start, r.Problem.Start)
	if y == nil {
		y = start
	}
	if len(x) != p || len(y) != q || r.W == nil || r.W.N() != g.n {
		return nil, fmt.Errorf("%w: x of %d and y of %d numbers, and a graph, do not fit %d agents with p=%d and q=%d", dsbo.ErrShape, len(x), len(y), g.n, p, q)
	}
	if !(r.MomY >= 0 && r.MomY < 1) || !(r.Beta >= 0) || !(r.Tol >= 0) || r.Steps < 0 {
		return nil, fmt.Errorf("%w: step %g, momentum %g, tolerance %g, %d steps: want none negative and the momentum below 1", dsbo.ErrConfig, r.Beta, r.MomY, r.Tol, r.Steps)
	}
	l, err := r.Problem.Curvature(ctx, x, start)
	if err != nil {
		return nil, err
	}
	s := &refitting{group: g, exchange: r.Problem.Team, close: func() {}, agents: make([]*refitter, g.n), q: q, best: math.Inf(1), lmax: slices.Max(l)}
	s.beta = cmp.Or(r.Beta, 1/s.lmax)
	if s.exchange == nil {
		local := network.NewLocal(r.W)
		s.exchange, s.close = local, local.Close
	}
	for _, i := range g.local {
		a, err := algo.NewLower(q, x, algo.LowerParams{Beta: algo.Constant(s.beta), MomY: cmp.Or(r.MomY, 0.985), T: refitChunk})
		if err != nil {
			s.close()
			return nil, err
		}
		setStart(a, y)
		s.agents[i] = &refitter{a, entire{r.Problem.Oracles[i]}, &meteredMixer{Mixer: s.exchange.Mixer(i), sends: int64(r.W.Sends(i))}}
	}
	if err := s.measure(ctx, x, start); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// measure sets what the tolerance is relative to.
func (s *refitting) measure(ctx context.Context, x, start []float64) error {
	parts := s.rows(s.q, func(int) []float64 { return make([]float64, s.q) })
	err := s.each(ctx, func(i int) error { return s.agents[i].oracle.LowerGrad(parts[i], x, start, whole) })
	if err != nil {
		return err
	}
	if err := s.gather(ctx, parts); err != nil {
		return err
	}
	mean := make([]float64, s.q)
	vec.Mean(mean, parts...)
	s.scale = cmp.Or(vec.Norm(mean), 1)
	return nil
}

// advance takes a chunk of steps on all agents.
func (s *refitting) advance(ctx context.Context, chunk int) error {
	errs := make([]error, s.n)
	var wg sync.WaitGroup
	for _, i := range s.local {
		a := s.agents[i]
		wg.Go(func() {
			if errs[i] = a.Step(ctx, chunk, a.oracle, a.mixer); errs[i] != nil {
				s.fail(s.exchange, errs[i]) // the others wait for this agent
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	return cause(errs, func(i int) bool { return s.agents[i].mixer.failed })
}

// gradient returns the largest tracked gradient of an agent, relative to the scale.
func (s *refitting) gradient(ctx context.Context, step int) (float64, error) {
	const growth = 10 // more than momentum swings
	norms := s.rows(1, func(i int) []float64 { return []float64{vec.Norm(s.agents[i].Gradient())} })
	if err := s.gather(ctx, norms); err != nil {
		return 0, err
	}
	worst := 0.0
	for i, row := range norms {
		g := row[0]
		if !(g <= growth*max(s.best, 1e-9*s.scale)) { // NaN too
			_, beta := Stable(s.lmax)
			return g, &dsbo.DivergedError{Agent: i, Iteration: step, Quantity: "tracked gradient of y", Value: g,
				Advice: fmt.Sprintf("stable with L_max = %.3g: beta below %.3g, or less momentum", s.lmax, beta)}
		}
		worst = max(worst, g)
	}
	s.best = min(s.best, worst)
	return worst / s.scale, nil
}

func (s *refitting) collect(ctx context.Context, res *Refitted) error {
	rows := s.rows(s.q, func(i int) []float64 { return s.agents[i].Y() })
	if err := s.gather(ctx, rows); err != nil {
		return err
	}
	res.Y = make([]float64, s.q)
	vec.Mean(res.Y, rows...)
	for _, y := range rows {
		res.Consensus += vec.Dist2(y, res.Y) / float64(s.n)
	}
	sent := s.rows(1, func(i int) []float64 { return []float64{float64(s.agents[i].mixer.sent.Floats)} })
	if err := s.gather(ctx, sent); err != nil {
		return err
	}
	for _, row := range sent {
		res.Floats += int64(row[0])
	}
	return nil
}
