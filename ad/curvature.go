package ad

import (
	"math"
	"math/rand/v2"
	"slices"

	"dsbo"
	"dsbo/ad/internal/engine"
	"dsbo/internal/linalg"
)

// A Curvature is a symmetric matrix of size Q that is known by its products, such as a Hessian:
//
//	c := ad.Curvature{Q: q,
//		Products: func(dst, vs []float64) error { return d.HVPs(dst, x, y, vs) }}
//
// What it estimates depends on random signs, the same of the same seed.
type Curvature struct {
	Q       int
	Product func(dst, v []float64) error
	// Products has the products of the vectors in vs, which are one after another; nil: Product is
	// asked for each.
	Products func(dst, vs []float64) error
	Seed     uint64
}

// products returns the products of vectors.
func (c Curvature) products(vs [][]float64) (products [][]float64, err error) {
	dst := make([]float64, len(vs)*c.Q)
	for w := range slices.Chunk(dst, c.Q) {
		if products = append(products, w); c.Products == nil && err == nil {
			err = c.Product(w, vs[len(products)-1])
		}
	}
	if c.Products != nil {
		err = c.Products(dst, slices.Concat(vs...))
	}
	return products, err
}

// A Spectrum is a measure on eigenvalues: Weights, whose sum is 1, at Values, which ascend for each
// probe. Its moments are estimates of the mean of powers of all eigenvalues.
type Spectrum struct{ Values, Weights []float64 }

// signs draws vectors of signs.
func (c Curvature) signs(r *rand.Rand, n int) (vs [][]float64) {
	for range n {
		v := make([]float64, c.Q)
		for i := range v {
			v[i] = 1 - 2*float64(r.Uint64()>>63)
		}
		vs = append(vs, v)
	}
	return vs
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
	chains := make([]krylov, probes)
	for i, v := range c.signs(c.random(), probes) {
		linalg.Scale(v, 1/linalg.Norm(v), v)
		chains[i].basis = [][]float64{v}
	}
	for range min(steps, c.Q) {
		var ends [][]float64 // of the chains that go on; one whose space is closed has no vector without a product
		for i := range chains {
			if k := len(chains[i].diagonal); k < len(chains[i].basis) {
				ends = append(ends, chains[i].basis[k])
			}
		}
		ws, err := c.products(ends)
		if err != nil {
			return s, err
		}
		for i := range chains {
			if l := &chains[i]; len(l.diagonal) < len(l.basis) {
				l.lengthen(ws[0])
				ws = ws[1:]
			}
		}
	}
	for i := range chains {
		values, weights, err := chains[i].values()
		if err != nil {
			return Spectrum{}, err
		}
		linalg.Scale(weights, 1/float64(probes), weights)
		s.Values, s.Weights = append(s.Values, values...), append(s.Weights, weights...)
	}
	return s, nil
}

// A krylov is a vector with its products, orthogonal to each other, and the matrix on their space,
// by its diagonal and what is beside it.
type krylov struct {
	basis         [][]float64
	diagonal, off []float64
}

// lengthen adds the product w of the last vector, unless the space is whole.
func (l *krylov) lengthen(w []float64) {
	l.diagonal = append(l.diagonal, linalg.Dot(w, l.basis[len(l.diagonal)]))
	size := linalg.Norm(w)
	if rest := orthogonalTo(w, l.basis); rest > 1e-12*size {
		linalg.Scale(w, 1/rest, w)
		l.basis, l.off = append(l.basis, w), append(l.off, rest)
	}
}

// values returns the eigenvalues of the matrix on the space, and the squares of the shares that the
// first vector has of their vectors.
func (l *krylov) values() (values, weights []float64, err error) {
	n := len(l.diagonal)
	t, values := make([]float64, n*n), make([]float64, n)
	for i, d := range l.diagonal {
		if t[i*n+i] = d; i > 0 {
			t[i*n+i-1], t[(i-1)*n+i] = l.off[i-1], l.off[i-1]
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
	third := products / 3
	r := c.random()
	large, err := c.products(c.signs(r, min(third, c.Q)))
	if err != nil {
		return 0, 0, err
	}
	var found basis
	for _, v := range large {
		found.add(v, v)
	}
	basis := found.images[:found.n] // orthonormal
	there, err := c.products(basis)
	if err != nil {
		return 0, 0, err
	}
	for i, w := range there {
		trace += linalg.Dot(w, basis[i])
	}
	if len(basis) == c.Q { // of the whole space: nothing is left to estimate
		return trace, 0, nil
	}
	vs := c.signs(r, third)
	for _, v := range vs {
		orthogonalTo(v, basis)
	}
	ws, err := c.products(vs)
	if err != nil {
		return 0, 0, err
	}
	rest, mean := make([]float64, third), 0.
	for i, w := range ws {
		rest[i] = linalg.Dot(w, vs[i])
		mean += rest[i] / float64(third)
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
	r := c.random()
	clear(dst)
	for done := 0; done < products; done += engine.Lanes {
		vs := c.signs(r, min(engine.Lanes, products-done))
		ws, err := c.products(vs)
		if err != nil {
			return err
		}
		for k, v := range vs {
			for i := range dst {
				dst[i] += float64(v[i]*ws[k][i]) / float64(products)
			}
		}
	}
	return nil
}
