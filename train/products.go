package train

import (
	"math"

	"dsbo"
	"dsbo/internal/vec"
)

// A matrixProducts is what an agent's products with second derivatives of its lower loss are of, the same for all agents.
type matrixProducts struct {
	matrix dsbo.CurvatureMatrix
	mu     []float64 // μ of a damped Hessian, one number
}

// newMatrixProducts returns products with a matrix, which is not damped yet.
func newMatrixProducts(m dsbo.CurvatureMatrix) *matrixProducts {
	return &matrixProducts{m, make([]float64, 1)}
}

// setDamping sets μ by the least eigenvalue of the averaged Hessian: a tenth more than it takes. NaN leaves μ as it is.
func (c *matrixProducts) setDamping(least float64) {
	if c.matrix == dsbo.DampedHessian && !math.IsNaN(least) {
		c.mu[0] = max(0, -1.1*least)
	}
}

// product writes the product of v with an agent's matrix to dst.
func (c *matrixProducts) product(o dsbo.Oracle, dst, x, y, v []float64, s dsbo.Sample) error {
	if c.matrix == dsbo.GaussNewton {
		g, err := oracleAs[dsbo.GaussNewtonOracle](o, "Gauss-Newton products")
		if err != nil {
			return err
		}
		return g.GaussNewton(dst, x, y, v, s)
	}
	if err := o.HVP(dst, x, y, v, s); err != nil {
		return err
	}
	vec.Axpy(dst, c.mu[0], v)
	return nil
}

// diagonal writes the diagonal of an agent's matrix to dst, that of a Gauss-Newton matrix about: it is the Hessian's.
func (c *matrixProducts) diagonal(o dsbo.DiagonalOracle, dst, x, y []float64, s dsbo.Sample) error {
	if err := o.Diagonal(dst, x, y, s); err != nil {
		return err
	}
	for i := range dst {
		dst[i] += c.mu[0]
	}
	return nil
}
