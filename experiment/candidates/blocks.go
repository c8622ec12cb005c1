package candidates

import (
	"fmt"
	"strings"

	"dsbo/internal/linalg"
	"dsbo/runs"
)

// Of the search for the penalties of blocks: the deviation of log-penalties around a common value,
// the most solutions, and the share of Φ by which one more is to lower it.
const (
	blockDeviation = 2
	mostBlocks     = 25
	blockPromise   = 1e-6
)

// tuneBlocks finds the penalties of the named blocks by the hypergradient of the cross-fitted loss,
// from one penalty for all on. Penalties far from the common value count as unlikely.
func (s *Structures) tuneBlocks(ridge *Structure) error {
	f, n := s.fit, len(s.fit.Blocks.Names)
	st := f.newStructure("", nil, 0)
	s.List = append(s.List, st)
	first, err := f.atBlocks(st, make([]float64, n+1), ridge.Strength, ridge.y, nil)
	if err != nil {
		return err
	}
	search := newDownhill(first)
	for solved := 1; search.worth(solved, mostBlocks, blockPromise); solved++ {
		next, err := f.atBlocks(st, search.trial(), ridge.Strength, search.best.Y, search.best.z)
		if err != nil {
			return err
		}
		search.accept(next)
	}
	theta, values := search.best.X, make([]string, n)
	for k, name := range f.Blocks.Names {
		values[k] = fmt.Sprintf("%s %.3g", name, ridge.Strength+theta[n]+theta[k])
	}
	st.Name = "blocks: " + strings.Join(values, ", ")
	for _, penalties := range st.penalties {
		for j, block := range f.Blocks.Of {
			penalties[j] = theta[block]
		}
	}
	t, err := f.judge(search.best.Y)
	f.settleAt(st, ridge.Strength+theta[n], t)
	return err
}

// atBlocks returns the models at the log-penalties theta of the blocks, of which the last entry is
// added to all, around a strength.
func (f *crossFit) atBlocks(st *Structure, theta []float64, strength float64, y, z []float64) (*Model, error) {
	n, count := len(theta)-1, f.Model.Count
	x := make([]float64, count*f.features)
	for at := range x {
		x[at] = f.penalty(theta[f.Blocks.Of[at%f.features]], strength+theta[n])
	}
	sol, err := f.parts.SolveNear(f.ctx, x, y, z)
	if err != nil {
		return nil, err
	}
	st.Products += sol.Products
	st.Solutions++
	m := NewModel("", runs.Unknown(), theta)
	m.Y, m.z, m.Converged, m.gradient = sol.Y, sol.Z, true, make([]float64, n+1)
	for at, slope := range sol.Gradient {
		if x[at] == f.least {
			continue
		}
		m.gradient[f.Blocks.Of[at%f.features]] += slope
		m.gradient[n] += slope
	}
	v, squares := 1.0, linalg.Dot(theta[:n], theta[:n])
	if f.Variance { // the prior follows Φ
		v = 2 * sol.Phi
		linalg.Scale(m.gradient, 1+squares/(blockDeviation*blockDeviation*f.rows), m.gradient)
	}
	prior := v / (2 * blockDeviation * blockDeviation * f.rows)
	linalg.Axpy(m.gradient[:n], 2*prior, theta[:n])
	m.Phi = runs.Number(sol.Phi + float64(prior*squares))
	return m, nil
}
