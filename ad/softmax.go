package ad

type softmaxRule struct{}

// RowSoftmax returns the softmax of each row of a matrix, stable at any size of the entries.
func RowSoftmax(a *Node) *Node {
	if len(shapeOf(a)) != 2 {
		failf("RowSoftmax: the input must be a matrix; its shape is %v", a.Shape())
	}
	return apply1(softmaxRule{}, a)
}

func (softmaxRule) String() string { return "RowSoftmax" }
func (softmaxRule) split() split   { return split{args: "r"} }

// grad: dA = P ∘ (G − ⟨G, P⟩ per row).
func (softmaxRule) grad(in []*Node, p, g *Node) []*Node {
	return []*Node{Mul(p, AddCol(g, Neg(RowDot(g, p))))}
}
func (softmaxRule) kernels() (func(*call[float32]), func(*call[float64])) {
	return softmaxKernel[float32], softmaxKernel[float64]
}

type logSumExpRule struct{}

// RowLogSumExp returns log Σ_j e^{a_ij}, one entry a row, stable at any size of the entries.
func RowLogSumExp(a *Node) *Node {
	if len(shapeOf(a)) != 2 {
		failf("RowLogSumExp: the input must be a matrix; its shape is %v", a.Shape())
	}
	return apply(logSumExpRule{}, vecShape(a.Shape()[0]), a)
}

func (logSumExpRule) String() string { return "RowLogSumExp" }
func (logSumExpRule) split() split   { return split{args: "r"} }
func (logSumExpRule) grad(in []*Node, out, g *Node) []*Node {
	return []*Node{RowScale(RowSoftmax(in[0]), g)}
}
func (logSumExpRule) kernels() (func(*call[float32]), func(*call[float64])) {
	return logSumExpKernel[float32], logSumExpKernel[float64]
}

// hitRule marks the rows whose largest score is the right class.
type hitRule struct{}

// RowHit returns, for each row, 1 if the largest entry of scores stands where onehot has its 1, and 0
// if not; of equal scores the first counts. It is meant for accuracies: its derivative is 0.
func RowHit(scores, onehot *Node) *Node {
	sameShape(hitRule{}, scores, onehot)
	r, _ := dims(scores)
	return apply(hitRule{}, vecShape(r), scores, onehot)
}

func (hitRule) String() string                        { return "RowHit" }
func (hitRule) split() split                          { return split{args: "rr"} }
func (hitRule) grad(in []*Node, out, g *Node) []*Node { return []*Node{nil, nil} }
func (hitRule) kernels() (func(*call[float32]), func(*call[float64])) {
	return hitKernel[float32], hitKernel[float64]
}

func hitKernel[T Float](c *call[T]) {
	s, t := c.in[0], c.in[1]
	for i := range s.r {
		best := 0
		row := s.row(i)
		for j, v := range row {
			if v > row[best] {
				best = j
			}
		}
		c.dst.v[i] = t.row(i)[best]
	}
}
