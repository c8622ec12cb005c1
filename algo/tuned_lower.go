package algo

import (
	"cmp"
	"context"

	"dsbo"
	"dsbo/internal/vec"
)

// A tunedLoop is the y loop with heavy-ball momentum and gradient tracking, either or both or none:
//
//	d = ∇_y g, or tracked: D ← mix(D) + G − G₋, d = D
//	y⁺ = mix(y + m (y − y₋)) − β d
//
// D, G₋ and y₋ are kept from one outer iteration to the next. Zero is their right start: the first
// D is then the first gradient.
type tunedLoop struct {
	y, yp    []float64 // y and the y before
	g, gp, d []float64 // gradient; the gradient before and the tracker
	mom      float64
	tracked  bool
	out, in  []float64 // a message and its mix: y, then D, then what goes along with the first one
}

// newTunedLoop makes the loop; tail is the length of what goes along with the first message.
func newTunedLoop(q, tail int, mom float64, tracked bool) tunedLoop {
	l := tunedLoop{
		y: make([]float64, q), yp: make([]float64, q), g: make([]float64, q), gp: make([]float64, q), d: make([]float64, q),
		mom: mom, tracked: tracked,
	}
	l.out, l.in = make([]float64, l.head()+tail), make([]float64, l.head()+tail)
	return l
}

// head is the length of a message after the first.
func (l *tunedLoop) head() int {
	if l.tracked {
		return 2 * len(l.y)
	}
	return len(l.y)
}

// run takes T steps at x and returns the mix of the tail, which stays until the next run.
func (l *tunedLoop) run(w *turn, x []float64, T int, beta float64, tail ...[]float64) []float64 {
	q, head := len(l.y), l.head()
	pack(l.out[head:], tail...)
	for t := range T {
		extrapolate(l.out[:q], l.y, l.yp, l.mom)
		copy(l.out[q:head], l.d)
		if t == 0 {
			w.mix(l.in, l.out)
		} else {
			w.mix(l.in[:head], l.out[:head])
		}
		w.lowerGrad(l.g, x, l.y, w.draw(dsbo.Lower, t))
		dir := l.g
		if l.tracked {
			track(l.d, l.in[q:head], l.g, l.gp)
			dir = l.d
		}
		copy(l.yp, l.y)
		vec.Comb(l.y, 1, l.in[:q], -beta, dir)
	}
	return l.in[head:]
}

// extrapolate sets dst = v + m (v − before).
func extrapolate(dst, v, before []float64, m float64) {
	copy(dst, v)
	if m != 0 {
		for i := range dst {
			dst[i] += float64(m * (v[i] - before[i]))
		}
	}
}

// LowerParams are the parameters of [Lower]. Zero means the default.
type LowerParams struct {
	Beta Schedule // β, step of y; default 0.1
	MomY float64  // momentum of y, in [0, 1)
	T    int      // steps of y in one call of Step; default 10
}

func (c LowerParams) withDefaults() LowerParams {
	c.Beta, c.T = c.Beta.or(0.1), cmp.Or(c.T, 10)
	return c
}

// Validate names the first parameter that cannot work.
func (c LowerParams) Validate() error {
	c = c.withDefaults()
	v := checker{method: "lower"}
	v.step("beta", c.Beta)
	v.momentum("mom_y", c.MomY)
	v.count("T", c.T)
	return v.err
}

// Cost of a Step: 2Tq numbers to each neighbour in T messages, T gradients of g.
func (c LowerParams) Cost(p, q, k int) Cost {
	c = c.withDefaults()
	return Cost{Floats: 2 * c.T * q, Messages: c.T, Calls: Calls{LowerGrad: c.T}}
}

// Lower solves the lower problem alone, min_y Σ_i g_i(x, y) at an x that stays, by gradient descent
// with gradient tracking: unlike the y loop of the paper it converges to the exact solution on every
// agent with a constant step. It refits a model at a found x, and it is the y loop of [Tuned].
type Lower struct {
	c    LowerParams
	x    []float64
	loop tunedLoop
}

// NewLower makes the solver of one agent at x, which it copies; all agents must be given the same x. It starts at y = 0.
func NewLower(q int, x []float64, c LowerParams) (*Lower, error) {
	if err := sized("lower", len(x), q); err != nil {
		return nil, err
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	return &Lower{c: c, x: append([]float64(nil), x...), loop: newTunedLoop(q, 0, c.MomY, true)}, nil
}

// Step takes T steps of y; k names the draws.
func (a *Lower) Step(ctx context.Context, k int, o dsbo.Oracle, m dsbo.Mixer) error {
	w := begin("lower", ctx, k, o, m, len(a.x), len(a.loop.y))
	a.loop.run(&w, a.x, a.c.T, a.c.Beta.At(k))
	return w.err
}

// X returns a view of the x that stays.
func (a *Lower) X() []float64 { return a.x }

// Y returns a view of y_i.
func (a *Lower) Y() []float64 { return a.loop.y }

// Gradient returns a view of the tracked gradient, this agent's estimate of (1/n) Σ_j ∇_y g_j.
func (a *Lower) Gradient() []float64 { return a.loop.d }

// State holds x, y, the y before, the tracker and the gradient it tracks.
func (a *Lower) State() []dsbo.Named {
	return append([]dsbo.Named{{Name: "x", Value: a.x}}, a.loop.state()...)
}

func (l *tunedLoop) state() []dsbo.Named {
	return []dsbo.Named{
		{Name: "y", Value: l.y}, {Name: "y_before", Value: l.yp},
		{Name: "y_tracker", Value: l.d}, {Name: "y_gradient", Value: l.gp},
	}
}
