package nn

import (
	"fmt"
	"math"

	"dsbo/ad"
	"dsbo/internal/num"
)

// Attend builds softmax(Q Kᵀ/√d) V for each of n sequences: queries and keys have d columns, and
// keys and values as many rows. Each is the stacked matrices of all sequences; so is the result, a
// row for each query.
//
// Masks, such as [Causal] and [Padding], are added to the scores Q Kᵀ/√d: matrices with a row for
// each query and a column for each key, of one sequence, and then the same for all, or of all
// sequences, stacked. What a query attends to that stacked masks leave no key, as in a sequence
// that is padding alone, does not depend on scores.
func Attend(queries, keys, values *ad.Node, n int, masks ...*ad.Node) *ad.Node {
	_, d := ad.Dims(queries)
	scale := 1 / math.Sqrt(float64(d))
	scores := ad.BatchMatMul(ad.Scale(scale, queries), keys, n, false, true)
	rows, cols := ad.Dims(scores)
	for _, mask := range masks {
		if r, _ := ad.Dims(mask); r == rows { // of all sequences
			// clipped from below all masked scores are equal, and have no derivative
			scores = ad.Clip(ad.Add(scores, mask), masked/2, math.Inf(1))
		} else { // of one: a row for each sequence
			each := ad.AddRow(ad.Reshape(scores, n, rows/n*cols), ad.Flatten(mask))
			scores = ad.Reshape(each, rows, cols)
		}
	}
	return ad.BatchMatMul(ad.RowSoftmax(scores), values, n, false, false)
}

// masked is added to scores that attention must ignore: far below all others, yet finite, so that a
// row whose scores are all masked is not NaN.
const masked = -1e30

// Causal builds the mask by which each row of a sequence attends to itself and to earlier rows.
// like is any node of the graph.
func Causal(like *ad.Node, length int) *ad.Node {
	numbers := make([]float64, length*length)
	for i := range length {
		for j := i + 1; j < length; j++ {
			numbers[i*length+j] = masked
		}
	}
	return ad.NewConst(like, fmt.Sprint("causal mask of ", length), length, length, numbers)
}

// Padding builds the mask of n sequences from keep, n × keys: 1 for rows of a sequence, 0 for
// padding, to which no query attends.
func Padding(keep *ad.Node, queries int) *ad.Node {
	n, keys := ad.Dims(keep)
	each := make([]*ad.Node, queries)
	for i := range each {
		each[i] = ad.Scale(-masked, ad.Offset(-1, keep))
	}
	return ad.Reshape(ad.ConcatCols(each...), n*queries, keys)
}

// Attention is self-attention with one or more heads, each with its share of the columns.
type Attention struct {
	Q, K, V, O Param
	Heads      int
}

// NewAttention adds an attention of rows of a width, a multiple of the number of heads, of normal
// weights.
func NewAttention(ps *Params, name string, width, heads int) Attention {
	if heads < 1 || width%heads != 0 {
		ps.fail("the width of attention %q must be a multiple of its heads; they are %d and %d", name, width, heads)
	}
	matrix := func(what string) Param { return ps.Matrix(name+"."+what, width, width, ps.weights(width)) }
	return Attention{Q: matrix("queries"), K: matrix("keys"), V: matrix("values"), O: matrix("outputs"), Heads: heads}
}

// Outputs builds the outputs for n sequences of equal length whose rows are stacked in h, n·length
// × width.
func (a Attention) Outputs(z, h *ad.Node, n int) *ad.Node { return a.Masked(z, h, n) }

// Masked is Outputs with masks, see [Attend].
func (a Attention) Masked(z, h *ad.Node, n int, masks ...*ad.Node) *ad.Node {
	project := func(w Param) *ad.Node { return ad.MatMul(h, w.Node(z), false, true) }
	q, k, v := project(a.Q), project(a.K), project(a.V)
	d := a.Q.Rows / a.Heads // columns of a head
	heads := make([]*ad.Node, a.Heads)
	for i := range heads {
		heads[i] = Attend(ad.Cols(q, i*d, d), ad.Cols(k, i*d, d), ad.Cols(v, i*d, d), n, masks...)
	}
	return ad.MatMul(ad.ConcatCols(heads...), a.O.Node(z), false, true)
}

// Sinusoids builds the positions of a sequence, length × width, as in Vaswani et al. (2017): entry
// (i, 2j) is sin(i/10000^{2j/width}), and (i, 2j+1) the cosine. like is any node of the graph.
func Sinusoids(like *ad.Node, length, width int) *ad.Node {
	numbers := make([]float64, length*width)
	for i := range length {
		for j := range width {
			angle := float64(i) * num.Pow(10000, -float64(j-j%2)/float64(width))
			if numbers[i*width+j] = num.Sin(angle); j%2 == 1 {
				numbers[i*width+j] = num.Cos(angle)
			}
		}
	}
	return ad.NewConst(like, fmt.Sprintf("positions %d %d", length, width), length, width, numbers)
}

// AddPositions adds positions, length × width, such as [Sinusoids] or a parameter, to each of the
// sequences of h, n·length × width.
func AddPositions(h, positions *ad.Node) *ad.Node {
	rows, cols := ad.Dims(h)
	length, width := ad.Dims(positions)
	return ad.Reshape(ad.AddRow(ad.Reshape(h, rows/length, length*width), ad.Flatten(positions)), rows, cols)
}
