package ad

import "fmt"

// mapped makes a value of the shape of a and b by maps along an axis, broadcasting of three axes,
// and eigenvalues.
func (g *randomGraph) mapped(kind int, a, b *Node) *Node {
	_, c := dims(a)
	t, u := TensorOf(Tanh(a), randomRows, c), TensorOf(Sin(b), randomRows, c)
	by := Padding(g.r.IntN(4))
	switch kind {
	case 35:
		return Add(t.Pad(1, 1, 2, by).MeanPool(1, Pooling{Size: 4, Stride: 1}).Node, Tanh(b))
	case 36:
		wide := t.Resize(1, c+2, Interpolation(g.r.IntN(4)))
		return Sin(Mul(wide.Resize(1, c, CubicAligned).Node, b))
	case 37:
		return Add(Mul(t.Flip(1).Roll(1, 1).Node, u.Roll(0, 3).Node), u.Tile(1, 2).Slice(1, 0, 2*c, 2).Node)
	case 38:
		most := t.MaxPool(1, Pooling{Size: 3, Stride: 1, Pad: 1})
		return Mul(most.Node, TensorOf(Sigmoid(b), randomRows, c).Accumulated(Mul, 1).Node)
	case 39:
		angles := Broadcast(func(in ...*Node) *Node { return Atan2(in[0], Offset(2, in[1])) },
			TensorOf(t.Node, randomRows, c, 1), TensorOf(u.Node, randomRows, 1, c)).Mean(2)
		return Tanh(Add(angles.Node, MatMul(Scale(.1, Distances(a, Offset(3, Tanh(b)))), t.Node, false, false)))
	}
	apart := make([]float64, randomRows*c*c)
	for i := range apart {
		if row, column := i/c%c, i%c; row == column {
			apart[i] = float64(3 * row)
		}
	}
	outer := Einsum("nc,nd->ncd", t, u).Node
	shift := NewConst(g.y, fmt.Sprint("apart ", c), randomRows*c, c, apart)
	values, vectors := BatchSymmetricEigen(Add(Reshape(outer, randomRows*c, c), shift), randomRows)
	return Tanh(Reshape(Mul(values, RowDot(Square(vectors), vectors)), randomRows, c))
}
