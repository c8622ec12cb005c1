package network

import (
	"math"
	"slices"

	"dsbo"
	"dsbo/internal/linalg"
)

// stochasticTol bounds how far a row sum may be from 1 and w_ij from w_ji. Sums of at most
// 1024 rounded weights are within 1024·2⁻⁵³ ≈ 1e-13 of 1, decimals of 12 digits pass, and the
// mean of the agents drifts by less than 1e-5 of itself in 100,000 exchanges.
const stochasticTol = 1e-10

// gapMin is the least spectral gap that counts: the computed eigenvalues are within
// about n·2⁻⁵³ ≤ 1e-13 of the true ones.
const gapMin = 1e-12

// Validate returns nil if W satisfies the convergence theory: finite, non-negative, symmetric,
// doubly stochastic (to 1e-10), connected and with ρ < 1. Otherwise the error names the wrong entry
// or row and matches dsbo.ErrConfig. The first call costs O(n³).
func (m *Matrix) Validate() error {
	if err := checkAgents(m.N()); err != nil {
		return err
	}
	for _, check := range []func() error{m.checkEntries, m.checkSums, m.checkConnected, m.checkGap} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkEntries requires finite, non-negative and symmetric entries. Rows ascend, so that the
// entries ji of a row j are met, for i = 0, 1, ..., in the order in which the row has them.
func (m *Matrix) checkEntries() error {
	at := make([]int, m.N()) // how many entries of each row the rows before have had
	for i, row := range m.rows {
		for _, w := range row {
			j := w.Agent
			back := m.rows[j][at[j]].Weight // of entry ji, as an edge is in both rows
			at[j]++
			switch {
			case math.IsNaN(w.Weight) || math.IsInf(w.Weight, 0):
				return dsbo.ConfigErrorf("W[%d][%d] must be finite; it is %v", i, j, w.Weight)
			case w.Weight < 0:
				return dsbo.ConfigErrorf("W[%d][%d] must be 0 or more; it is %v", i, j, w.Weight)
			// An edge has two ends: one weight of 0 is refused even within the tolerance.
			case math.Abs(w.Weight-back) > stochasticTol || (w.Weight == 0) != (back == 0):
				return dsbo.ConfigErrorf("W must be symmetric; W[%d][%d] is %v and W[%d][%d] is %v", i, j,
					w.Weight, j, i, back)
			}
		}
	}
	return nil
}

// checkSums requires that each row sums to 1, and so each column, as W is symmetric.
func (m *Matrix) checkSums() error {
	for i, row := range m.rows {
		sum := 0.0
		for _, w := range row {
			sum += w.Weight
		}
		if math.Abs(sum-1) > stochasticTol {
			return dsbo.ConfigErrorf("row %d of W must sum to 1; it sums to %v", i, sum)
		}
	}
	return nil
}

// checkConnected requires that the graph of the edges is connected.
func (m *Matrix) checkConnected() error {
	for i, d := range m.Distances(0) {
		if d < 0 {
			return dsbo.ConfigErrorf(
				"the graph must be connected; no path of edges leads from agent 0 to agent %d", i)
		}
	}
	return nil
}

// checkGap requires that ρ is below 1.
func (m *Matrix) checkGap() error {
	if rho := m.Rho(); !(rho <= 1-gapMin) {
		return dsbo.ConfigErrorf(
			"ρ of W must be below 1; it is %v (λ_min = %v): give the agents more weight on themselves and on "+
				"their edges",
			rho, m.LambdaMin())
	}
	return nil
}

// components returns the number of each agent's connected component, counted from 0 in
// the order of their first agents.
func components(n int, neighbours func(i int) []int) []int {
	part := slices.Repeat([]int{-1}, n) // −1: not reached yet
	var s search
	for count := 0; ; count++ {
		start := slices.Index(part, -1)
		if start < 0 {
			return part
		}
		s.visit(n, neighbours, n, start)
		for _, i := range s.order {
			part[i] = count
		}
	}
}

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
