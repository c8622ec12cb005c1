package exact

import (
	"fmt"
	"slices"

	"dsbo"
	"dsbo/internal/linalg"
	"dsbo/network"
)

// A question is a vector that all agents average, and the function that fills in an agent's term.
type question struct {
	network.Vector
	ask  func(i int, o dsbo.ValueOracle, part []float64) error
	then func() // processes the average, unless nil
}

// askAll averages the agents' terms of the questions in one exchange. After success it calls each
// question's then, if any.
func (w *solve) askAll(questions ...question) error {
	vectors := make([]network.Vector, len(questions))
	for k, q := range questions {
		vectors[k] = q.Vector
	}
	err := w.Agents.Means(w.ctx, func(i int, parts [][]float64) error {
		for k, q := range questions {
			if err := q.ask(i, w.Oracles[i], parts[k]); err != nil {
				return fmt.Errorf("agent %d: %w", w.Agents.Number(i), err)
			}
		}
		return nil
	}, vectors...)
	for _, q := range questions {
		if err == nil && q.then != nil {
			q.then()
		}
	}
	return err
}

// lowerGrad asks for ∇_y g(x, y), into w.g. The first time in a solve it averages the gradients,
// later only their differences from the last ones, which a narrow wire rounds by less. Each
// rounding error is added to the next difference (error feedback), so that g has only the last one.
// If the solve needs no upper loss, oracles that can return g_i with the gradient do, and it is
// kept for losses.
func (w *solve) lowerGrad(y []float64) question {
	gradient := func(i int, o dsbo.ValueOracle, dst []float64) (err error) {
		if o, ok := o.(lowerOracle); ok && w.lowerOnly {
			w.localLosses[i], err = o.LowerValueGrad(dst, w.x, y)
			return err
		}
		return o.LowerGrad(dst, w.x, y, allExamples)
	}
	if w.localGradients == nil { // the first, or the last one was too large for accurate differences
		w.localGradients, w.lostGradients = make([][]float64, len(w.Oracles)), w.newLost(w.q)
		return question{network.Vector{Name: "gradients", Wire: w.gradientWire(), Dst: w.g, Lost: w.lostGradients},
			func(i int, o dsbo.ValueOracle, part []float64) error {
				err := gradient(i, o, part)
				w.localGradients[i] = slices.Clone(part)
				return err
			}, nil}
	}
	return question{network.Vector{Name: "changes of gradients", Wire: w.changeWire(), Dst: w.change,
		Lost: w.lostGradients}, func(i int, o dsbo.ValueOracle, part []float64) error {
		err := gradient(i, o, part)
		for j, g := range part {
			part[j], w.localGradients[i][j] = g-w.localGradients[i][j], g
		}
		return err
	}, func() { linalg.Add(w.g, w.g, w.change) }}
}

// upperGrad asks for ∇_x f and ∇_y f at (x, Y), in one vector. ∇_y f is the first residual of the
// adjoint system, so the wire's rounding error of that part initializes lostResiduals.
func (w *solve) upperGrad(dx, dy []float64) question {
	both, lost := make([]float64, w.p+w.q), w.newLost(w.p+w.q)
	return question{network.Vector{Name: "validation gradients", Wire: w.gradientWire(), Dst: both, Lost: lost},
		func(_ int, o dsbo.ValueOracle, part []float64) error {
			return o.UpperGrad(part[:w.p], part[w.p:], w.x, w.Y, allExamples)
		}, func() {
			copy(dx, both)
			copy(dy, both[w.p:])
			w.lostResiduals = lost
			for k := range lost {
				w.lostResiduals[k] = lost[k][w.p:]
			}
		}}
}

// residual asks for r = b − H z at Y. Its product travels on the wire of changes, whatever the wire
// of the solver's products is.
func (w *solve) residual(r, b, z []float64, lost [][]float64) question {
	w.Products++
	return question{network.Vector{Name: "residuals", Wire: w.changeWire(), Dst: r, Lost: lost},
		func(_ int, o dsbo.ValueOracle, part []float64) error {
			err := linalg.Product(w.products, o, part, w.x, w.Y, z, allExamples)
			linalg.Scale(part, -1, part)
			return err
		}, func() { linalg.Add(r, b, r) }}
}

// A point is a y with the averaged losses there; upper is 0 where it is not needed and need not
// be found.
type point struct {
	y            []float64
	upper, lower float64
	known        bool // local lower losses are, by the question before, for the gradient there
}

// losses asks for the losses at a point.
func (w *solve) losses(at *point) question {
	both := make([]float64, 2)
	return question{network.Vector{Name: "training and validation loss", Dst: both},
		func(i int, o dsbo.ValueOracle, part []float64) (err error) {
			if o, ok := o.(lowerOracle); ok && w.lowerOnly {
				if part[0], part[1] = 0, w.localLosses[i]; !at.known {
					part[1], err = o.LowerValue(w.x, at.y)
				}
				return err
			}
			part[0], part[1], err = o.Values(w.x, at.y, allExamples)
			return err
		}, func() { at.upper, at.lower = both[0], both[1] }}
}

// A lowerOracle returns g_i(x, y) on all examples, alone or with ∇_y g_i(x, y).
type lowerOracle interface {
	LowerValue(x, y []float64) (float64, error)
	LowerValueGrad(dst, x, y []float64) (float64, error)
}

// rough returns the oracle of agent i that answers for products and diagonals.
func (w *solve) rough(i int) dsbo.Oracle {
	if w.Rough != nil {
		return w.Rough[i]
	}
	return w.Oracles[i]
}

// mean sets dst to the average over all agents of the vector that ask gets from an agent's oracle.
func (w *solve) mean(name string, wire network.Wire, dst []float64,
	ask func(i int, o dsbo.ValueOracle, part []float64) error) error {
	return w.askAll(question{network.Vector{Name: name, Wire: wire, Dst: dst}, ask, nil})
}
