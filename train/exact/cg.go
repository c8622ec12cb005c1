package exact

import (
	"math"

	"dsbo"
	"dsbo/internal/linalg"
)

// leastDelay is the least number of products by whose gain together the distance to the solution
// before them is estimated.
const leastDelay = 4

// leastResidual is the share of a right-hand side which a residual is that is nothing
// but round-off.
const leastResidual = 1e-15

// A rule is the stopping rule of conjugate gradients: the residual is at most residual, or, if that
// is 0, the square of the distance gained by the last products is at most gain of the whole. They
// also stop at a small share of the initial residual.
type rule struct {
	residual    float64
	gain        func(all float64) float64
	share       float64
	descend     bool // s is a step down the lower loss, see [linalg.System]
	maxProducts int  // products at most; 0: as many as the solve has left
}

// conjugateGradients adds an approximate solution of H δ = r, at Y, to s and leaves the residual in
// r. In squared distances to the solution, in the norm of H, gain is the decrease by all products,
// and last the part of it by the last few. positive is false if it met a direction without positive
// curvature. It stops by the rule end, at round-off, at a NaN, or when products are spent.
func (w *solve) conjugateGradients(s, r []float64, end rule) (gain, last float64, positive bool, err error) {
	b, from := w.cgRest, w.cgStart
	copy(b, r)
	copy(from, s)
	norm := linalg.Norm(b)
	var gains []float64 // so far, before each product
	most := w.productLimit - w.Products
	if end.maxProducts > 0 {
		most = min(most, end.maxProducts)
	}
	ended := func(asked int) bool {
		total := 0.0 // the gain of δ = s − from: 2 b'δ − δ'Hδ = δ'(b + r)
		for i, v := range s {
			total += float64((v - from[i]) * (b[i] + r[i]))
		}
		gain, last = total, total
		// The gain by the last delay products; by all while there are fewer.
		if gains = append(gains, total); asked >= w.delay(asked) {
			last = total - gains[asked-w.delay(asked)]
		}
		left := linalg.Norm(r)
		switch {
		case left <= leastResidual*norm || math.IsNaN(left):
			return true
		case end.residual > 0:
			return left <= max(end.residual, math.Sqrt(end.share)*norm)
		}
		return asked >= w.delay(asked) && last <= max(end.gain(total), end.share*total)
	}
	c := w.memory.Begin(s, r, linalg.System{E: w.e, Diagonal: w.diag, Descend: end.descend, Prepared: w.prepared})
	w.prepared = false
	for c.Asked < most && c.Positive && !ended(c.Asked) {
		if err = w.product(c.Next()); err != nil {
			break
		}
		c.Advance()
	}
	w.longest = max(w.longest, c.Asked)
	return gain, last, c.Positive, err
}

// delay returns the number of the last products by whose gain together a distance is estimated: the
// longer conjugate gradients have taken, the longer they may gain little and be far off all
// the same.
func (w *solve) delay(asked int) int {
	n := max(asked, w.longest)
	return max(leastDelay, n/4, n/2-16)
}

// leastShare is the least rule.share: below it, gains are the wire's rounding of products.
func (w *solve) leastShare() float64 {
	if w.wire <= w.gradientWire() {
		return 0
	}
	return 1e-3
}

// product sets dst to the product of v and the averaged Hessian's data part at Y.
func (w *solve) product(dst, v []float64) error {
	err := w.mean("products with the Hessian", w.wire, dst, func(i int, _ dsbo.ValueOracle, part []float64) error {
		if err := linalg.Product(w.products, w.rough(i), part, w.x, w.Y, v, allExamples); err != nil {
			return err
		}
		for i, e := range w.e { // the penalty's part
			part[i] -= float64(e * v[i])
		}
		return nil
	})
	w.Products++
	return err
}
