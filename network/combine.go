package network

import "dsbo/internal/linalg"

// Combine sets dst = Σ_k row[k].Weight · in[k], summed in the order of k, each product
// rounded before it is added: the sum of every transport, so that all give the same bits. The
// vectors have the length of dst; none may overlap it.
func Combine(dst []float64, row []Weight, in [][]float64) {
	linalg.EachBlock(len(dst), func(from, to int) { combineBlock(dst[from:to], row, in, from, to) })
}

// combineBlock is Combine for entries from..to, which dst has.
func combineBlock(dst []float64, row []Weight, in [][]float64, from, to int) {
	if len(row) == 1 {
		linalg.Scale(dst, row[0].Weight, in[0][from:to])
		return
	}
	linalg.Comb(dst, row[0].Weight, in[0][from:to], row[1].Weight, in[1][from:to])
	for k := 2; k < len(row); k++ {
		linalg.Axpy(dst, row[k].Weight, in[k][from:to])
	}
}

// A Combiner is what every transport makes of the vectors that an agent has after an exchange, by
// the mixing of the matrix. It belongs to one goroutine at a time.
type Combiner struct {
	mixing Mixing                              // rule by which vectors are combined
	row    []Weight                            // of the agent's neighbours and itself
	self   int                                 // the position of the agent itself in row
	by     func(dst []float64, in [][]float64) // how to combine the next vectors; nil: by the mixing
	parts  []int                               // lengths of the parts of the next vectors; the rest is one more

	views     [][]float64 // terms of one part
	weights   []Weight    // of Clipped: row with the weights that count
	distances []float64   // of Clipped, by position
	sorted    []float64   // of Clipped: distances of neighbours; of Trimmed: an entry of the neighbours
}

// Combiner returns the end of agent i.
func (m *Matrix) Combiner(i int) *Combiner {
	c := &Combiner{mixing: m.Mixing(), row: m.rows[i], views: make([][]float64, len(m.rows[i]))}
	for c.row[c.self].Agent != i {
		c.self++
	}
	if c.mixing != (Plain{}) {
		c.weights, c.distances, c.sorted = make([]Weight, len(c.row)), make([]float64, len(c.row)),
			make([]float64, len(c.row)-1)
	}
	return c
}

// Part says how long part k of the vectors of the next Combine is, see [dsbo.PartMixer].
func (c *Combiner) Part(k, length int) { c.parts = append(c.parts[:k], length) }

// CombineBy says how the next Combine combines, see [dsbo.CombiningMixer].
func (c *Combiner) CombineBy(by func(dst []float64, in [][]float64)) error {
	c.by = by
	return nil
}

// Combine sets dst to the agent's part of an exchange; in has the vectors of the agents in the
// order of the matrix's row. The vectors have the length of dst; none may overlap it.
func (c *Combiner) Combine(dst []float64, in [][]float64) {
	if by := c.by; by != nil {
		c.by, c.parts = nil, c.parts[:0]
		by(dst, in)
		return
	}
	if c.mixing == (Plain{}) { // linear: parts make no difference
		Combine(dst, c.row, in)
		return
	}
	lo := 0
	for k := 0; lo < len(dst); k++ {
		hi := len(dst)
		if k < len(c.parts) {
			hi = min(lo+c.parts[k], hi)
		}
		for j, v := range in {
			c.views[j] = v[lo:hi]
		}
		c.mixing.combine(c, dst[lo:hi], c.views)
		lo = hi
	}
	c.parts = c.parts[:0]
}
