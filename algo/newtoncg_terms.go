package algo

import (
	"dsbo/internal/linalg"
)

// newtonTerms are an agent's terms of the averages of [NewtonCG].
type newtonTerms struct {
	lowerGrad, product, adjoint, hypergradient, diagonal, upperLoss, lowerLosses, vote term
}

// newTerms returns the terms at the present x, y and z.
func (a *NewtonCG) newTerms() newtonTerms {
	return newtonTerms{
		lowerGrad: func(w *Turn, dst []float64) { w.LowerGrad(dst, a.x, a.y, allExamples) },
		product: func(w *Turn, dst []float64) { // D v = H v − P(x) v
			w.HVP(dst, a.x, a.y, a.along, a.examples)
			for i, e := range a.e {
				dst[i] -= float64(e * a.along[i])
			}
		},
		adjoint: func(w *Turn, dst []float64) { // ∇_y f − H z, and ∇_x f in u
			w.UpperGrad(w.own(a.u), dst, a.x, a.y, allExamples)
			if w.k > 0 { // z is 0 before
				hz := w.scratch(0, len(dst))
				w.HVP(hz, a.x, a.y, a.z, allExamples)
				linalg.Sub(dst, dst, hz)
			}
		},
		hypergradient: func(w *Turn, dst []float64) { // ∇_x f − J z
			jz := w.scratch(0, len(dst))
			w.JVP(jz, a.x, a.y, a.z, allExamples)
			linalg.Sub(dst, w.own(a.u), jz)
		},
		diagonal: func(w *Turn, dst []float64) {
			if !diagonal(w, dst, a.x, a.y, allExamples) {
				a.estimateDiagonal(w, dst)
			}
			linalg.Sub(dst, dst, a.e)
		},
		upperLoss: func(w *Turn, dst []float64) { dst[0], _ = values(w, a.x, a.y, allExamples) },
		lowerLosses: func(w *Turn, dst []float64) { // after each share of the step −s of y
			trial := w.scratch(0, len(a.y))
			for j, share := range dampedShares {
				linalg.Comb(trial, 1, a.y, -share, a.s)
				_, dst[j] = values(w, a.x, trial, allExamples)
			}
		},
		vote: func(_ *Turn, dst []float64) { dst[0] = a.vote },
	}
}

// probes is the number of products that estimate a diagonal.
const probes = 4

// estimateDiagonal sets dst to the mean of v∘Hv over vectors v of random signs, an unbiased
// estimate of H's diagonal. The standard deviation of entry i is the norm of the other entries of
// row i, divided by √probes. The signs depend on the iteration alone: all agents and a resumed run
// have the same.
func (a *NewtonCG) estimateDiagonal(w *Turn, dst []float64) {
	signs, product := w.scratch(0, len(dst)), w.scratch(1, len(dst))
	clear(dst)
	for t := range probes {
		randomSigns(signs, uint64(w.k*probes+t))
		w.HVP(product, a.x, a.y, signs, allExamples)
		for i, v := range signs {
			dst[i] += float64(v * product[i] / probes)
		}
	}
}
