package network

import (
	"math"
	"slices"

	"dsbo/internal/linalg"
)

// Eigenvalues returns the n eigenvalues of W in descending order, in new memory, or nil if W
// is not finite, non-negative and symmetric. The first call costs O(n³); later ones, and
// [Matrix.Rho] and [Matrix.LambdaMin], share its result.
func (m *Matrix) Eigenvalues() []float64 {
	m.spectrum.Do(func() {
		if m.N() == 0 || m.checkEntries() != nil {
			return
		}
		n := m.N()
		a, values := make([]float64, n*n), make([]float64, n)
		for i, row := range m.rows {
			for _, w := range row {
				a[i*n+w.Agent], a[w.Agent*n+i] = w.Weight, w.Weight
			}
		}
		if !linalg.Eigenvalues(n, a, values) {
			return
		}
		slices.Reverse(values)
		m.eigenvalues = values
	})
	return slices.Clone(m.eigenvalues)
}

// Rho returns ρ = max(|λ_2|, |λ_n|): one exchange brings the agents closer to their mean by
// this factor. It is 0 for one agent and NaN if there is no spectrum.
func (m *Matrix) Rho() float64 {
	e := m.Eigenvalues()
	switch len(e) {
	case 0:
		return math.NaN()
	case 1:
		return 0
	}
	return max(math.Abs(e[1]), math.Abs(e[len(e)-1]))
}

// LambdaMin returns λ_n, the least eigenvalue, or NaN if there is no spectrum. Methods that need
// W to be positive semidefinite use (I+W)/2 where it is negative.
func (m *Matrix) LambdaMin() float64 {
	e := m.Eigenvalues()
	if len(e) == 0 {
		return math.NaN()
	}
	return e[len(e)-1]
}
