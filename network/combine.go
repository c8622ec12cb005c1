package network

import "dsbo/internal/vec"

// combineBlock numbers of dst, 4 KiB, stay in the first-level cache while further
// terms are added to them.
const combineBlock = 512

// Combine sets dst = Σ_k row[k].Weight · in[k], summed in the order of k, each product
// rounded before it is added: the sum of every transport, so that all give the same bits. The
// vectors have the length of dst; none may overlap it.
func Combine(dst []float64, row []Weight, in [][]float64) {
	for lo := 0; lo < len(dst); lo += combineBlock {
		hi := min(lo+combineBlock, len(dst))
		d := dst[lo:hi]
		vec.Scale(d, row[0].Weight, in[0][lo:hi])
		for k := 1; k < len(row); k++ {
			vec.Axpy(d, row[k].Weight, in[k][lo:hi])
		}
	}
}

// A Combiner is what every transport makes of the vectors that an agent has after an exchange, by the mixing of the matrix. It
// belongs to one goroutine at a time.
type Combiner struct {
	mixing Mixing
	row    []Weight // of the agent's neighbours and itself
	own    int      // the position of the agent itself in row
	parts  []int    // lengths of the parts of the next vectors; what is left is one more part

	views     [][]float64 // terms of one part
	weights   []Weight    // of Clipped: row with the weights that count
	distances []float64   // of Clipped, by position
	sorted    []float64   // of Clipped: distances of neighbours; of Trimmed: an entry of the neighbours
}

// Combiner returns the end of agent i.
func (m *Matrix) Combiner(i int) *Combiner {
	c := &Combiner{mixing: m.Mixing(), row: m.rows[i], views: make([][]float64, len(m.rows[i]))}
	for c.row[c.own].Agent != i {
		c.own++
	}
	if c.mixing != (Plain{}) {
		c.weights, c.distances, c.sorted = make([]Weight, len(c.row)), make([]float64, len(c.row)), make([]float64, len(c.row)-1)
	}
	return c
}

// Part says how long part k of the vectors of the next Combine is, see [dsbo.PartMixer].
func (c *Combiner) Part(k, length int) { c.parts = append(c.parts[:k], length) }

// Combine sets dst to the agent's part of an exchange; in has the vectors of the agents in the order of the matrix's row. The vectors
// have the length of dst; none may overlap it.
func (c *Combiner) Combine(dst []float64, in [][]float64) {
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
