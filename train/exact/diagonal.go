package exact

import (
	"cmp"
	"errors"
	"math"

	"dsbo"
	"dsbo/internal/linalg"
	"dsbo/network"
)

// findSystem finds the diagonal of the averaged Hessian, and with it the gradient at Y.
func (w *solve) findSystem() error { return w.findDiagonal(w.lowerGrad(w.Y)) }

// findDiagonal finds the diagonal of the averaged Hessian, in its two parts: what the oracles do
// not give of it is a number in the size of the products so far. Other questions travel with it.
func (w *solve) findDiagonal(with ...question) error {
	w.diagonalLower = w.lower
	one := w.Oracles[w.Agents.Local()[0]]
	linalg.Fill(w.e, 0)
	if o, ok := one.(dsbo.PenaltyOracle); ok {
		if err := o.Penalty(w.e, w.x); err != nil && !errors.Is(err, dsbo.ErrCapability) {
			return err
		}
	}
	err := dsbo.ErrCapability
	if _, ok := one.(dsbo.DiagonalOracle); ok {
		err = w.askAll(append([]question{w.dataDiagonal()}, with...)...)
	}
	if errors.Is(err, dsbo.ErrCapability) {
		linalg.Fill(w.diag, w.meanCurvature())
		if err = nil; with != nil {
			err = w.askAll(with...)
		}
	}
	w.memory.Prepare(w.e, w.diag)
	w.prepared = true
	return err
}

// dataDiagonal asks for what is not the penalty's of the diagonal.
func (w *solve) dataDiagonal() question {
	return question{network.Vector{Wire: w.wire, Dst: w.diag},
		func(i int, _ dsbo.ValueOracle, part []float64) error {
			if err := w.products.Diagonal(w.rough(i).(dsbo.DiagonalOracle), part, w.x, w.Y, allExamples); err != nil {
				return err
			}
			linalg.Sub(part, part, w.e)
			if w.Blur != nil {
				w.Blur(part)
			}
			return nil
		}, nil}
}

// meanCurvature returns the mean of v'Dv over the pairs of the memory, 1 if there is none.
func (w *solve) meanCurvature() float64 {
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
