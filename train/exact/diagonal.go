package exact

import (
	"cmp"
	"math"

	"dsbo"
	"dsbo/internal/linalg"
	"dsbo/network"
)

// findSystem finds the diagonal of the averaged Hessian, and with it the gradient at Y.
func (w *solve) findSystem() error { return w.findDiagonal(w.lowerGrad(w.Y)) }

// findDiagonal finds the diagonal of the averaged Hessian in two parts and prepares the
// preconditioner with them: w.e, the penalty's part, which is the same at all agents, and w.diag,
// the data's. If oracles do not give the penalty's part it is 0; if they do not give the data's, it
// is a constant of the size of earlier products. Other questions share the exchange.
func (w *solve) findDiagonal(with ...question) error {
	w.diagonalLower = w.lower
	one, err := dsbo.Capabilities(w.Oracles[w.Agents.Local()[0]])
	clear(w.e)
	if err == nil && one.Penalty != nil {
		err = one.Penalty(w.e, w.x)
	}
	if err != nil {
		return err
	}
	if one.Diagonal != nil {
		with = append([]question{w.dataDiagonal()}, with...)
	} else {
		linalg.Fill(w.diag, w.meanCurvature())
	}
	w.guessed = one.Diagonal == nil && w.memory.Pairs() == 0
	if with != nil {
		err = w.askAll(with...)
	}
	w.memory.Prepare(w.e, w.diag)
	w.prepared = true
	return err
}

// dataDiagonal asks for the diagonal without the penalty's part.
func (w *solve) dataDiagonal() question {
	return question{network.Vector{Name: "diagonal of the Hessian", Wire: w.wire, Dst: w.diag},
		func(i int, _ dsbo.ValueOracle, part []float64) error {
			of, err := dsbo.Capabilities(w.rough(i))
			if err == nil {
				err = of.Diagonal(part, w.x, w.Y, allExamples)
			}
			if err != nil {
				return err
			}
			w.products.Damp(part)
			linalg.Sub(part, part, w.e)
			if w.Blur != nil {
				w.Blur(part)
			}
			return nil
		}, nil}
}

// meanCurvature returns the mean of |v'Dv| over the memory's pairs (v, Dv) with unit v, an estimate
// of the scale of the Hessian's data part; 1 if there are no pairs.
func (w *solve) meanCurvature() float64 {
	n := w.memory.Pairs()
	if n == 0 {
		return 1
	}
	_, _, gram, _ := w.memory.State()
	most, sum := int(math.Sqrt(float64(len(gram)))), 0.0 // gram is a square matrix with room for all pairs
	for i := range n {
		sum += math.Abs(gram[i*most+i])
	}
	return cmp.Or(sum/float64(n), 1)
}
