package train

import (
	"context"
	"fmt"
	"math"

	"dsbo"
	"dsbo/internal/symmetric"
	"dsbo/internal/vec"
)

// LanczosMost is the number of products that a least eigenvalue takes at most.
const LanczosMost = 30

// lanczosTol is the error of a least eigenvalue at which no more products are taken: as a share of it, or a hundred times as a share of
// the eigenvalue of the largest size.
const lanczosTol = 0.05

// LeastEigenvalue returns about the least eigenvalue of the Hessian ∇²_yy g(x, y) of the averaged lower loss on all examples, by the
// method of Lanczos (1950): the least Ritz value of at most 30 products, each over all agents, which is never below the eigenvalue
// and rarely above it by more than a twentieth. All agents find the same bits. x and y (lengths p and q, the same in all processes)
// are not changed. It keeps three vectors of length q: without the others, that it has been orthogonal to, Ritz values come twice at
// worst. It is NaN where products are not finite.
func (p Problem) LeastEigenvalue(ctx context.Context, x, y []float64) (float64, error) {
	g, err := p.group()
	if err != nil {
		return 0, err
	}
	return p.leastEigenvalue(ctx, g, x, y)
}

// leastEigenvalue is LeastEigenvalue by way of a group.
func (p Problem) leastEigenvalue(ctx context.Context, g *group, x, y []float64) (float64, error) {
	least, err := lanczos(len(y), func(dst, v []float64) error {
		return g.mean(ctx, g.fineWire(), dst, func(i int, part []float64) error {
			if err := p.oracle(i).HVP(part, x, y, v, allExamples); err != nil {
				return fmt.Errorf("agent %d: %w", i, err)
			}
			return nil
		})
	})
	if err != nil {
		return 0, fmt.Errorf("least eigenvalue: %w", err)
	}
	return least, nil
}

// oracle returns the oracle that evaluation asks, that of agent i.
func (p Problem) oracle(i int) dsbo.Oracle {
	if p.Evaluate != nil {
		return p.Evaluate[i]
	}
	return p.Oracles[i]
}

// lanczos returns about the least eigenvalue of a symmetric matrix of size q that is known by its products; NaN where these are not finite.
func lanczos(q int, product func(dst, v []float64) error) (float64, error) {
	v, before, next := make([]float64, q), make([]float64, q), make([]float64, q)
	spreadVector(v)
	var diagonal, off []float64 // of the tridiagonal matrix: α_1 ..., β_1 ...
	beta := 0.0
	for {
		if err := product(next, v); err != nil {
			return 0, err
		}
		alpha := vec.Dot(next, v)
		diagonal = append(diagonal, alpha)
		vec.Axpy(next, -alpha, v)
		vec.Axpy(next, -beta, before)
		beta = vec.Norm(next)
		if !(math.Abs(alpha) <= math.MaxFloat64 && beta <= math.MaxFloat64) {
			return math.NaN(), nil
		}
		least, largest, last := ritz(diagonal, off)
		// β |last| bounds how far the nearest eigenvalue is.
		if beta*last <= max(lanczosTol*math.Abs(least), 0.01*lanczosTol*largest) || len(diagonal) == min(q, LanczosMost) {
			return least, nil
		}
		off = append(off, beta)
		v, before, next = next, v, before
		vec.Scale(v, 1/beta, v)
	}
}

// ritz returns the least eigenvalue of a symmetric tridiagonal matrix, the largest in size, and the last entry of the least one's unit
// vector, both as they are in size.
func ritz(diagonal, off []float64) (least, largest, last float64) {
	n := len(diagonal)
	vectors, values := make([]float64, n*n), make([]float64, n)
	for i, d := range diagonal {
		vectors[i*n+i] = d
		if i < n-1 {
			vectors[i*n+i+1], vectors[(i+1)*n+i] = off[i], off[i]
		}
	}
	if !symmetric.Eigen(n, vectors, values, make([]float64, symmetric.Work(n))) {
		return math.NaN(), 0, 0
	}
	return values[0], max(math.Abs(values[0]), math.Abs(values[n-1])), math.Abs(vectors[n-1])
}

// spreadVector fills v with a unit vector that has a share of every direction and is the same each time: fractions of multiples of the
// golden ratio.
func spreadVector(v []float64) {
	for i := range v {
		_, f := math.Modf(float64(float64(i+1) * math.Phi))
		v[i] = f - 0.5
	}
	vec.Scale(v, 1/vec.Norm(v), v)
}
