package network

import (
	"math"
	"slices"

	"dsbo/internal/linalg"
)

// mostDense is the number of agents up to which all eigenvalues are found, in O(n³) time and O(n²)
// memory: of more the extreme ones alone.
const mostDense = 1024

// A spectrum is the eigenvalues of W that matter.
type spectrum struct {
	second, least float64 // λ_2, of one agent λ_1, and λ_n; NaN where they do not exist
}

// Rho returns ρ = max(|λ_2|, |λ_n|): one exchange brings the agents closer to their mean by
// this factor. It is 0 for one agent and NaN if there is no spectrum: W is not finite, non-negative
// and symmetric. Of more than 1024 agents 1−ρ is known to some millionths of it. The first call
// costs O(n³); later ones, and [Matrix.LambdaMin], share its result.
func (m *Matrix) Rho() float64 {
	if m.N() == 1 {
		return 0
	}
	s := m.eigenvalues()
	return max(math.Abs(s.second), math.Abs(s.least))
}

// LambdaMin returns λ_n, the least eigenvalue, or NaN if there is no spectrum. Methods that need
// W to be positive semidefinite use (I+W)/2 where it is negative.
func (m *Matrix) LambdaMin() float64 { return m.eigenvalues().least }

// findSpectrum finds the eigenvalues, of up to mostDense agents all of them. The matrix is taken as
// exactly symmetric: of two entries that differ by rounding the later one counts.
func (m *Matrix) findSpectrum() spectrum {
	n := m.N()
	switch {
	case m.checkEntries() != nil:
		return spectrum{math.NaN(), math.NaN()}
	case n > mostDense:
		return m.extremes()
	}
	a, values := make([]float64, n*n), make([]float64, n)
	for i, row := range m.rows {
		for _, w := range row {
			a[i*n+w.Agent], a[w.Agent*n+i] = w.Weight, w.Weight
		}
	}
	if !linalg.Eigenvalues(n, a, values) { // which ascend
		return spectrum{math.NaN(), math.NaN()}
	}
	return spectrum{values[max(n-2, 0)], values[0]}
}

// extremes finds λ_2 and λ_n by products with W − (1−θ) J/n. It has the eigenvalues of W, but in
// the place of 1 the mean θ of the others.
func (m *Matrix) extremes() spectrum {
	theta := -1.0
	for i, row := range m.rows {
		at, _ := slices.BinarySearchFunc(row, i, func(w Weight, i int) int { return w.Agent - i })
		theta += row[at].Weight
	}
	theta /= float64(m.N() - 1)
	product := func(dst, v []float64) {
		mean := 0.0
		for _, x := range v {
			mean += x
		}
		mean /= float64(len(v))
		for i, row := range m.rows {
			dst[i] = (theta - 1) * mean
			for _, w := range row {
				dst[i] += float64(w.Weight * v[w.Agent])
			}
		}
	}
	least, second := linalg.Extremes(m.N(), product, func(before, now float64) bool {
		return math.Abs(now-before) <= 1e-6*(1-math.Abs(now))
	})
	return spectrum{second, least}
}
