package experiment

import (
	"fmt"

	"dsbo"
)

// chooseMatrix returns the matrix of a problem's products: the one of -curvature, else the Hessian.
func (s *Settings) chooseMatrix(p *problem) (m dsbo.CurvatureMatrix, err error) {
	if m = s.Matrix; m == dsbo.Hessian {
		return m, nil
	}
	if s.Privacy != nil {
		return m, dsbo.ConfigErrorf("-curvature must be hessian with differential privacy; it is %v", m)
	}
	if m != dsbo.GaussNewton {
		return m, nil
	}
	// whether the lower loss marks its outputs, which the model knows
	np, nq := p.model.Dims()
	one, zero := p.Oracles[p.local[0]].(dsbo.GaussNewtonOracle), make([]float64, nq)
	err = one.GaussNewton(make([]float64, nq), make([]float64, np), zero, zero, dsbo.Sample{Set: dsbo.Whole})
	if err != nil {
		return m, fmt.Errorf("-curvature %v: %w", m, err)
	}
	return m, nil
}
