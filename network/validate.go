package network

import (
	"math"
	"slices"

	"dsbo"
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
// the order of their first agents. Where edges have a direction, component 0 has the agents to
// which they lead from agent 0.
func components(n int, neighbours func(i int) []int) []int {
	part := slices.Repeat([]int{-1}, n) // −1: not reached yet
	count := 0
	for start := range n {
		if part[start] >= 0 {
			continue
		}
		part[start] = count
		for queue := []int{start}; len(queue) > 0; queue = queue[1:] {
			for _, j := range neighbours(queue[0]) {
				if part[j] < 0 {
					part[j] = count
					queue = append(queue, j)
				}
			}
		}
		count++
	}
	return part
}
