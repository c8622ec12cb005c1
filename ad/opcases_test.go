package ad

import (
	"fmt"
	"slices"
)

// A kit hands out operands for an op under test. All are smooth functions of x and y. Where the
// kit has data, what has rows depends on them: row i on example i.
type kit struct {
	z    *Node // the parameters, a vector made of x and y
	next int   // first entry of z that no operand has
	data *Node // rows×3, or nil
	rows int
	idx  *Node // one whole number in [0, 4) a row
	hot  *Node // one-hot rows of 3 classes
	n    int   // constants handed out
}

// width is the number of columns of the data.
const width = 3

func (k *kit) vec(n int) *Node {
	k.next += n
	return PartVec(k.z, k.next-n, n)
}

func (k *kit) mat(r, c int) *Node { return Reshape(k.vec(r*c), r, c) }

// risk returns risk sets of tied times, by k.idx: two events, one time without, and no weight.
func (k *kit) risk(efron bool) Risk {
	times := Where(Equal(k.idx, Uniform(2, k.idx)), Uniform(-2, k.idx), Offset(1, k.idx))
	return Risk{times, Step(Offset(2.5, Neg(k.idx))), efron}
}

func (k *kit) scalar() *Node { return SumAll(k.vec(1)) }

func (k *kit) rowsMat(c int) *Node {
	if k.data == nil {
		return k.mat(k.rows, c)
	}
	return MatMul(k.data, k.mat(width, c), false, false)
}

func (k *kit) rowsVec() *Node {
	if k.data == nil {
		return k.vec(k.rows)
	}
	return MatVec(k.data, k.vec(width), false)
}

// total makes a scalar of the value of an op such that all entries count, differently, in every
// order.
func (k *kit) total(n *Node) *Node {
	r, c := dims(n)
	w := make([]float64, r*c)
	for i := range w {
		w[i] = 1 + .1*float64(i%7)
	}
	k.n++
	weights := NewConst(n, fmt.Sprint("weights", k.n), r*c, 0, w)
	if n.IsScalar() {
		return Mul(SumAll(weights), Add(Sin(n), Square(n)))
	}
	return Dot(weights, Flatten(Add(Sin(n), Square(n))))
}

var (
	window  = Window{H: 4, W: 3, C: 2, KH: 2, KW: 2, Stride: 1}
	strided = Window{H: 5, W: 5, C: 1, KH: 3, KW: 3, Stride: 2}
	padded  = Window{H: 3, W: 2, C: 2, KH: 2, KW: 3, Stride: 2, PadH: 1, PadW: 2}
)

// An opCase applies one op to operands of the kit.
type opCase struct {
	name string
	f    func(k *kit) *Node
}

// ops covers the closed set. Each function applies one op to operands of the kit.
var ops = append([]opCase{
	{"Add", func(k *kit) *Node { return Add(k.rowsMat(2), Square(k.rowsMat(2))) }},
	{"Add itself", func(k *kit) *Node { a := k.rowsVec(); return Add(a, a) }},
	{"Add of RepeatRow", func(k *kit) *Node { return Add(RepeatRow(k.vec(2), k.rows), k.rowsMat(2)) }},
	{"Add of RepeatCol", func(k *kit) *Node { return Add(k.rowsMat(2), RepeatCol(k.rowsVec(), 2)) }},
	{"Sum", func(k *kit) *Node { return Sum(k.rowsVec(), k.rowsVec(), Square(k.rowsVec())) }},
	{"Sub", func(k *kit) *Node { return Sub(k.rowsMat(2), Square(k.rowsMat(2))) }},
	{"Mul", func(k *kit) *Node { return Mul(k.rowsMat(2), k.rowsMat(2)) }},
	{"Mul of RepeatRow", func(k *kit) *Node { return Mul(RepeatRow(k.vec(2), k.rows), k.rowsMat(2)) }},
	{"Mul of RepeatCol", func(k *kit) *Node { return Mul(k.rowsMat(2), RepeatCol(k.rowsVec(), 2)) }},
	{"Mul of Fill", func(k *kit) *Node { a := k.rowsMat(2); return Mul(fill(k.scalar(), a), a) }},
	{"Mul of constants", func(k *kit) *Node {
		a := k.rowsMat(2)
		return Add(Mul(Uniform(2, a), a), Mul(a, Uniform(3, a)))
	}},
	{"Div", func(k *kit) *Node { return Div(k.rowsMat(2), Offset(3, Sin(k.rowsMat(2)))) }},
	{"Scale", func(k *kit) *Node { return Scale(-2, Scale(.75, k.rowsVec())) }},
	{"Scale of a constant", func(k *kit) *Node { a := k.rowsVec(); return Add(a, Scale(2, Uniform(.5, a))) }},
	{"Neg", func(k *kit) *Node { return Neg(k.rowsMat(2)) }},
	{"Offset", func(k *kit) *Node { return Offset(.5, k.rowsMat(2)) }},
	{"Exp", func(k *kit) *Node { return Exp(k.rowsMat(2)) }},
	{"Log", func(k *kit) *Node { return Log(Offset(1, Exp(k.rowsMat(2)))) }},
	{"Log1p", func(k *kit) *Node { return Log1p(Exp(k.rowsMat(2))) }},
	{"Expm1", func(k *kit) *Node { return Expm1(k.rowsMat(2)) }},
	{"Sqrt", func(k *kit) *Node { return Sqrt(Offset(1, Square(k.rowsMat(2)))) }},
	{"Tanh", func(k *kit) *Node { return Tanh(k.rowsMat(2)) }},
	{"Sigmoid", func(k *kit) *Node { return Sigmoid(k.rowsMat(2)) }},
	{"Softplus", func(k *kit) *Node { return Softplus(k.rowsMat(2)) }},
	{"Sin", func(k *kit) *Node { return Sin(k.rowsMat(2)) }},
	{"Cos", func(k *kit) *Node { return Cos(k.rowsMat(2)) }},
	{"Erf", func(k *kit) *Node { return Erf(k.rowsMat(2)) }},
	{"Pow, a whole number", func(k *kit) *Node { return Pow(k.rowsMat(2), 3) }},
	{"Pow, a large whole number", func(k *kit) *Node { return Pow(Sin(k.rowsMat(2)), 9) }},
	{"Pow, a half", func(k *kit) *Node { return Pow(Offset(1, Square(k.rowsMat(2))), -1.5) }},
	{"Pow, a fraction", func(k *kit) *Node { return Pow(Offset(1, Square(k.rowsMat(2))), .3) }},
	{"Pow, trivial ones", func(k *kit) *Node {
		a := Offset(1, Square(k.rowsVec()))
		return Sum(Pow(a, 0), Pow(a, .5), Pow(a, 1), Pow(a, 2), Pow(a, -1))
	}},
	{"Rsqrt", func(k *kit) *Node { return Rsqrt(Offset(1, Square(k.rowsMat(2)))) }},
	{"Power", func(k *kit) *Node { return Power(Offset(1, Square(k.rowsMat(2))), k.rowsMat(2)) }},
	// The third power has no kink up to the third order but its own.
	{"ReLU", func(k *kit) *Node { a := ReLU(k.rowsVec()); return Mul(a, Mul(a, Square(a))) }},
	{"Step", func(k *kit) *Node { a := k.rowsVec(); return Mul(Square(Square(a)), Step(a)) }},
	{"Abs", func(k *kit) *Node { a := k.rowsVec(); return Mul(Mul(a, Square(a)), Abs(a)) }},
	{"Sign", func(k *kit) *Node { a := k.rowsVec(); return Mul(Square(Square(a)), Sign(a)) }},
	{"Max", func(k *kit) *Node { return Max(k.rowsMat(2), Sin(k.rowsMat(2))) }},
	{"Min", func(k *kit) *Node { return Min(k.rowsMat(2), Sin(k.rowsMat(2))) }},
	{"Max and Min with a constant",
		func(k *kit) *Node { a := k.rowsMat(2); return Mul(Max(a, Uniform(.1, a)), Min(a, Uniform(.2, a))) }},
	{"Clip", func(k *kit) *Node { return Clip(k.rowsMat(2), -.25, .5) }},
	{"StopGradient", func(k *kit) *Node { a := k.rowsVec(); return Mul(Square(Square(a)), StopGradient(Step(a))) }},
	{"Detached", func(k *kit) *Node { a := k.rowsVec(); return Mul(Square(Square(a)), Detached(Sign(a))) }},
	{"Where", func(k *kit) *Node {
		a, b := k.rowsMat(2), k.rowsMat(2)
		return Where(Greater(a, Scale(.5, b)), Mul(a, b), Sin(b))
	}},
	{"Where, NaN and infinite in what is not chosen", func(k *kit) *Node {
		a := k.rowsMat(2)
		low := Less(a, Uniform(.1, a))
		rest := Sub(Clip(a, .1, 9), Uniform(.1, a)) // 0 where a is low
		u := Add(Log(rest), Mul(Sqrt(rest), Log(rest)))
		return Where(low, Sin(a), Reshape(Add(Neg(u), Div(Square(a), rest)), k.rows, 2))
	}},
	{"Where, behind a broadcast column", func(k *kit) *Node { // rows over their lengths; the first is 0/0
		a := k.rowsMat(2)
		first := Detached(Less(RowDot(a, a), Uniform(.2, RowDot(a, a))))
		s := Reshape(Mul(RowDot(a, a), Offset(1, Neg(first))), k.rows, 1)
		return Where(Greater(s, Uniform(0, s)), Div(a, Sqrt(s)), Sin(a))
	}},
	{"Where, behind a broadcast row and number", func(k *kit) *Node {
		a, b := k.mat(3, 2), k.vec(2)
		zero := Mul(b, NewConst(b, "zero", 2, 0, []float64{0, 1})) // its first entry is 0
		n := Sub(SumAll(zero), SumAll(zero))
		u := Where(NotEqual(zero, Uniform(0, zero)), Add(Mul(a, Log(Square(zero))), Div(a, zero)), a)
		return Where(Greater(n, Uniform(1, n)), Add(Mul(u, Sqrt(n)), Div(u, n)), u)
	}},
	{"Where, infinite entries times a column, a row and a number", func(k *kit) *Node {
		a := k.mat(3, 2)
		low := Detached(Less(a, Uniform(.1, a)))
		infinite := Log(Square(Mul(a, Offset(1, Neg(low))))) // where low
		u := Where(low, Sin(a), RowScale(infinite, k.vec(3)))
		v := Where(low, Sin(a), ColScale(infinite, k.vec(2)))
		return Add(Mul(u, v), Where(low, Sin(a), Mul(infinite, k.scalar())))
	}},
	{"Where in Where", func(k *kit) *Node {
		a := k.rowsVec()
		low, high := Less(a, Uniform(-.1, a)), GreaterEqual(a, Uniform(.3, a))
		return Where(low, Where(high, Log(Neg(Square(a))), Exp(a)), Where(NotEqual(high, low), Sqrt(a), Sin(a)))
	}},
	{"comparisons", func(k *kit) *Node {
		a, b := k.rowsMat(2), k.rowsMat(2)
		return Mul(Sum(Greater(a, b), LessEqual(Scale(2, a), b), Equal(a, a), NotEqual(a, b)), Mul(a, b))
	}},
	{"Lgamma", func(k *kit) *Node { return Lgamma(Offset(.5, Square(k.rowsMat(2)))) }},
	{"Lgamma of negative numbers", func(k *kit) *Node { return Lgamma(Offset(-1.5, Scale(.3, Sin(k.rowsMat(2))))) }},
	{"Digamma", func(k *kit) *Node { return Digamma(Offset(.7, Square(k.rowsMat(2)))) }},
	{"Polygamma", func(k *kit) *Node { return Polygamma(2, Offset(1, Square(k.rowsVec()))) }},
	{"LogNormalCDF", func(k *kit) *Node { return LogNormalCDF(Scale(2, k.rowsMat(2))) }},
	{"LogNormalCDF, far to the left", func(k *kit) *Node { return LogNormalCDF(Offset(-7, k.rowsMat(2))) }},
	{"Erfc", func(k *kit) *Node { return Erfc(k.rowsMat(2)) }},
	{"NormalCDF", func(k *kit) *Node { return NormalCDF(Scale(2, k.rowsMat(2))) }},
	{"Power of negative numbers and of 0", func(k *kit) *Node {
		a := k.rowsMat(2)
		return Power(Where(Less(a, Uniform(.1, a)), a, Uniform(0, a)), Add(Uniform(4, a), Greater(a, a)))
	}},
	{"Norm", func(k *kit) *Node { a := k.rowsMat(2); return Sqrt(RowDot(a, a)) }},
	{"Atan", func(k *kit) *Node { return Atan(k.rowsMat(2)) }},
	{"CumSum", func(k *kit) *Node { return CumSum(Sin(k.rowsMat(2))) }},
	{"CumSum of a vector", func(k *kit) *Node { return Log(CumSum(Exp(k.rowsVec()))) }},
	{"ReverseCumSum", func(k *kit) *Node { return Mul(ReverseCumSum(Sin(k.rowsMat(2))), k.rowsMat(2)) }},
	{"ReverseCumSum of a vector", func(k *kit) *Node { return ReverseCumSum(k.rowsVec()) }},
	{"Scan", func(k *kit) *Node {
		last, all := Scan(k.vec(2), k.rowsMat(2), func(state, row *Node) (*Node, *Node) {
			next := Tanh(Add(state, row))
			return next, Mul(next, row)
		})
		return Add(all, Outer(k.rowsVec(), last))
	}},
	{"Scan of a vector", func(k *kit) *Node {
		last, none := Scan(k.scalar(), k.rowsVec(), func(state, row *Node) (*Node, *Node) {
			return Sin(Add(state, row)), nil
		})
		if none != nil {
			panic("there must be no outputs")
		}
		return last
	}},
	{"a scalar and a matrix", func(k *kit) *Node {
		s, a := k.scalar(), k.rowsMat(2)
		return Sum(Add(s, a), Mul(a, s), Sub(s, a), Div(a, Offset(3, s)), Max(a, s))
	}},
	{"a row and a matrix", func(k *kit) *Node {
		v, a := k.vec(2), k.rowsMat(2)
		return Sum(Add(v, a), Mul(a, Reshape(v, 1, 2)), Sub(v, a), Div(a, Offset(3, Sin(v))), Min(v, a))
	}},
	{"a column and a matrix", func(k *kit) *Node {
		u, a := Reshape(k.rowsVec(), k.rows, 1), k.rowsMat(2)
		return Sum(Add(u, a), Mul(a, u), Sub(a, u), Div(u, Offset(3, Sin(a))), Power(Offset(2, Sin(a)), u))
	}},
	{"a column and a row", func(k *kit) *Node {
		u, v := Reshape(k.rowsVec(), k.rows, 1), k.vec(3)
		return Where(Greater(u, v), Mul(u, v), k.scalar())
	}},
	{"one number and a vector", func(k *kit) *Node { return Mul(k.vec(1), k.rowsVec()) }},
	{"RowMax", func(k *kit) *Node { return RowMax(k.rowsMat(3)) }},
	{"RowMin", func(k *kit) *Node { return RowMin(k.rowsMat(3)) }},
	{"Outputs", func(k *kit) *Node { return Outputs(k.rowsMat(2)) }},
	{"Dot", func(k *kit) *Node { return Dot(k.rowsMat(2), k.rowsMat(2)) }},
	{"Dot with a constant", func(k *kit) *Node {
		a := k.rowsMat(2)
		return Add(Dot(Uniform(.5, a), a), Dot(a, Uniform(.25, a)))
	}},
	{"SumAll", func(k *kit) *Node { return SumAll(Square(k.rowsMat(2))) }},
	{"Mean", func(k *kit) *Node { return Mean(Sin(k.rowsMat(2))) }},
	{"Fill", func(k *kit) *Node { return fill(k.scalar(), k.rowsMat(2)) }},
	{"ScaleBy", func(k *kit) *Node { return ScaleBy(k.scalar(), k.rowsMat(2)) }},
	{"ScaleBy constant", func(k *kit) *Node { s := k.scalar(); return ScaleBy(Uniform(2, s), k.rowsMat(2)) }},
	{"PartVec", func(k *kit) *Node { return PartVec(Square(k.vec(6)), 2, 3) }},
	{"Part", func(k *kit) *Node { return Part(Square(k.vec(7)), 1, 2, 3) }},
	{"Part, all of it", func(k *kit) *Node { return PartVec(k.vec(3), 0, 3) }},
	{"Part of rows", func(k *kit) *Node { off := min(1, k.rows-1); return PartVec(Sin(k.rowsVec()), off, k.rows-off) }},
	{"Place", func(k *kit) *Node { return Place(k.rowsVec(), 2, k.rows+5) }},
	{"Place a matrix", func(k *kit) *Node { return Place(k.mat(2, 2), 0, 5) }},
	{"Cols", func(k *kit) *Node { return Cols(k.rowsMat(4), 1, 2) }},
	{"Cols, one and all of them", func(k *kit) *Node {
		a := k.rowsMat(2)
		return Mul(Cols(a, 0, 2), ConcatCols(Cols(a, 1, 1), Cols(a, 0, 1)))
	}},
	{"Rows", func(k *kit) *Node { return Rows(Sin(k.mat(5, 2)), 1, 3) }},
	{"Rows of rows", func(k *kit) *Node { off := min(1, k.rows-1); return Rows(k.rowsMat(2), off, k.rows-off) }},
	{"Rows of a vector", func(k *kit) *Node { return Rows(Sin(k.rowsVec()), k.rows-1, 1) }},
	{"Item", func(k *kit) *Node {
		a := k.rowsMat(2)
		return Mul(Item(a, k.rows-1, 1), Add(Item(k.rowsVec(), 0), Item(k.scalar())))
	}},
	{"Transpose", func(k *kit) *Node { return Transpose(Sin(k.mat(2, 3))) }},
	{"Transpose of rows", func(k *kit) *Node { return MatMul(Transpose(k.rowsMat(2)), k.rowsMat(3), false, false) }},
	{"a view with steps, axes in another order, and entries that repeat", func(k *kit) *Node {
		return view(k.rowsMat(12), viewRule{off: 1, n: [4]int{2, 2, 3, 2}, s: [4]int{1, 0, 2, 4}})
	}},
	{"ConcatCols", func(k *kit) *Node {
		return ConcatCols(k.rowsMat(2), k.rowsVec(), Sin(k.rowsMat(1)), k.rowsMat(3))
	}},
	{"ConcatCols of itself", func(k *kit) *Node { a := k.rowsMat(2); return ConcatCols(a, a) }},
	{"ConcatRows", func(k *kit) *Node { return ConcatRows(k.mat(1, 2), k.rowsMat(2), k.mat(3, 2)) }},
	{"ConcatRows of vectors", func(k *kit) *Node { return ConcatRows(k.vec(2), k.rowsVec()) }},
	{"Reshape", func(k *kit) *Node { return SumRows(Sin(Reshape(Sin(k.vec(6)), 2, 3))) }},
	{"Reshape rows", func(k *kit) *Node { return SumCols(Sin(Reshape(k.rowsMat(4), 2*k.rows, 2))) }},
	{"Reshape rows, read in two passes", func(k *kit) *Node {
		r := Reshape(Sin(k.rowsMat(4)), 2*k.rows, 2)
		return SumCols(ScaleBy(SumAll(r), Exp(r)))
	}},
	{"Reshape rows twice", func(k *kit) *Node {
		a := Sin(k.rowsMat(4))
		return Mul(Reshape(Reshape(a, 2*k.rows, 2), 4*k.rows, 1), Reshape(Exp(a), 4*k.rows, 1))
	}},
	{"Reshape across rows", func(k *kit) *Node { return SumCols(Sin(Reshape(k.rowsMat(2), 2, k.rows))) }},
	{"Flatten", func(k *kit) *Node { return Flatten(k.rowsMat(2)) }},
	{"MatMul", func(k *kit) *Node { return MatMul(k.rowsMat(2), k.mat(2, 3), false, false) }},
	{"MatMul(Aᵀ)", func(k *kit) *Node { return MatMul(k.rowsMat(2), k.rowsMat(3), true, false) }},
	{"MatMul(Bᵀ)", func(k *kit) *Node { return MatMul(k.rowsMat(2), k.mat(3, 2), false, true) }},
	{"MatMul(Aᵀ, Bᵀ)", func(k *kit) *Node { return MatMul(k.rowsMat(2), k.mat(3, k.rows), true, true) }},
	{"MatMul of rows with rows", func(k *kit) *Node { return MatMul(k.rowsMat(2), k.rowsMat(2), false, true) }},
	{"MatMul of rows with all rows",
		func(k *kit) *Node { return MatMul(k.mat(2, k.rows), k.rowsMat(2), false, false) }},
	{"Gram matrix of the data, which are read by rows too", func(k *kit) *Node {
		d := k.data
		if d == nil {
			d = k.mat(k.rows, width)
		}
		return Mul(MatVec(MatMul(d, d, false, true), k.rowsVec(), false), MatVec(d, k.vec(width), false))
	}},
	{"MatMul(Aᵀ) of columns", func(k *kit) *Node { return MatMul(k.rowsMat(1), k.rowsMat(1), true, false) }},
	{"BatchMatMul", func(k *kit) *Node {
		return BatchMatMul(Reshape(k.rowsMat(6), 2*k.rows, 3), Reshape(k.rowsMat(6), 3*k.rows, 2), k.rows, false, false)
	}},
	{"BatchMatMul(Aᵀ)", func(k *kit) *Node {
		return BatchMatMul(Reshape(k.rowsMat(6), 3*k.rows, 2), Reshape(k.rowsMat(3), 3*k.rows, 1), k.rows, true, false)
	}},
	{"BatchMatMul(Bᵀ)", func(k *kit) *Node {
		return BatchMatMul(Reshape(k.rowsMat(6), 2*k.rows, 3), Reshape(k.rowsMat(6), 2*k.rows, 3), k.rows, false, true)
	}},
	{"BatchMatMul(Aᵀ, Bᵀ)", func(k *kit) *Node {
		return BatchMatMul(Reshape(k.rowsMat(6), 3*k.rows, 2), Reshape(k.rowsMat(6), 2*k.rows, 3), k.rows, true, true)
	}},
	{"BatchMatMul, several for each row", func(k *kit) *Node {
		return BatchMatMul(Reshape(k.rowsMat(6), 6*k.rows, 1), Reshape(k.rowsMat(3), 3*k.rows, 1),
			3*k.rows, false, true)
	}},
	{"BatchMatMul of one pair that has all rows", func(k *kit) *Node {
		return BatchMatMul(Reshape(k.rowsMat(2), 2*k.rows, 1), k.mat(3, 1), 1, false, true)
	}},
	{"BatchMatMul of vectors",
		func(k *kit) *Node { return BatchMatMul(k.rowsVec(), k.rowsVec(), k.rows, false, false) }},
	{"MatVec", func(k *kit) *Node { return MatVec(k.rowsMat(2), k.vec(2), false) }},
	{"MatVec(Aᵀ)", func(k *kit) *Node { return MatVec(k.rowsMat(2), k.rowsVec(), true) }},
	{"Outer", func(k *kit) *Node { return Outer(k.rowsVec(), k.vec(3)) }},
	{"Outer of rows on the right", func(k *kit) *Node { return Outer(k.vec(2), k.rowsVec()) }},
	{"RowScale", func(k *kit) *Node { return RowScale(k.rowsMat(2), k.rowsVec()) }},
	{"RowScale by constants", func(k *kit) *Node {
		a, u := k.rowsMat(2), k.rowsVec()
		return Add(RowScale(a, Uniform(2, u)), RowScale(Uniform(3, a), u))
	}},
	{"ColScale", func(k *kit) *Node { return ColScale(k.rowsMat(2), k.vec(2)) }},
	{"ColScale by constants", func(k *kit) *Node {
		a, v := k.rowsMat(2), k.vec(2)
		return Add(ColScale(a, Uniform(2, v)), ColScale(Uniform(3, a), v))
	}},
	{"RowDot", func(k *kit) *Node { return RowDot(k.rowsMat(3), k.rowsMat(3)) }},
	{"RowDot with constants", func(k *kit) *Node {
		a := k.rowsMat(2)
		return Add(RowDot(a, Uniform(2, a)), RowDot(Uniform(3, a), Sin(a)))
	}},
	{"ColDot", func(k *kit) *Node { return ColDot(k.rowsMat(2), k.rowsMat(2)) }},
	{"ColDot with constants", func(k *kit) *Node {
		a := k.rowsMat(2)
		return Add(ColDot(a, Uniform(2, a)), ColDot(Uniform(3, a), Sin(a)))
	}},
	{"AddRow", func(k *kit) *Node { return AddRow(k.rowsMat(2), k.vec(2)) }},
	{"AddCol", func(k *kit) *Node { return AddCol(k.rowsMat(2), k.rowsVec()) }},
	{"SumRows", func(k *kit) *Node { return SumRows(Sin(k.rowsMat(2))) }},
	{"SumCols", func(k *kit) *Node { return SumCols(Sin(k.rowsMat(2))) }},
	{"RepeatRow", func(k *kit) *Node { return RepeatRow(k.vec(2), 3) }},
	{"RepeatCol", func(k *kit) *Node { return RepeatCol(k.rowsVec(), 3) }},
	{"RowSoftmax", func(k *kit) *Node { return RowSoftmax(k.rowsMat(3)) }},
	{"RowLogSumExp", func(k *kit) *Node { return RowLogSumExp(k.rowsMat(3)) }},
	{"cross-entropy", func(k *kit) *Node { l := k.rowsMat(3); return Sub(RowLogSumExp(l), RowDot(k.hot, l)) }},
	{"RowHit", func(k *kit) *Node { a := k.rowsMat(3); return RowScale(Sin(a), RowHit(a, k.hot)) }},
	{"Gather", func(k *kit) *Node { return Gather(k.mat(4, 2), k.idx) }},
	{"Gather from a vector", func(k *kit) *Node { return Mul(Gather(Sin(k.vec(4)), k.idx), k.rowsVec()) }},
	{"SegmentSum", func(k *kit) *Node { return SegmentSum(k.rowsMat(2), k.idx, 4) }},
	{"SegmentSum of a vector", func(k *kit) *Node { return SegmentSum(k.rowsVec(), k.idx, 4) }},
	{"Risk.Log", func(k *kit) *Node { return k.risk(true).Log(Scale(2, k.rowsVec())) }},
	{"Risk.Mean", func(k *kit) *Node { return k.risk(false).Mean(k.rowsVec(), k.rowsMat(2)) }},
	{"Risk.Mean, Efron", func(k *kit) *Node { return k.risk(true).Mean(k.rowsVec(), k.rowsVec()) }},
	{"Risk.Share", func(k *kit) *Node { return k.risk(true).Share(k.rowsVec(), k.rowsMat(2)) }},
	{"Risk.TieMean", func(k *kit) *Node { return k.risk(false).TieMean(k.rowsVec()) }},
	// A sum over all rows comes before what is done to each: two passes over the batch.
	{"centred columns", func(k *kit) *Node {
		a := k.rowsMat(2)
		return Square(AddRow(a, Scale(-1/float64(k.rows), SumRows(a))))
	}},
	{"centred columns, too wide to be kept", func(k *kit) *Node {
		a := k.rowsMat(40)
		return Square(AddRow(a, Scale(-1/float64(k.rows), SumRows(a))))
	}},
	{"softmax over the rows", func(k *kit) *Node {
		e := Exp(k.rowsVec())
		return Mul(e, fill(Div(k.scalar(), SumAll(e)), e))
	}},
	{"Im2col", func(k *kit) *Node { return Im2col(k.rowsMat(window.Pixels()), window) }},
	{"Im2col strided", func(k *kit) *Node { return Im2col(k.rowsMat(strided.Pixels()), strided) }},
	{"Im2col padded, of a rectangle", func(k *kit) *Node { return Im2col(k.rowsMat(padded.Pixels()), padded) }},
	{"convolution", func(k *kit) *Node {
		maps := MatMul(Im2col(k.rowsMat(window.Pixels()), window), k.mat(2, window.Taps()), false, true)
		return SumCols(Reshape(Softplus(maps), k.rows, 2*window.Patches()))
	}},
	{"MaxPool", func(k *kit) *Node {
		m := Reshape(k.rowsMat(window.Pixels()), k.rows*window.H*window.W, window.C)
		return MaxPool(ReLU(Reshape(AddRow(Sin(m), k.vec(window.C)), k.rows, window.Pixels())), window)
	}},
	{"MaxPool padded, of a rectangle", func(k *kit) *Node { return MaxPool(k.rowsMat(padded.Pixels()), padded) }},
	{"AvgPool", func(k *kit) *Node { return AvgPool(k.rowsMat(strided.Pixels()), strided) }},
	{"AvgPool padded, of a rectangle", func(k *kit) *Node { return AvgPool(k.rowsMat(padded.Pixels()), padded) }},
	{"Col2im", func(k *kit) *Node {
		return Col2im(Reshape(k.rowsMat(strided.Patches()*strided.Taps()), k.rows*strided.Patches(), strided.Taps()),
			strided)
	}},
	{"Col2im padded, of a rectangle", func(k *kit) *Node {
		w := padded
		w.C = 1
		return Col2im(Reshape(k.rowsMat(w.Patches()*w.Taps()), k.rows*w.Patches(), w.Taps()), w)
	}},
}, slices.Concat(systems, tensorCases, implicits, axesCases, mapCases, decompositions)...)
