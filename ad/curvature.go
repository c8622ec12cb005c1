package ad

import (
	"math"
	"math/rand/v2"

	"dsbo"
	"dsbo/internal/linalg"
)

// A Curvature is a symmetric matrix of size Q that is known by its products, such as a Hessian:
//
//	c := ad.Curvature{Q: q, Product: func(dst, v []float64) error { return d.HVP(dst, x, y, v) }}
//
// What it estimates depends on random signs, the same of the same seed.
type Curvature struct {
	Q       int
	Product func(dst, v []float64) error
	Seed    uint64
}

// A Spectrum is a measure on eigenvalues: Weights, whose sum is 1, at Values, which ascend for each
// probe. Its moments are estimates of the mean of powers of all eigenvalues.
type Spectrum struct{ Values, Weights []float64 }

// signs draws a vector of signs.
func (c Curvature) signs(r *rand.Rand) []float64 {
	v := make([]float64, c.Q)
	for i := range v {
		v[i] = 1 - 2*float64(r.Uint64()>>63)
	}
	return v
}

func (c Curvature) random() *rand.Rand { return rand.New(rand.NewPCG(c.Seed, 1)) }

// check refuses fewer products than an estimate takes.
func (c Curvature) check(what string, n, least int) error {
	if n < least || c.Q < 1 {
		return dsbo.ConfigErrorf("%s must be at least %d, of a matrix with at least 1 row; they are %d, of %d rows",
			what, least, n, c.Q)
	}
	return nil
}

// Spectrum returns a spectrum by Lanczos's method from some random vectors, steps products each,
// with all vectors kept orthogonal (stochastic Lanczos quadrature; Golub, Meurant 1993). With as
// many steps as rows its values are all eigenvalues that are distinct.
func (c Curvature) Spectrum(probes, steps int) (s Spectrum, err error) {
	if err := c.check("probes and steps", min(probes, steps), 1); err != nil {
		return s, err
	}
	r := c.random()
	for range probes {
		values, weights, err := c.lanczos(c.signs(r), min(steps, c.Q))
		if err != nil {
			return Spectrum{}, err
		}
		linalg.Scale(weights, 1/float64(probes), weights)
		s.Values, s.Weights = append(s.Values, values...), append(s.Weights, weights...)
	}
	return s, nil
}

// lanczos returns eigenvalues of the matrix on the space of v and its products, and the squares of
// the shares that v has of their vectors.
func (c Curvature) lanczos(v []float64, steps int) (values, weights []float64, err error) {
	linalg.Scale(v, 1/linalg.Norm(v), v)
	basis := [][]float64{v}
	var diagonal, off []float64
	for {
		k := len(diagonal)
		w := make([]float64, c.Q)
		if err := c.Product(w, basis[k]); err != nil {
			return nil, nil, err
		}
		diagonal = append(diagonal, linalg.Dot(w, basis[k]))
		size := linalg.Norm(w)
		rest := orthogonalTo(w, basis)
		if k+1 == steps || !(rest > 1e-12*size) { // the space is whole
			break
		}
		linalg.Scale(w, 1/rest, w)
		basis, off = append(basis, w), append(off, rest)
	}
	n := len(diagonal)
	t, values := make([]float64, n*n), make([]float64, n)
	for i, d := range diagonal {
		if t[i*n+i] = d; i > 0 {
			t[i*n+i-1], t[(i-1)*n+i] = off[i-1], off[i-1]
		}
	}
	if !linalg.Eigen(n, t, values, make([]float64, linalg.Work(n))) {
		return nil, nil, dsbo.ConfigErrorf("products of a curvature must be finite")
	}
	for i := range n {
		weights = append(weights, float64(t[i*n]*t[i*n]))
	}
	return values, weights, nil
}

// orthogonalTo takes what w has of a basis off, twice, and returns the norm of the rest.
func orthogonalTo(w []float64, basis [][]float64) float64 {
	for range 2 {
		for _, b := range basis {
			linalg.Axpy(w, -linalg.Dot(w, b), b)
		}
	}
	return linalg.Norm(w)
}

// Trace returns the trace, and about the standard error of it, by Hutch++ (Meyer, Musco, Musco,
// Woodruff 2021), with a number of products, at least 6: a third finds where the matrix is large,
// a third is exact there, and a third estimates the rest.
func (c Curvature) Trace(products int) (trace, deviation float64, err error) {
	if err := c.check("products", products, 6); err != nil {
		return 0, 0, err
	}
	r, w := c.random(), make([]float64, c.Q)
	var basis [][]float64
	for range min(products/3, c.Q) {
		v := make([]float64, c.Q)
		if err := c.Product(v, c.signs(r)); err != nil {
			return 0, 0, err
		}
		size := linalg.Norm(v)
		if rest := orthogonalTo(v, basis); rest > 1e-12*size {
			linalg.Scale(v, 1/rest, v)
			basis = append(basis, v)
		}
	}
	for _, b := range basis {
		if err := c.Product(w, b); err != nil {
			return 0, 0, err
		}
		trace += linalg.Dot(w, b)
	}
	if len(basis) == c.Q {
		return trace, 0, nil
	}
	rest := make([]float64, products/3)
	mean := 0.
	for i := range rest {
		v := c.signs(r)
		orthogonalTo(v, basis)
		if err := c.Product(w, v); err != nil {
			return 0, 0, err
		}
		rest[i] = linalg.Dot(w, v)
		mean += rest[i] / float64(len(rest))
	}
	squares := 0.
	for _, v := range rest {
		squares += float64((v - mean) * (v - mean))
	}
	return trace + mean, math.Sqrt(squares / float64(len(rest)*(len(rest)-1))), nil
}

// Diagonal writes an estimate of the diagonal to dst: the mean of v∘Hv over random signs v (Bekas,
// Kokiopoulou, Saad 2007). It is exact where the matrix is diagonal; of entry i the variance of one
// product is the sum of squares of its row, without the diagonal.
func (c Curvature) Diagonal(dst []float64, products int) error {
	if err := c.check("products", products, 1); err != nil {
		return err
	}
	r, w := c.random(), make([]float64, c.Q)
	clear(dst)
	for range products {
		v := c.signs(r)
		if err := c.Product(w, v); err != nil {
			return err
		}
		for i := range dst {
			dst[i] += float64(v[i]*w[i]) / float64(products)
		}
	}
	return nil
}
