package ad

import (
	"math"
	"slices"

	"gorgonia.org/tensor"
)

func correctionOf(c *infoCase) float64 {
	if c.has(-1, "correction") {
		return c.number(-1, "correction", 1)
	}
	for i, a := range c.Args[1:] { // var(input, unbiased), var(input, dim, unbiased)
		if b, ok := a.(bool); ok && i < 2 && !b {
			return 0
		} else if ok && i < 2 {
			return 1
		}
	}
	return c.number(-1, "unbiased", 1)
}

func variances(roots bool) infoOp {
	return func(c *infoCase) []Tensor {
		if len(c.Args) > 1 {
			if _, ok := c.Args[1].(bool); ok {
				c.Kw["unbiased"], c.Args = c.Args[1], c.Args[:1]
			}
		}
		correction := correctionOf(c)
		v := c.reduced(c.t(0), 1, func(rows *Node) *Node {
			v := rowVariance(correction)(rows)
			if roots {
				return Sqrt(v)
			}
			return v
		})
		return just(v)
	}
}

func withMean(f infoOp) infoOp {
	return func(c *infoCase) []Tensor {
		v := f(c)
		return append(v, c.reduced(c.t(0), 1, rowMean))
	}
}

func accumulating(f func(a, b *Node) *Node) infoOp {
	return func(c *infoCase) []Tensor {
		t := c.t(0)
		if len(t.Shape) == 0 {
			return just(t)
		}
		return just(t.Accumulated(f, axisOf(t, c.whole(1, "dim", 0))))
	}
}

func softmaxes(f func(rows *Node) *Node) infoOp {
	return func(c *infoCase) []Tensor { return just(c.along(c.t(0), c.whole(1, "dim", 0), f)) }
}

func logSoftmax(rows *Node) *Node { return AddCol(rows, Neg(RowLogSumExp(rows))) }

// chosenRow takes, along an axis, the entry that a rule of order has.
func chosenRow(column func(rows *Node) *Node) infoOp {
	return func(c *infoCase) []Tensor {
		t, pos := c.t(0), 1
		return just(c.reduced(t, pos, func(rows *Node) *Node { return TakeAlongRows(rows, column(rows)) }))
	}
}

// sortedColumn is the entry of each row that is of a rank.
func ranked(rank func(n int) int) func(rows *Node) *Node {
	return func(rows *Node) *Node {
		_, n := dims(rows)
		return Flatten(Cols(ArgSort(rows), rank(n), 1))
	}
}

var infoAxes = map[string]infoOp{
	"var": variances(false), "std": variances(true), "var_mean": withMean(variances(false)),
	"std_mean":              withMean(variances(true)),
	"softmax":               softmaxes(RowSoftmax),
	"log_softmax":           softmaxes(logSoftmax),
	"nn.functional.softmin": softmaxes(func(a *Node) *Node { return RowSoftmax(Neg(a)) }),
	"cumsum":                accumulating(Add), "cumprod": accumulating(Mul), "cummax": accumulating(swapped(Max)),
	"cummin": accumulating(swapped(Min)), "logcumsumexp": accumulating(LogAddExp),
	"max": extremes(halfMax, RowMax, rowAmax), "min": extremes(halfMin, RowMin, infoReduced["amin"]),
	"median":    chosenRow(ranked(func(n int) int { return (n - 1) / 2 })),
	"nanmedian": chosenRow(ranked(func(n int) int { return (n - 1) / 2 })),
	"kthvalue": func(c *infoCase) []Tensor {
		k := c.whole(1, "k", 1)
		if !c.has(2, "dim") {
			c.Kw["dim"] = -1.
		}
		return just(c.reduced(c.t(0), 2, func(rows *Node) *Node {
			return TakeAlongRows(rows, ranked(func(int) int { return k - 1 })(rows))
		}))
	},
	"sort": func(c *infoCase) []Tensor {
		down := c.flag(2, "descending", false)
		return just(c.along(c.t(0), c.whole(1, "dim", -1), func(rows *Node) *Node {
			if down {
				_, n := dims(rows)
				v, _ := TopK(rows, n)
				return v
			}
			return SortRows(rows)
		}))
	},
	"msort": func(c *infoCase) []Tensor { return just(c.along(c.t(0), 0, SortRows)) },
	"topk": func(c *infoCase) []Tensor {
		k, t := c.whole(1, "k", 1), c.t(0)
		if len(t.Shape) == 0 {
			return just(t)
		}
		axis, last := axisOf(t, c.whole(2, "dim", -1)), len(t.Shape)-1
		order := append(others(last+1, []int{axis}), axis)
		moved := t.Transpose(order...)
		rows := moved.Node
		n := t.Shape[axis]
		rows = Reshape(rows, tensor.Shape(t.Shape).TotalSize()/n, n)
		if !c.flag(3, "largest", true) {
			rows = Neg(rows)
		}
		v, _ := TopK(rows, k)
		if !c.flag(3, "largest", true) {
			v = Neg(v)
		}
		shape := slices.Clone(moved.Shape)
		shape[last] = k
		return just(TensorOf(v, shape...).Transpose(slices.Insert(others(last, nil), axis, last)...))
	},
	"linalg.vector_norm": func(c *infoCase) []Tensor {
		return just(c.reduced(c.t(0), 2, vectorNorm(c.number(1, "ord", 2))))
	},
	"norm": func(c *infoCase) []Tensor {
		if s := c.word(1, "p", "fro"); s == "nuc" {
			return nuclear(c)
		}
		p := 2.
		if _, word := c.argument(1, "p").(string); !word {
			p = c.number(1, "p", 2)
		}
		return just(c.reduced(c.t(0), 2, vectorNorm(p)))
	},
	"linalg.norm":        matrixNorms(false),
	"linalg.matrix_norm": matrixNorms(true),
	"diff": func(c *infoCase) []Tensor {
		t := c.t(0)
		axis := axisOf(t, c.whole(2, "dim", -1))
		if c.has(3, "prepend") {
			t = joined(axis, c.t(3, "prepend"), t)
		}
		if c.has(4, "append") {
			t = joined(axis, t, c.t(4, "append"))
		}
		for range c.whole(1, "n", 1) {
			n := t.Shape[axis]
			t = paired(Sub, t.Slice(axis, 1, n, 1), t.Slice(axis, 0, n-1, 1))
		}
		return just(t)
	},
	"quantile": quantiles, "nanquantile": quantiles,
	"renorm": func(c *infoCase) []Tensor { panic(notHere("renorm")) },
	"trapz":  trapezoid, "trapezoid": trapezoid,
}

// trapezoid integrates along an axis.
func trapezoid(c *infoCase) []Tensor {
	y := c.t(0)
	axis := axisOf(y, c.whole(2, "dim", -1))
	n := y.Shape[axis]
	mid := each(scaledBy(.5), paired(Add, y.Slice(axis, 1, n, 1), y.Slice(axis, 0, n-1, 1)))
	if x, ok := c.argument(1, "x").(map[string]any); ok {
		t := c.tensorOf(x)
		if len(t.Shape) != len(y.Shape) {
			panic(notHere("points of fewer axes"))
		}
		d := paired(Sub, t.Slice(axis, 1, n, 1), t.Slice(axis, 0, n-1, 1))
		mid = paired(Mul, mid, d)
	} else {
		mid = each(scaledBy(c.number(-1, "dx", 1)), mid)
	}
	return just(mid.Sum(axis))
}

func extremes(binary func(a, b *Node) *Node, rows, all func(rows *Node) *Node) infoOp {
	return func(c *infoCase) []Tensor {
		if m, ok := c.argument(1, "other").(map[string]any); ok {
			return just(paired(binary, c.t(0), c.tensorOf(m)))
		}
		if c.has(1, "dim") {
			return just(c.reduced(c.t(0), 1, rows))
		}
		return just(c.reduced(c.t(0), 1, all))
	}
}

func nuclear(c *infoCase) []Tensor {
	t := c.t(0)
	if len(t.Shape) != 2 {
		panic(notHere("nuclear norm of more axes"))
	}
	_, s, _ := SVD(t.Node)
	keep := c.flag(3, "keepdim", false)
	if keep {
		return just(TensorOf(SumAll(s), 1, 1))
	}
	return just(TensorOf(SumAll(s)))
}

// matrixNorms is linalg.matrix_norm, or linalg.norm, which is of vectors too.
func matrixNorms(matrix bool) infoOp {
	return func(c *infoCase) []Tensor {
		t := c.t(0)
		axes := []int{-2, -1}
		if l, ok := c.argument(2, "dim").([]any); ok {
			axes = nil
			for _, a := range l {
				axes = append(axes, int(a.(float64)))
			}
		} else if !matrix && (c.has(2, "dim") || !c.has(1, "ord") || len(t.Shape) < 2) {
			return just(c.reduced(t, 2, vectorNorm(c.number(1, "ord", 2))))
		}
		if len(axes) == 1 {
			return just(c.reduced(t, 2, vectorNorm(c.number(1, "ord", 2))))
		}
		a, b := axisOf(t, axes[0]), axisOf(t, axes[1])
		rest := others(len(t.Shape), []int{a, b})
		moved := t.Transpose(append(rest, a, b)...)
		k := len(t.Shape)
		var out Tensor
		ord, word := c.argument(1, "ord").(string)
		switch {
		case word && ord == "nuc":
			out = eachMatrix(moved, func(a *Node) []*Node { _, s, _ := SVD(a); return []*Node{SumAll(s)} })[0]
		case word || !c.has(1, "ord"):
			out = moved.Norm(k-2, k-1)
		default:
			switch p := c.number(1, "ord", 2); math.Abs(p) {
			case 1:
				out = extremeOf(p, each(Abs, moved).Sum(k-2))
			case math.Inf(1):
				out = extremeOf(p, each(Abs, moved).Sum(k-1))
			default:
				out = eachMatrix(moved, func(a *Node) []*Node {
					_, s, _ := SVD(a)
					if p < 0 {
						return []*Node{Item(s, s.Shape()[0]-1)}
					}
					return []*Node{Item(s, 0)}
				})[0]
			}
		}
		if c.flag(3, "keepdim", false) {
			shape := slices.Clone(t.Shape)
			shape[a], shape[b] = 1, 1
			return just(TensorOf(out.Node, shape...))
		}
		return just(out)
	}
}

func extremeOf(sign float64, t Tensor) Tensor {
	axis := len(t.Shape) - 1
	if sign < 0 {
		return t.Reduced(infoReduced["amin"], axis)
	}
	return t.Reduced(rowAmax, axis)
}

// quantiles interpolates between ranks.
func quantiles(c *infoCase) []Tensor {
	q, ok := c.argument(1, "q").(float64)
	if !ok {
		panic(notHere("quantiles that are tensors"))
	}
	how := c.word(-1, "interpolation", "linear")
	return just(c.reduced(c.t(0), 2, func(rows *Node) *Node {
		_, n := dims(rows)
		at := q * float64(n-1)
		low, share := int(math.Floor(at)), at-math.Floor(at)
		switch how {
		case "lower":
			share = 0
		case "higher":
			share = math.Ceil(share)
		case "nearest":
			share = math.RoundToEven(at) - math.Floor(at)
		case "midpoint":
			if share > 0 {
				share = .5
			}
		}
		sorted := SortRows(rows)
		high := min(low+1, n-1)
		return Flatten(Add(Scale(1-share, Cols(sorted, low, 1)), Scale(share, Cols(sorted, high, 1))))
	}))
}
