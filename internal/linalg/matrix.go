// This file has the matrices of second derivatives of a lower loss that products are taken with,
// and finds eigenvalues of them by products alone.

package linalg

import (
	"math"

	"dsbo"
)

// A Matrix is the curvature matrix of an agent's lower loss that products are taken with, the same
// kind for all agents.
type Matrix struct {
	Kind dsbo.CurvatureMatrix
	Mu   []float64 // μ of a damped Hessian, one number, part of a checkpoint
}

// NewMatrix returns a matrix of a kind, which is not damped yet.
func NewMatrix(kind dsbo.CurvatureMatrix) *Matrix { return &Matrix{kind, make([]float64, 1)} }

// SetDamping sets μ by the least eigenvalue of the averaged Hessian: a tenth more than it takes.
// NaN leaves μ as it is.
func (m *Matrix) SetDamping(least float64) {
	if m.Kind == dsbo.DampedHessian && !math.IsNaN(least) {
		m.Mu[0] = max(0, -1.1*least)
	}
}

// Product writes the product of v with an agent's matrix at (x, y) to dst (length q, as v and y).
func Product(m *Matrix, o dsbo.Oracle, dst, x, y, v []float64, s dsbo.Sample) error {
	switch m.Kind {
	case dsbo.Hessian:
		return o.HVP(dst, x, y, v, s)
	case dsbo.GaussNewton:
		c, err := dsbo.Capabilities(o)
		if err == nil && c.GaussNewton == nil {
			err = dsbo.Errorf(dsbo.ErrCapability, "this problem's oracles have no Gauss-Newton products")
		}
		if err != nil {
			return err
		}
		return c.GaussNewton(dst, x, y, v, s)
	}
	if err := o.HVP(dst, x, y, v, s); err != nil {
		return err
	}
	Axpy(dst, m.Mu[0], v)
	return nil
}

// Damp adds μ to the diagonal of an agent's Hessian, which is the matrix's then, a Gauss-Newton
// matrix's about.
func (m *Matrix) Damp(diagonal []float64) {
	for i := range diagonal {
		diagonal[i] += m.Mu[0]
	}
}
