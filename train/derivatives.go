package train

import (
	"slices"

	"dsbo"
	"dsbo/internal/vec"
)

// lowerGrad sets g to ∇_y g(x, y), averaged over the agents as is all below. All but the first one of a solve is the last one and an
// average of differences.
func (w *solving) lowerGrad(y []float64) error {
	if w.own == nil {
		w.own = make([][]float64, len(w.Oracles))
		return w.mean(w.ctx, w.fine(), w.g, func(i int, o dsbo.ValueOracle, part []float64) error {
			err := o.LowerGrad(part, w.x, y, allExamples)
			w.own[i] = slices.Clone(part)
			return err
		})
	}
	change := w.work[3]
	err := w.mean(w.ctx, w.between(), change, func(i int, o dsbo.ValueOracle, part []float64) error {
		err := o.LowerGrad(part, w.x, y, allExamples)
		for j, g := range part {
			part[j], w.own[i][j] = g-w.own[i][j], g
		}
		return err
	})
	vec.Add(w.g, w.g, change)
	return err
}

// upperGrad finds ∇_x f and ∇_y f at (x, Y), in one average.
func (w *solving) upperGrad(dx, dy []float64) error {
	both := make([]float64, w.p+w.q)
	err := w.mean(w.ctx, w.fine(), both, func(_ int, o dsbo.ValueOracle, part []float64) error {
		return o.UpperGrad(part[:w.p], part[w.p:], w.x, w.Y, allExamples)
	})
	copy(dx, both)
	copy(dy, both[w.p:])
	return err
}

// residual sets r = b − H z at Y, by a product that is not rounded to the wire of the others.
func (w *solving) residual(r, b, z []float64) error {
	err := w.mean(w.ctx, w.between(), r, func(_ int, o dsbo.ValueOracle, part []float64) error {
		return w.curving.product(o, part, w.x, w.Y, z, allExamples)
	})
	vec.Sub(r, b, r)
	w.Products++
	return err
}

// values returns the averaged losses.
func (w *solving) values(y []float64) (upper, lower float64, err error) {
	var both [2]float64
	err = w.group.numbers(w.ctx, both[:], func(i int, part []float64) (err error) {
		part[0], part[1], err = w.Oracles[i].Values(w.x, y, allExamples)
		return err
	})
	return both[0], both[1], err
}
