package ad

import (
	"cmp"
	"math"

	"dsbo"
	"dsbo/ad/internal/engine"
	"dsbo/internal/linalg"
)

// An implicitRun is what one goroutine needs to solve for an implicit node: a machine and scratch
// vectors, which no result depends on.
type implicitRun struct {
	of      *implicit
	f       engine.Vectors[float64]
	inputs  [][]float64
	vectors [][]float64
	dst     [1][]float64
	one     [1]float64
	basis   basis
}

// startRun returns a run that no other goroutine uses, at these inputs: a spare one, or a new one.
// Solutions are found in float64, whatever T is.
func startRun[T Float](s *implicit, in []mat[T]) *implicitRun {
	r := s.runs.Get()
	if r.of == nil {
		r.of, r.f = s, engine.NewMachine(s.code.template, new(Workspace)).Float64()
		for _, m := range in {
			r.inputs = append(r.inputs, make([]float64, len(m.V)))
		}
	}
	for i, m := range in {
		linalg.Convert(r.inputs[i], m.V)
		r.f.SetInput(s.in[i], r.inputs[i])
	}
	return r
}

// vector returns scratch vector i.
func (r *implicitRun) vector(i int) []float64 {
	for len(r.vectors) <= i {
		r.vectors = append(r.vectors, make([]float64, r.of.q))
	}
	return r.vectors[i]
}

// check fails the run of the program with an error.
func (r *implicitRun) check(err error) {
	if err != nil {
		panic(engine.Failure{Err: err})
	}
}

// compute writes what a plan computes to dst.
func (r *implicitRun) compute(p *engine.Plan, dst []float64) {
	r.dst[0] = dst
	r.check(r.f.Run(p, r.dst[:]))
}

// at moves to z and returns the loss there, 0 for none, and writes F to dst.
func (r *implicitRun) at(dst, z []float64) (loss float64) {
	r.f.SetInput(r.of.z, z)
	r.compute(r.of.value, dst)
	if r.of.loss != nil {
		r.compute(r.of.lossValue, r.one[:])
		loss = r.one[0]
	}
	return loss
}

// multiply writes the product of a plan with v to dst.
func (r *implicitRun) multiply(p *engine.Plan, dst, v []float64) {
	r.f.SetInput(r.of.v, v)
	r.compute(p, dst)
}

// solve moves z to the solution.
func (r *implicitRun) solve(z []float64) error {
	f, step, next, trial, rest := r.vector(1), r.vector(2), r.vector(3), r.vector(4), r.vector(5)
	loss := r.at(f, z)
	bound, first, steps := r.of.by.tolerance()*max(1, linalg.Norm(f)), linalg.Norm(f), cmp.Or(r.of.by.Steps, 500)
	memory := linalg.BFGS{Most: 20}
	r.basis.clear()
	norm := first
	for range steps {
		if norm = linalg.Norm(f); !(norm > bound) {
			break
		}
		switch r.of.by.Method {
		case BFGS:
			memory.Solve(step, f)
			linalg.Scale(step, -1, step)
		case Anderson: // the whole of a step that has no line search
			r.accelerate(step, f)
			linalg.Add(next, z, step)
			r.at(trial, next)
			linalg.Sub(rest, trial, f)
			r.basis.add(step, rest)
			copy(z, next)
			copy(f, trial)
			continue
		default:
			linalg.Scale(rest, -1, f)
			// Far from the solution a rough step is as good. Near it the share falls with the norm:
			// steps converge faster than linearly. Less than the bound is not asked for.
			end := max(min(.1, norm/first)*norm, bound/4)
			if r.of.loss == nil {
				r.check(r.minimalResiduals(r.of.along, step, rest, end, true))
			} else {
				r.check(r.conjugateGradients(r.of.along, step, rest, end, true))
			}
		}
		now, fell := r.search(next, trial, z, f, step, loss)
		if !fell && memory.Known() { // pairs of other places: once more down the gradient
			memory.Forget()
			continue
		}
		if !fell { // by round-off, or at a point where no direction helps
			break
		}
		if r.of.by.Method == BFGS {
			memory.Add(next, trial, z, f)
		}
		loss = now
		copy(z, next)
		copy(f, trial)
	}
	if norm = linalg.Norm(f); !(norm <= bound) {
		return dsbo.Errorf(dsbo.ErrDiverged, "%s by %v: the residual must come to %.3g in %d steps; it is %.3g, %.3g "+
			"at the start", r.of.name, r.of.by.Method, bound, steps, norm, first)
	}
	return nil
}

// search writes z + t·step, for the first t of 1, ½, ¼, ... that helps, to next, and F there to
// trial: by the loss, or else by ‖F‖, less a ten-thousandth of what the slope promises. Next to a
// minimum the loss, of terms that may be larger, has no digits for what a step promises: there ‖F‖
// decides too.
func (r *implicitRun) search(next, trial, z, f, step []float64, loss float64) (now float64, fell bool) {
	const roundOff, unseen = 1e-14, 1e-12
	before, slope := linalg.Norm(f), linalg.Dot(f, step)
	byLoss := r.of.loss != nil && -slope > unseen*max(1, math.Abs(loss))
	for t := 1.; t > 1e-10; t /= 2 {
		linalg.Comb(next, 1, z, t, step)
		now = r.at(trial, next)
		norm := linalg.Norm(trial)
		if byLoss {
			fell = now <= loss+float64(1e-4*t*slope)+float64(roundOff*math.Abs(loss)) && norm <= math.MaxFloat64
		} else {
			fell = norm <= before-float64(1e-4*t*before)
		}
		if fell {
			return now, true
		}
	}
	return now, false
}

// accelerate writes Anderson's step at F to step: F less what changes of the past can take off it,
// and these changes.
func (r *implicitRun) accelerate(step, f []float64) {
	rest := r.vector(6)
	linalg.Fill(step, 0)
	copy(rest, f)
	for i := range r.basis.n {
		r.basis.project(i, step, rest)
	}
	if r.basis.n == mostAccelerated {
		r.basis.clear()
	}
	linalg.Sub(step, rest, step)
}

// mostAccelerated is of how many changes Anderson's steps are made before they begin anew.
const mostAccelerated = 10

// conjugateGradients solves H x = rest by a plan's products until the residual, which rest then is,
// has a norm of at most end. A direction without positive curvature ends a step, where enough is
// what was found, or the residual itself; else it is an error.
func (r *implicitRun) conjugateGradients(p *engine.Plan, x, rest []float64, end float64, step bool) error {
	cg := linalg.CG{V: x, R: rest, D: r.vector(6), HD: r.vector(7)}
	linalg.Fill(x, 0)
	cg.Start()
	for k := 0; math.Sqrt(cg.RR) > end; k++ {
		r.multiply(p, cg.HD, cg.D)
		curvature := cg.Curvature()
		switch {
		case curvature > 0 && k < 10*r.of.q+100:
			cg.Step(curvature)
			continue
		case step && k == 0:
			copy(x, rest)
		case !step && !(curvature > 0):
			return dsbo.Errorf(dsbo.ErrDiverged, "%s: the Hessian at the solution must be positive definite; a "+
				"curvature there is %.3g", r.of.name, curvature/linalg.Dot(cg.D, cg.D))
		case !step:
			return r.unsolved(end, math.Sqrt(cg.RR))
		}
		return nil
	}
	return nil
}

func (r *implicitRun) unsolved(end, left float64) error {
	return dsbo.Errorf(dsbo.ErrDiverged, "%s: the residual of a linear system must come to %.3g; it is %.3g", r.of.name,
		end, left)
}

// mostKept is how many products GMRES keeps before it begins anew.
const mostKept = 60

// minimalResiduals solves J x = rest by a plan's products as conjugateGradients does, for any J, by
// GMRES in the form of Walker and Zhou (1994).
func (r *implicitRun) minimalResiduals(p *engine.Plan, x, rest []float64, end float64, step bool) error {
	along, product := r.vector(6), r.vector(7)
	linalg.Fill(x, 0)
	r.basis.clear()
	copy(along, rest)
	for k := 0; linalg.Norm(rest) > end; k++ {
		r.multiply(p, product, along)
		last := r.basis.n
		if k > 10*r.of.q+100 || !r.basis.add(along, product) {
			if step { // the search decides whether it helps
				return nil
			}
			return r.unsolved(end, linalg.Norm(rest))
		}
		r.basis.project(last, x, rest)
		copy(along, r.basis.images[last])
		if r.basis.n == mostKept {
			r.basis.clear()
			copy(along, rest)
		}
	}
	return nil
}

// A basis is vectors and their images under a linear map, which are orthonormal.
type basis struct {
	n               int
	vectors, images [][]float64
}

func (b *basis) clear() { b.n = 0 }

// add adds a vector with its image, made orthonormal, and reports whether the image is a new one.
func (b *basis) add(vector, image []float64) bool {
	if b.n == len(b.vectors) {
		b.vectors = append(b.vectors, make([]float64, len(vector)))
		b.images = append(b.images, make([]float64, len(image)))
	}
	v, q := b.vectors[b.n], b.images[b.n]
	copy(v, vector)
	copy(q, image)
	before := linalg.Norm(q)
	for range 2 { // twice is enough (Kahan, Parlett)
		for i := range b.n {
			share := linalg.Dot(q, b.images[i])
			linalg.Axpy(q, -share, b.images[i])
			linalg.Axpy(v, -share, b.vectors[i])
		}
	}
	left := linalg.Norm(q)
	if !(left > 1e-13*before) {
		return false
	}
	linalg.Scale(q, 1/left, q)
	linalg.Scale(v, 1/left, v)
	b.n++
	return true
}

// project moves x along vector i, so that the rest of a right side is orthogonal to its image.
func (b *basis) project(i int, x, rest []float64) {
	share := linalg.Dot(rest, b.images[i])
	linalg.Axpy(rest, -share, b.images[i])
	linalg.Axpy(x, share, b.vectors[i])
}
