package network

import "dsbo/internal/linalg"

// Combine sets dst = Σ_k row[k].Weight · in[k], summed in the order of k, each product
// rounded before it is added: the sum of every transport, so that all give the same bits. The
// vectors have the length of dst; none may overlap it.
func Combine(dst []float64, row []Weight, in [][]float64) {
	linalg.EachBlock(len(dst), func(from, to int) {
		part := dst[from:to]
		if len(row) == 1 {
			linalg.Scale(part, row[0].Weight, in[0][from:to])
			return
		}
		linalg.Comb(part, row[0].Weight, in[0][from:to], row[1].Weight, in[1][from:to])
		for k := 2; k < len(row); k++ {
			linalg.Axpy(part, row[k].Weight, in[k][from:to])
		}
	})
}

// A Combiner is what every transport makes of the vectors that an agent has after an exchange, by
// the weights of the matrix. It belongs to one goroutine at a time.
type Combiner struct {
	row []Weight                            // of the agent's neighbours and itself
	by  func(dst []float64, in [][]float64) // how to combine the next vectors; nil: by row
}

// Combiner returns the end of agent i.
func (m *Matrix) Combiner(i int) *Combiner { return &Combiner{row: m.rows[i]} }

// CombineBy implements [Reducer], for the next Combine.
func (c *Combiner) CombineBy(by func(dst []float64, in [][]float64)) { c.by = by }

// Combine sets dst to the agent's part of an exchange; in has the vectors of the agents in the
// order of the matrix's row. The vectors have the length of dst; none may overlap it.
func (c *Combiner) Combine(dst []float64, in [][]float64) {
	if by := c.by; by != nil {
		c.by = nil
		by(dst, in)
		return
	}
	Combine(dst, c.row, in)
}
