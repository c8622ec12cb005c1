package ad

import "dsbo/internal/kernel"

// Sums along the rows of a matrix, or the entries of a vector. They are each other's adjoint.
const (
	cumSum        named = "CumSum"
	reverseCumSum named = "ReverseCumSum"
)

func init() {
	define(map[named]definition{
		cumSum:        {with(false, "", cumSumKernel, cumSumKernel), linear(ReverseCumSum)},
		reverseCumSum: {with(true, "", cumSumKernel, cumSumKernel), linear(CumSum)},
	})
}

// CumSum returns the sums of the rows of a up to each row, itself included; of the entries, if a is
// a vector.
func CumSum(a *Node) *Node { return apply1(cumSum, a) }

// ReverseCumSum returns the sums of the rows of a from each row on, itself included; of the
// entries, if a is a vector.
func ReverseCumSum(a *Node) *Node { return apply1(reverseCumSum, a) }

// Scan applies step to each row of rows in turn: from the state so far it makes the next one, and
// an output, a vector or a scalar, which may be nil. It returns the last state, and the outputs one
// below the other (scalars as a vector; nil where there are none). A row of a matrix is a vector,
// and of a vector a scalar. The graph has the nodes of all steps.
func Scan(state, rows *Node, step func(state, row *Node) (next, output *Node)) (last, outputs *Node) {
	n, _ := dims(rows)
	list := make([]*Node, 0, n)
	for i := range n {
		row := reshape(Rows(rows, i, 1), rows.Shape()[1:])
		var output *Node
		if state, output = step(state, row); output == nil {
			continue
		}
		if output.IsScalar() {
			output = Flatten(output)
		} else {
			output = Reshape(output, 1, output.Shape().TotalSize())
		}
		list = append(list, output)
	}
	if len(list) == 0 {
		return state, nil
	}
	return state, ConcatRows(list...)
}

// cumSumKernel starts at the last row if it goes back.
func cumSumKernel[T Float](back bool, c *call[T]) {
	copy(c.Dst.V, c.In[0].V)
	at, step := 0, 1
	if back {
		at, step = c.Dst.R-1, -1
	}
	var sum T
	for k := range c.Dst.R {
		if c.Dst.C == 1 {
			sum += c.Dst.V[at]
			c.Dst.V[at] = sum
		} else if k > 0 {
			kernel.AddTo(c.Dst.Row(at), c.Dst.Row(at), c.Dst.Row(at-step))
		}
		at += step
	}
}
