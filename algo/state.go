package algo

import (
	"context"

	"dsbo"
	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
)

// A state is the variables that all methods have. Methods embed it.
type state struct {
	name  string       // of the method
	x, y  []float64    // the iterates, of length p and q
	yx    []float64    // y then x, of which they are views, as one message
	z, u  []float64    // the estimates of (Σ H)⁻¹ Σ b and of the hypergradient; nil for methods without
	named []dsbo.Named // the checkpoint's part, by name

	alike    bool      // all agents have the same state: see [Reformer]
	terms    *terms    // of averages, of methods that have any
	renewals []renewal // effects of a change of members

	schedules map[string]func(k int) float64 // bound to K, by their parameters' names
	following *following                     // of steps that follow the curvature; nil: none do
}

// A methodState is the state of a method of this package, with its Step.
type methodState struct {
	state
	turn   Turn    // of the iteration under way
	method stepper // whose state it is
}

// A stepper is a method of this package.
type stepper interface {
	Method
	// step is outer iteration k. Errors stay in the turn.
	step(w *Turn, k int)
}

// prepare calls state.prepare and then, unless that found an error, complete, in which a method
// checks its own conditions and makes its own vectors. It returns the first error.
func (s *methodState) prepare(m stepper, p, q, K int, complete func(c *checker)) error {
	s.method = m
	c := s.state.prepare(m, p, q, K)
	if c.err == nil {
		complete(c)
	}
	return c.err
}

// Step implements [dsbo.Algorithm].
func (s *methodState) Step(ctx context.Context, k int, o dsbo.Oracle, m dsbo.Mixer) error {
	s.turn = s.newTurn(ctx, k, o, m)
	s.method.step(&s.turn, k)
	return s.turn.err
}

// A localState is the state of a method whose agents solve their lower problems each by itself,
// with scratch for that.
type localState struct {
	methodState
	b, g, j []float64 // ∇_y f and any vector of length q; J z
}

// prepare calls methodState.prepare, and makes the scratch vectors before complete.
func (s *localState) prepare(m stepper, p, q, K int, complete func(c *checker)) error {
	return s.methodState.prepare(m, p, q, K, func(c *checker) {
		s.scratch(q, &s.b, &s.g)
		s.scratch(p, &s.j)
		complete(c)
	})
}

// descendY takes T local steps of y with draws {Lower, k, 0..T−1}, and leaves b and, in u, ∇_x f at
// the new y.
func (s *localState) descendY(w *Turn, T int) {
	beta := s.beta(w.k)
	for t := range w.steps(T) {
		w.LowerGrad(s.g, s.x, s.y, w.Draw(dsbo.Lower, t))
		linalg.Axpy(s.y, -beta, s.g) // y −= β ∇_y g(x, y)
	}
	w.UpperGrad(s.u, s.b, s.x, s.y, w.Draw(dsbo.Upper, 0))
}

// A soloState is the state of a method for one agent.
type soloState struct{ localState }

// Traits implements [Described].
func (s *soloState) Traits() Traits { return s.traits(Traits{OneAgent: true}) }

// descendX takes a step of x along the hypergradient u = ∇_x f − J z.
func (s *soloState) descendX(w *Turn) {
	implicitGrad(w, s.u, s.j, s.x, s.y, s.z)
	linalg.Axpy(s.x, -s.alpha(w.k), s.u)
}

// X returns a view of x_i.
func (s *state) X() []float64 { return s.x }

// Y returns a view of y_i.
func (s *state) Y() []float64 { return s.y }

// Traits implements [Described].
func (s *state) Traits() Traits { return s.traits(Traits{}) }

// traits returns the method's traits completed from the state.
func (s *state) traits(t Traits) Traits {
	t.Z, t.U, t.Alike, t.Terms = s.z, s.u, s.alike, s.terms != nil
	return t
}

// alpha is the step of x, of methods that have one.
func (s *state) alpha(k int) float64 { return s.schedules["alpha"](k) }

// beta is the step of y, of methods that have one.
func (s *state) beta(k int) float64 { return s.schedules["beta"](k) }

// gamma is the step of z, of methods that have one.
func (s *state) gamma(k int) float64 { return s.schedules["gamma"](k) }

// lg is the bound of the curvature, of methods that have one.
func (s *state) lg() float64 { return s.schedules["lg"](0) }

// State returns views of the variables carried from one iteration to the next.
func (s *state) State() []dsbo.Named { return s.named }

// prepare fills in and checks the parameters of m, whose state s is, binds its schedules to K, and
// makes x and y. The checker returned has the error, if there is one; the method may use it for
// checks of its own.
func (s *state) prepare(m Method, p, q, K int) *checker {
	c := newChecker(m, K)
	if p < 1 || q < 1 {
		c.err = dsbo.ShapeErrorf("%s: p and q must be at least 1; they are %d and %d", c.method, p, q)
	}
	if c.err != nil {
		return c
	}
	yx := s.newVec(q + p)
	*s = state{name: c.method, x: yx[q:], y: yx[:q:q], yx: yx, z: s.newVec(q), u: s.newVec(p),
		schedules: c.schedules}
	s.named = []dsbo.Named{{Name: "x", Value: s.x}, {Name: "y", Value: s.y}}
	return c
}

// carried makes a vector of length n and registers it in the state, which checkpoints save.
func (s *state) carried(name string, n int) []float64 {
	v := s.newVec(n)
	s.named = append(s.named, dsbo.Named{Name: name, Value: v})
	return v
}

// newTurn begins outer iteration k.
func (s *state) newTurn(ctx context.Context, k int, o dsbo.Oracle, m dsbo.Mixer) Turn {
	w := newTurn(s.name, ctx, k, o, m, len(s.x), len(s.y))
	if w.terms = s.terms; w.terms != nil {
		w.work = &w.terms.work
	}
	if s.following != nil {
		s.following.update(&w, s)
	}
	return w
}

// averagesTerms declares that agents differ in terms of averages alone, so that all have the same
// state. That includes u: a joining agent takes it over, since an evaluation may precede its first
// iteration.
func (s *state) averagesTerms() {
	s.alike, s.terms = true, &terms{own: map[agentVector][]float64{}}
	s.named = append(s.named, dsbo.Named{Name: "u", Value: s.u})
}

// newVec makes a vector of length n, all 0. Methods pass over vectors from end to end: huge pages,
// see package pages, would gain nothing, and the system may take longer to give them.
func (*state) newVec(n int) []float64 { return make([]float64, n) }

// scratch makes vectors of length n, all 0.
func (s *state) scratch(n int, vs ...*[]float64) {
	for _, v := range vs {
		*v = s.newVec(n)
	}
}

// track is one step of gradient tracking of s by the tracker d: d = mixed + s1 − s, then s = s1.
// It keeps Σ_i d = Σ_i s whenever the weights are doubly stochastic and the two sums start equal.
func track(d, mixed, s1, s []float64) {
	linalg.EachBlock(len(d), func(from, to int) {
		linalg.Add(d[from:to], mixed[from:to], s1[from:to])
		linalg.Sub(d[from:to], d[from:to], s[from:to])
		copy(s[from:to], s1[from:to])
	})
}

// trackResidual is [track] of the residual s = Hz − b: d = mixed + (Hz − b) − s, then s = Hz − b. d
// may be mixed.
func trackResidual(d, mixed, hz, b, s []float64) {
	var block [linalg.Block]float64
	linalg.EachBlock(len(d), func(from, to int) {
		s1 := block[:to-from]
		linalg.Sub(s1, hz[from:to], b[from:to])
		track(d[from:to], mixed[from:to], s1, s[from:to])
	})
}

// implicitGrad sets u = ∇_x f − J z. On entry u is ∇_x f; j is scratch of length p.
func implicitGrad(w *Turn, u, j, x, y, z []float64) {
	w.JVP(j, x, y, z, w.Draw(dsbo.Curvature, 0))
	linalg.Sub(u, u, j)
}

// mulVec sets dst_i = Σ_j a_ij v_j for a row-major matrix with rows of v's length.
func mulVec(dst, a, v []float64) {
	q := len(v)
	kernel.GemmNT(len(dst), 1, q, dst, 1, a, q, v, q, false)
}
