package ad

import (
	"math"
	"slices"

	"gorgonia.org/tensor"

	"dsbo/internal/num"
)

// Reduced returns what f makes of each row of a matrix, a vector: f is given a row of all entries
// along some axes for each place on the others, which stay. Any function of rows is thus one of
// axes, such as RowLogSumExp.
func (t Tensor) Reduced(f func(rows *Node) *Node, axes ...int) Tensor {
	return t.reduced("Reduced", func(along []int) *Node { return f(rowsAlong(t.Node, t.Shape, along)) }, axes)
}

// reduced gives what f makes of some axes, ascending, the shape of the others.
func (t Tensor) reduced(op named, f func(along []int) *Node, axes []int) Tensor {
	var shape []int
	rest := others(len(t.Shape), axes)
	for _, a := range rest {
		shape = append(shape, t.Shape[a])
	}
	if len(axes) == 0 || len(rest)+len(axes) != len(t.Shape) {
		failf("%v: there must be axes of shape %v, each once; they are %v", op, t.Shape, axes)
	}
	return TensorOf(f(slices.Sorted(slices.Values(axes))), shape...)
}

// Along returns what f makes of each row of a matrix, a row of the same length: f is given a row of
// the entries along an axis for each place on the others. Any function of rows is thus one of an
// axis, such as RowSoftmax or SortRows.
func (t Tensor) Along(f func(rows *Node) *Node, axis int) Tensor {
	rest := others(len(t.Shape), []int{axis})
	if len(rest) == len(t.Shape) {
		failf("Along: the axis must be one of shape %v; it is %d", t.Shape, axis)
	}
	moved := t.Transpose(append(rest, axis)...)
	back := slices.Insert(others(len(rest), nil), axis, len(rest))
	rows := tensor.Shape(moved.Shape[:len(rest)]).TotalSize()
	return TensorOf(f(Reshape(moved.Node, rows, t.Shape[axis])), moved.Shape...).Transpose(back...)
}

// Mean, Max, Min, LogSumExp, Norm and Prod are over some axes; the others stay. Max and Min are as
// [RowMax] and [RowMin], and Norm, the root of the sum of squares, has derivatives of 0 at 0.
func (t Tensor) Mean(axes ...int) Tensor      { return t.Reduced(rowMean, axes...) }
func (t Tensor) Max(axes ...int) Tensor       { return t.Reduced(RowMax, axes...) }       // see Mean
func (t Tensor) Min(axes ...int) Tensor       { return t.Reduced(RowMin, axes...) }       // see Mean
func (t Tensor) LogSumExp(axes ...int) Tensor { return t.Reduced(RowLogSumExp, axes...) } // see Mean
func (t Tensor) Norm(axes ...int) Tensor      { return t.Reduced(RowNorm, axes...) }      // see Mean
func (t Tensor) Prod(axes ...int) Tensor      { return t.Reduced(RowProd, axes...) }      // see Mean

// Softmax is [RowSoftmax] along an axis.
func (t Tensor) Softmax(axis int) Tensor { return t.Along(RowSoftmax, axis) }

// Accumulated returns the results of an associative function of two nodes, entry by entry, over the
// entries along an axis up to each, itself included: products by Mul, the largest by Max,
// logarithms of sums of exponentials by LogAddExp. Cost: the function and copies, as often as the
// length can be halved.
func (t Tensor) Accumulated(f func(a, b *Node) *Node, axis int) Tensor {
	return t.Along(func(rows *Node) *Node {
		_, n := dims(rows)
		for d := 1; d < n; d *= 2 {
			rows = ConcatCols(Cols(rows, 0, d), f(Cols(rows, 0, n-d), Cols(rows, d, n-d)))
		}
		return rows
	}, axis)
}

func rowMean(a *Node) *Node {
	_, c := dims(a)
	return Scale(1/some("Mean", c), SumCols(a))
}

// RowNorm returns the root of the sum of squares of each row of a matrix. Its derivatives at 0 are
// taken as 0.
func RowNorm(a *Node) *Node { return Sqrt(RowDot(a, a)) }

// RowProd returns the product of each row of a matrix, in pairs of halves: its derivatives are
// right where entries are 0, too.
func RowProd(a *Node) *Node {
	for {
		_, c := dims(a)
		switch c {
		case 0:
			return Offset(1, SumCols(a))
		case 1:
			return Flatten(a)
		}
		pairs := Mul(Cols(a, 0, c/2), Cols(a, c/2, c/2))
		if c%2 == 1 {
			pairs = ConcatCols(pairs, Cols(a, c-1, 1))
		}
		a = pairs
	}
}

// LogAddExp returns log(e^a + e^b) elementwise, stable at any size, with shapes broadcast.
func LogAddExp(a, b *Node) *Node {
	same := named("LogAddExp").broadcast(a, b)
	pairs := ConcatCols(Flatten(same[0]), Flatten(same[1]))
	return reshape(RowLogSumExp(pairs), shapeOf(same[0]))
}

// Tan returns the tangent elementwise.
func Tan(a *Node) *Node { return Div(Sin(a), Cos(a)) }

// Sinh returns the hyperbolic sine elementwise, precise for small a.
func Sinh(a *Node) *Node { return Scale(.5, Sub(Expm1(a), Expm1(Neg(a)))) }

// Cosh returns the hyperbolic cosine elementwise.
func Cosh(a *Node) *Node { return Scale(.5, Add(Exp(a), Exp(Neg(a)))) }

// Atanh returns the inverse of [Tanh] elementwise.
func Atanh(a *Node) *Node { return Scale(.5, Sub(Log1p(a), Log1p(Neg(a)))) }

// Asinh returns the inverse of [Sinh] elementwise.
func Asinh(a *Node) *Node { return apply1(fnAsinh, a) }

// Acosh returns the inverse of [Cosh] elementwise, which is at least 0. Its derivative at 1 is
// infinite.
func Acosh(a *Node) *Node { return apply1(fnAcosh, a) }

// Atan2 returns the angle of the points (x, y) elementwise, from −π to π, with shapes broadcast. It
// has no derivative at (0, 0).
func Atan2(y, x *Node) *Node { return apply2(opAtan2, y, x) }

// Asin returns the arc sine elementwise. Its derivative at −1 and 1 is infinite.
func Asin(a *Node) *Node { return apply1(fnAsin, a) }

// Acos returns the arc cosine elementwise. Its derivative at −1 and 1 is infinite.
func Acos(a *Node) *Node { return Offset(math.Pi/2, Neg(Asin(a))) }

// Floor returns the largest whole number that is at most a, elementwise; its derivative is 0.
func Floor(a *Node) *Node { return apply1(fnFloor, a) }

// Mod returns a − b·⌊a/b⌋ elementwise, which has the sign of b, with shapes broadcast.
func Mod(a, b *Node) *Node { return Sub(a, Mul(b, Floor(Div(a, b)))) }

const (
	fnAsin  named = "Asin"
	fnAsinh named = "Asinh"
	fnAcosh named = "Acosh"
	fnFloor named = "Floor"
	opAtan2 named = "Atan2"
)

func init() {
	define(map[named]definition{
		fnAsin: {computing(asin), slope(func(a *Node) *Node {
			return Rsqrt(Mul(Offset(1, Neg(a)), Offset(1, a)))
		})},
		fnAsinh: {computing(asinh), slope(func(a *Node) *Node { return Rsqrt(Offset(1, Square(a))) })},
		fnAcosh: {computing(acosh), slope(func(a *Node) *Node { return Rsqrt(Mul(Offset(-1, a), Offset(1, a))) })},
		opAtan2: {computing2(num.Atan2), func(in nodes, _, g *Node) nodes {
			y, x := in[0], in[1]
			g = Div(g, Add(Square(x), Square(y)))
			return nodes{Mul(g, x), Neg(Mul(g, y))}
		}},
		fnFloor: {cheap(computing(math.Floor)), noGrad},
	})
}

func asin(a float64) float64 { return num.Atan(a / math.Sqrt((1-a)*(1+a))) }

// far is from where on 1 is nothing beside a².
const far = 1 << 28

func asinh(a float64) float64 {
	size := math.Abs(a)
	v := num.Log(size) + math.Ln2
	if size < far {
		square := float64(size * size)
		v = num.Log1p(size + square/(1+math.Sqrt(1+square)))
	}
	return math.Copysign(v, a)
}

func acosh(a float64) float64 {
	if a < far {
		return num.Log1p(a - 1 + math.Sqrt((a-1)*(a+1)))
	}
	return num.Log(a) + math.Ln2
}
