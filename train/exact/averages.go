package exact

import (
	"fmt"
	"slices"

	"dsbo"
	"dsbo/internal/linalg"
	"dsbo/network"
)

// lowerGrad sets g to ∇_y g(x, y), averaged over the agents as is all below. All but the first one
// of a solve is the last one and an average of differences. What the wire has lost of one of them
// the next one has too: g is off by what is lost of the last one alone.
func (w *solve) lowerGrad(y []float64) error {
	if w.localGradients == nil {
		w.localGradients, w.lostGradients = make([][]float64, len(w.Oracles)), w.newLost(w.q)
		return w.mean(w.gradientWire(), w.g, w.lostGradients, func(i int, o dsbo.ValueOracle, part []float64) error {
			err := o.LowerGrad(part, w.x, y, allExamples)
			w.localGradients[i] = slices.Clone(part)
			return err
		})
	}
	change := w.change
	err := w.mean(w.changeWire(), change, w.lostGradients, func(i int, o dsbo.ValueOracle, part []float64) error {
		err := o.LowerGrad(part, w.x, y, allExamples)
		for j, g := range part {
			part[j], w.localGradients[i][j] = g-w.localGradients[i][j], g
		}
		return err
	})
	linalg.Add(w.g, w.g, change)
	return err
}

// upperGrad finds ∇_x f and ∇_y f at (x, Y), in one average, with which the residuals of the
// adjoint system begin.
func (w *solve) upperGrad(dx, dy []float64) error {
	both, lost := make([]float64, w.p+w.q), w.newLost(w.p+w.q)
	err := w.mean(w.gradientWire(), both, lost, func(_ int, o dsbo.ValueOracle, part []float64) error {
		return o.UpperGrad(part[:w.p], part[w.p:], w.x, w.Y, allExamples)
	})
	copy(dx, both)
	copy(dy, both[w.p:])
	w.lostResiduals = lost
	for k := range lost {
		w.lostResiduals[k] = lost[k][w.p:]
	}
	return err
}

// residual sets r = b − H z at Y, by a product that is not rounded to the wire of the others, and
// with lost, see [collective.Group.Mean].
func (w *solve) residual(r, b, z []float64, lost [][]float64) error {
	err := w.mean(w.changeWire(), r, lost, func(_ int, o dsbo.ValueOracle, part []float64) error {
		err := linalg.Product(w.products, o, part, w.x, w.Y, z, allExamples)
		linalg.Scale(part, -1, part)
		return err
	})
	linalg.Add(r, b, r)
	w.Products++
	return err
}

// values returns the averaged losses; upper is 0 where it is not needed and need not be found.
func (w *solve) values(y []float64) (upper, lower float64, err error) {
	var both [2]float64
	err = w.Agents.MeanNumbers(w.ctx, both[:], func(i int, part []float64) (err error) {
		if o, ok := w.Oracles[i].(lowerOracle); ok && w.lowerOnly {
			part[0] = 0
			part[1], err = o.LowerValue(w.x, y)
			return err
		}
		part[0], part[1], err = w.Oracles[i].Values(w.x, y, allExamples)
		return err
	})
	return both[0], both[1], err
}

// A lowerOracle tells g_i(x, y) on all examples alone.
type lowerOracle interface {
	LowerValue(x, y []float64) (float64, error)
}

// rough returns the oracle of agent i that answers for products and diagonals.
func (w *solve) rough(i int) dsbo.Oracle {
	if w.Rough != nil {
		return w.Rough[i]
	}
	return w.Oracles[i]
}

// mean sets dst to the average over all agents of the vector that ask gets from an agent's oracle.
// lost is what the wire rounds off, see [collective.Group.Mean].
func (w *solve) mean(wire network.Wire, dst []float64, lost [][]float64,
	ask func(i int, o dsbo.ValueOracle, part []float64) error) error {
	return w.Agents.Mean(w.ctx, wire, dst, lost, func(i int, part []float64) error {
		if err := ask(i, w.Oracles[i], part); err != nil {
			return fmt.Errorf("agent %d: %w", w.Agents.Number(i), err)
		}
		return nil
	})
}
