package train

import (
	"slices"

	"dsbo"
	"dsbo/internal/vec"
)

// lowerGrad sets g to ∇_y g(x, y), averaged over the agents as is all below. All but the first one of a solve is the last one and an
// average of differences.
func (w *exactSolve) lowerGrad(y []float64) error {
	if w.localGradients == nil {
		w.localGradients = make([][]float64, len(w.Problem.Evaluate))
		return w.mean(w.ctx, w.gradientWire(), w.g, func(i int, o dsbo.ValueOracle, part []float64) error {
			err := o.LowerGrad(part, w.x, y, allExamples)
			w.localGradients[i] = slices.Clone(part)
			return err
		})
	}
	change := w.work[3]
	err := w.mean(w.ctx, w.changeWire(), change, func(i int, o dsbo.ValueOracle, part []float64) error {
		err := o.LowerGrad(part, w.x, y, allExamples)
		for j, g := range part {
			part[j], w.localGradients[i][j] = g-w.localGradients[i][j], g
		}
		return err
	})
	vec.Add(w.g, w.g, change)
	return err
}

// upperGrad finds ∇_x f and ∇_y f at (x, Y), in one average.
func (w *exactSolve) upperGrad(dx, dy []float64) error {
	both := make([]float64, w.p+w.q)
	err := w.mean(w.ctx, w.gradientWire(), both, func(_ int, o dsbo.ValueOracle, part []float64) error {
		return o.UpperGrad(part[:w.p], part[w.p:], w.x, w.Y, allExamples)
	})
	copy(dx, both)
	copy(dy, both[w.p:])
	return err
}

// residual sets r = b − H z at Y, by a product that is not rounded to the wire of the others.
func (w *exactSolve) residual(r, b, z []float64) error {
	err := w.mean(w.ctx, w.changeWire(), r, func(_ int, o dsbo.ValueOracle, part []float64) error {
		return w.products.product(o, part, w.x, w.Y, z, allExamples)
	})
	vec.Sub(r, b, r)
	w.Products++
	return err
}

// values returns the averaged losses.
func (w *exactSolve) values(y []float64) (upper, lower float64, err error) {
	var both [2]float64
	err = w.group.meanNumbers(w.ctx, both[:], func(i int, part []float64) (err error) {
		part[0], part[1], err = w.Problem.Evaluate[i].Values(w.x, y, allExamples)
		return err
	})
	return both[0], both[1], err
}
