package train

import (
	"cmp"
	"context"
	"errors"
	"math"

	"dsbo"
	"dsbo/internal/recycle"
	"dsbo/internal/vec"
	"dsbo/network"
)

// A exactSolve is one call of [Exact.Solve].
type exactSolve struct {
	*Exact
	Solution
	ctx            context.Context
	x              []float64
	productLimit   int          // bound of the products
	upper, lower   float64      // the averaged losses at Y
	distance       float64      // estimate of d² of Solution.PhiError
	wire           network.Wire // that of products
	nearZ          []float64    // the z that belongs to where Y started; nil: not known
	localGradients [][]float64  // the last gradients ∇_y g_i of the agents of this process; nil before the first
	diagonalLower  float64      // lower at the Y of the diagonal
	longest        int          // products of the longest conjugate gradients so far
	sharpness      float64      // the share of the usual bound of d² that it may have
	// What wires have lost of the sums that g and the residual of the adjoint system are, by local agent; nil where that is nothing.
	lostGradients, lostResiduals [][]float64
}

const (
	// roundOff is the share of the lower loss below which differences of two evaluations mean nothing: sums of some ten thousand
	// terms, each right to 1e-16.
	roundOff = 1e-14
	// leastDelay is the least number of products by whose gain together the distance to the solution before them is estimated.
	leastDelay = 4
)

// gradientWire is the wire of gradients: float32, or bf16 where the problem's own is narrower and the solve ends by PhiTol.
func (w *exactSolve) gradientWire() network.Wire {
	if w.Problem.Average.Wire > network.Float32 && !w.endsByResidual() {
		return network.BF16
	}
	return w.group.fineWire()
}

// changeWire is the wire of what changes a gradient or a residual from one step to the next: the less they change, the less it loses.
func (w *exactSolve) changeWire() network.Wire {
	if w.gradientWire() == network.Float64 || w.endsByResidual() {
		return w.gradientWire()
	}
	return network.BF16
}

// endsByResidual reports whether residuals have bounds of their own, which rounding may be above.
func (w *exactSolve) endsByResidual() bool { return w.Tol > 0 || w.AdjointTol > 0 }

// productWire is the wire of products at first: where not all travels as it is, they bear to be rounded to eight bits, as the next
// residual corrects what they lose.
func (s *Exact) productWire() network.Wire {
	if s.group.fineWire() == network.Float64 {
		return network.Float64
	}
	return network.Int8
}

// phiTol is PhiTol or its default.
func (w *exactSolve) phiTol() float64 { return cmp.Or(w.PhiTol, 1e-4) }

// distrustRounding reports whether a direction without positive curvature, or a solve that leads away, may come of rounded products,
// which from then on travel as gradients do, and in float32 where they did already.
func (w *exactSolve) distrustRounding() bool {
	if w.wire == network.Int8 {
		w.wire = w.gradientWire()
		return true
	}
	rounded := w.wire != w.group.fineWire()
	w.wire = w.group.fineWire()
	return rounded
}

// findScale finds the gradient that Tol is relative to, at the first solve.
func (w *exactSolve) findScale() error {
	if w.scale[0] != 0 {
		return nil
	}
	if err := w.lowerGrad(w.Y); err != nil {
		return err
	}
	if norm := vec.Norm(w.g); norm <= math.MaxFloat64 { // else the next solve finds it
		w.scale[0] = cmp.Or(norm, 1)
	}
	return nil
}

// chooseStart starts at whichever of the last solution and y the lower loss is least at, and finds the losses there.
func (w *exactSolve) chooseStart(y, z []float64) error {
	w.lower = math.NaN()
	for _, start := range [][2][]float64{{w.Exact.y, w.Exact.z}, {y, z}} {
		if start[0] == nil {
			continue
		}
		upper, lower, err := w.values(start[0])
		if err != nil {
			return err
		}
		if lower < w.lower || math.IsNaN(w.lower) {
			copy(w.Y, start[0])
			w.upper, w.lower, w.nearZ = upper, lower, start[1]
		}
	}
	return nil
}

// findDiagonal finds the diagonal of the averaged Hessian, in its two parts: what the oracles do not give of it is a number in
// the size of the products so far.
func (w *exactSolve) findDiagonal() error {
	w.diagonalLower = w.lower
	one := w.Problem.Evaluate[w.group.local[0]]
	vec.Fill(w.e, 0)
	if o, ok := one.(dsbo.PenaltyOracle); ok {
		if err := o.Penalty(w.e, w.x); err != nil && !errors.Is(err, dsbo.ErrCapability) {
			return err
		}
	}
	err := w.findDataDiagonal()
	if errors.Is(err, dsbo.ErrCapability) {
		vec.Fill(w.diag, w.meanCurvature())
		err = nil
	}
	w.memory.Prepare(w.e, w.diag)
	return err
}

// findDataDiagonal finds what is not the penalty's of the diagonal, if the oracles give it.
func (w *exactSolve) findDataDiagonal() error {
	one := w.Problem.Evaluate[w.group.local[0]]
	if _, ok := one.(dsbo.DiagonalOracle); !ok {
		return dsbo.ErrCapability
	}
	return w.mean(w.ctx, w.wire, w.diag, func(_ int, o dsbo.ValueOracle, part []float64) error {
		if err := w.products.diagonal(o.(dsbo.DiagonalOracle), part, w.x, w.Y, allExamples); err != nil {
			return err
		}
		vec.Sub(part, part, w.e)
		return nil
	})
}

// meanCurvature returns the mean of v'Dv over the pairs of the memory, 1 if there is none.
func (w *exactSolve) meanCurvature() float64 {
	n := w.memory.Pairs()
	if n == 0 {
		return 1
	}
	_, _, gram, _ := w.memory.State()
	most, sum := int(math.Sqrt(float64(len(gram)))), 0.0
	for i := range n {
		sum += math.Abs(gram[i*most+i])
	}
	return cmp.Or(sum/float64(n), 1)
}

// product is a product of the Hessian's data part at Y, for package recycle.
func (w *exactSolve) product(dst, v []float64) error {
	err := w.mean(w.ctx, w.wire, dst, func(_ int, o dsbo.ValueOracle, part []float64) error {
		if err := w.products.product(o, part, w.x, w.Y, v, allExamples); err != nil {
			return err
		}
		w.subtractPenalty(part, v)
		return nil
	})
	w.Products++
	return err
}

// subtractPenalty takes the penalty's part off a product.
func (w *exactSolve) subtractPenalty(part, v []float64) {
	for i := range part {
		part[i] -= float64(w.e[i] * v[i])
	}
}

// A rule says when conjugate gradients end: when the residual is at most residual, or, if that is 0, when the square of the
// distance that the last products together have come nearer is at most gain of what all have. Nor do they go on below a share of
// what there was to solve.
type rule struct {
	residual    float64
	gain        func(all float64) float64
	share       float64
	descend     bool // s is a step down the lower loss, see [recycle.System]
	maxProducts int  // products at most; 0: as many as the solve has left
}

// conjugateGradients adds to s a solution of H s = r at Y and leaves the residual in r. It returns the square of the distance
// that it came nearer, in the norm of H, of that the part by the last products, and whether it met only positive curvature.
func (w *exactSolve) conjugateGradients(s, r []float64, end rule) (gain, last float64, positive bool, err error) {
	b, from := w.work[4], w.work[5]
	copy(b, r)
	copy(from, s)
	norm := vec.Norm(b)
	var gains []float64 // so far, before each product
	system := recycle.System{E: w.e, Diagonal: w.diag, Product: w.product, Descend: end.descend}
	most := w.productLimit - w.Products
	if end.maxProducts > 0 {
		most = min(most, end.maxProducts)
	}
	asked, positive, err := w.memory.Solve(s, r, system, most, func(asked int) bool {
		total := 0.0 // of the step δ = s − from, 2 b'δ − δ'Hδ = δ'(b + r)
		for i, v := range s {
			total += float64((v - from[i]) * (b[i] + r[i]))
		}
		gain, last = total, total
		if gains = append(gains, total); asked >= w.delay(asked) {
			last = total - gains[asked-w.delay(asked)]
		}
		left := vec.Norm(r)
		switch {
		case left <= 1e-15*norm || math.IsNaN(left):
			return true
		case end.residual > 0:
			return left <= max(end.residual, math.Sqrt(end.share)*norm)
		}
		return asked >= w.delay(asked) && last <= max(end.gain(total), end.share*total)
	})
	w.longest = max(w.longest, asked)
	return gain, last, positive, err
}

// delay returns the number of the last products by whose gain together a distance is estimated: the longer conjugate gradients have
// taken, the longer they may gain little and be far off all the same.
func (w *exactSolve) delay(asked int) int {
	n := max(asked, w.longest)
	return max(leastDelay, n/4, n/2-16)
}

// leastShare is the least rule.share: what a wire loses of products is no gain.
func (w *exactSolve) leastShare() float64 {
	if w.wire <= w.gradientWire() {
		return 0
	}
	return 1e-3
}
