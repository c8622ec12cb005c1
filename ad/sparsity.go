package ad

import (
	"math"
	"slices"

	"dsbo"
	"dsbo/ad/internal/engine"
)

// A Sparsity is which entries of a Hessian by y may be other than 0, and colours of y by which few
// products have them all.
type Sparsity struct {
	beside [][]int32 // by entry of y: which it meets, ascending, with itself
	colour []int
	count  int
}

// Products returns how many products a Hessian takes.
func (s *Sparsity) Products() int { return s.count }

// Sparsity finds which entries of y meet in second derivatives, for the rows that are bound: those
// that a NaN reaches through the steps of a product. It costs Q products, in blocks. Choices such
// as ReLU and Where are as they are at this point.
func (d *Derivs) Sparsity(x, y []float64) (*Sparsity, error) {
	q := d.f.Q
	s := &Sparsity{beside: make([][]int32, q)}
	for from := 0; from < q; from += engine.Lanes {
		n := min(engine.Lanes, q-from)
		vs, dst := make([]float64, n*q), make([]float64, n*q)
		for k := range n {
			vs[k*q+from+k] = math.NaN()
		}
		if err := d.HVPs(dst, x, y, vs); err != nil {
			return nil, err
		}
		for at, v := range dst {
			if k := from + at/q; v != v || at%q == k {
				s.beside[at%q] = append(s.beside[at%q], int32(k))
			}
		}
	}
	s.chooseColours()
	return s, nil
}

// chooseColours gives entries that meet different colours, and no path of four entries two colours
// alone: of two that meet, one meets no other of the other's colour (star colouring; Gebremedhin,
// Manne, Pothen 2005).
func (s *Sparsity) chooseColours() {
	order := make([]int32, len(s.beside)) // those that meet most first: a hub's other entries share a colour then
	for v := range order {
		order[v] = int32(v)
		s.colour = append(s.colour, -1)
	}
	slices.SortStableFunc(order, func(v, w int32) int { return len(s.beside[w]) - len(s.beside[v]) })
	for _, v := range order {
		used := map[int]bool{}
		for _, w := range s.beside[v] {
			used[s.colour[w]] = true
			for _, x := range s.beside[w] {
				if c := s.colour[w]; c < 0 || s.meets(x, c, w) || s.meets(v, c, w) {
					used[s.colour[x]] = true
				}
			}
		}
		c := 0
		for used[c] {
			c++
		}
		s.colour[v], s.count = c, max(s.count, c+1)
	}
}

// meets reports whether x meets another entry of a colour than w.
func (s *Sparsity) meets(x int32, colour int, w int32) bool {
	return slices.ContainsFunc(s.beside[x], func(y int32) bool { return y != w && s.colour[y] == colour })
}

// SparseHessian returns ∇²_yy by a product for each colour. One product more, of a random
// vector, must be the matrix's: a Hessian with other entries, by other rows or choices, is refused.
func (d *Derivs) SparseHessian(s *Sparsity, x, y []float64) (*SparseMatrix, error) {
	q := d.f.Q
	if len(s.beside) != q {
		return nil, dsbo.ShapeErrorf("a sparsity must be of %d entries of y; it is of %d", q, len(s.beside))
	}
	vs := make([]float64, s.count*q)
	for j, c := range s.colour {
		vs[c*q+j] = 1
	}
	r, drawn := Curvature{}.random(), make([]float64, q)
	for j := range drawn {
		drawn[j] = 1 + float64(r.Float64())
	}
	vs = append(vs, drawn...)
	dst := make([]float64, len(vs))
	if err := d.HVPs(dst, x, y, vs); err != nil {
		return nil, err
	}
	starts, columns, values := []int{0}, []int32{}, []float64{}
	for i, neighbours := range s.beside {
		sum, size := 0., 0.
		for _, j := range neighbours {
			h := dst[s.colour[j]*q+i]
			if s.meets(int32(i), s.colour[j], j) { // then j meets no other of i's colour
				h = dst[s.colour[i]*q+int(j)]
			}
			columns, values = append(columns, j), append(values, h)
			sum += float64(h * drawn[j])
			size += math.Abs(h)
		}
		starts = append(starts, len(columns))
		if got := dst[s.count*q+i]; !(math.Abs(got-sum) <= 1e-6*size) && got != sum {
			return nil, dsbo.ConfigErrorf("the Hessian must have the entries of its sparsity alone; in row %d the "+
				"product is %.4g, by these entries %.4g: find the sparsity anew", i, got, sum)
		}
	}
	return NewSparseMatrix(q, q, starts, columns, values)
}

// Row returns the columns of row i with numbers, ascending, and the numbers.
func (s *SparseMatrix) Row(i int) (columns []int32, values []float64) {
	return s.indices[s.starts[i]:s.starts[i+1]], s.f64[s.starts[i]:s.starts[i+1]]
}
