package ad

import (
	"fmt"
	"math"
	"slices"
)

func init() {
	for name, f := range infoMore {
		infoMasked[name] = f
	}
}

// maskOf is 1 where a mask, if there is one, keeps an entry.
func maskOf(c *infoCase) Tensor {
	t := c.t(0)
	ones := each(func(a *Node) *Node { return Uniform(1, a) }, t)
	if c.has(-1, "mask") {
		return paired(Mul, ones, c.t(-1, "mask"))
	}
	return ones
}

// maskedPair reduces rows and their masks, each in one row.
func maskedPair(c *infoCase, f func(rows, mask *Node) *Node) []Tensor {
	t, mask := c.t(0), maskOf(c)
	t = paired(func(a, m *Node) *Node { return Where(m, a, Uniform(0, a)) }, t, mask)
	c.Kw["dim"] = c.argument(1, "dim")
	both := stacked2(-1, []Tensor{t, mask})
	_, axes := c.axes(t, 1, "dim")
	if len(t.Shape) == 0 {
		return just(TensorOf(f(Reshape(t.Node, 1, 1), Reshape(mask.Node, 1, 1)), []int{}...))
	}
	out := both.Reduced(func(rows *Node) *Node {
		r, n := dims(rows)
		halves := TensorOf(rows, r, n/2, 2)
		part := func(k int) *Node { return Reshape(halves.Slice(2, k, k+1, 1).Node, r, n/2) }
		return f(part(0), part(1))
	}, append(axes, len(t.Shape))...)
	if c.flag(2, "keepdim", false) {
		shape := slices.Clone(t.Shape)
		for _, a := range axes {
			shape[a] = 1
		}
		out = TensorOf(out.Node, shape...)
	}
	return just(out)
}

func maskedVariance(roots bool) infoOp {
	return func(c *infoCase) []Tensor {
		by := oneIf[float64](c.flag(-1, "unbiased", true))
		return maskedPair(c, func(rows, mask *Node) *Node {
			n := SumCols(mask)
			centred := Mul(AddCol(rows, Neg(Div(SumCols(rows), n))), mask)
			v := Div(RowDot(centred, centred), Offset(-by, n))
			if roots {
				return Sqrt(v)
			}
			return v
		})
	}
}

// unpooled puts entries where a maximum of a plane was.
func unpooled(dims int) infoOp {
	return func(c *infoCase) []Tensor {
		t := c.t(0)
		index, shape := c.data(1, "indices")
		out := c.Out[0]
		plane, from := total(out[len(out)-dims:]), total(shape[len(shape)-dims:])
		zeros := make([]float64, total(out))
		base := TensorOf(NewConst(c.one, fmt.Sprint("zeros ", len(zeros)), len(zeros), 0, zeros), len(zeros))
		o := scattered(base, TensorOf(t.Node, total(shape)), []int{total(shape)}, false, func(at []int) []int {
			return []int{at[0]/from*plane + index[at[0]]}
		})
		return just(TensorOf(o.Node, out...))
	}
}

// withSigns turns rows of R, whose diagonal is positive here, to the signs that the case has.
func withSigns(c *infoCase) []Tensor {
	a := c.t(0)
	if mode := c.word(-1, "mode", "reduced"); mode != "reduced" || len(c.Out) != 2 {
		panic(notHere("complete factors"))
	}
	k := len(a.Shape)
	if a.Shape[k-2] < a.Shape[k-1] {
		panic(notHere("more columns than rows"))
	}
	o := nullable(c.O)[total(c.Out[0]):]
	n := a.Shape[k-1]
	m := 0
	return eachMatrix(a, func(a *Node) []*Node {
		q, r := QR(a)
		signs := make([]float64, n)
		for i := range signs {
			signs[i] = math.Copysign(1, o[m*n*n+i*n+i])
		}
		m++
		s := NewConst(c.one, fmt.Sprint("signs ", signs), n, 0, signs)
		return []*Node{ColScale(q, s), RowScale(r, s)}
	})
}

func splitting(axis int) infoOp {
	return func(c *infoCase) []Tensor {
		t := c.t(0)
		a := axis
		if axis < 0 {
			a = axisOf(t, c.whole(2, "dim", 0))
		}
		if len(t.Shape) == 1 {
			a = 0
		}
		if n, ok := c.argument(1, "sections").(float64); ok {
			var at []int
			size, rest := t.Shape[a]/int(n), t.Shape[a]%int(n)
			for i, k := 1, 0; i < int(n); i++ {
				k += size + btoi(i <= rest)
				at = append(at, k)
			}
			return cut(t, a, at)
		}
		if m, ok := c.argument(1, "sections").(map[string]any); ok {
			at, shape := c.data(1, "sections")
			if len(shape) == 0 {
				c.Args[1] = m["n"].([]any)[0]
				return splitting(axis)(c)
			}
			return cut(t, a, at)
		}
		return cut(t, a, c.list(1, "sections", 0, 0))
	}
}

var infoMore = map[string]infoOp{
	"masked.mean": func(c *infoCase) []Tensor {
		return maskedPair(c, func(rows, mask *Node) *Node { return Div(SumCols(rows), SumCols(mask)) })
	},
	"masked.var": maskedVariance(false), "masked.std": maskedVariance(true),
	"masked.norm": func(c *infoCase) []Tensor {
		p := c.number(1, "ord", 2)
		c.Args = append(slices.Clone(c.Args[:1]), c.Args[min(2, len(c.Args)):]...)
		outside := 0.
		if math.IsInf(p, -1) {
			outside = math.Inf(1)
		}
		return just(c.reduced(maskedTensor(c, outside), 1, vectorNorm(p)))
	},
	"masked.softmin": maskedAlong(math.Inf(1), func(a *Node) *Node { return RowSoftmax(Neg(a)) }),
	"masked.logaddexp": func(c *infoCase) []Tensor {
		at := func(pos int, name string) Tensor {
			if !c.has(-1, name) {
				return c.t(pos)
			}
			return paired(func(a, m *Node) *Node { return Where(m, a, Uniform(math.Inf(-1), a)) }, c.t(pos),
				c.t(-1, name))
		}
		return just(paired(LogAddExp, at(0, "input_mask"), at(1, "other_mask")))
	},
	"nansum": func(c *infoCase) []Tensor {
		return just(c.reduced(each(func(a *Node) *Node { return Where(Equal(a, a), a, Uniform(0, a)) }, c.t(0)), 1,
			SumCols))
	},
	"nanmean": func(c *infoCase) []Tensor {
		return just(c.reduced(c.t(0), 1, func(rows *Node) *Node {
			there := Equal(rows, rows)
			return Div(SumCols(Where(there, rows, Uniform(0, rows))), SumCols(there))
		}))
	},
	"special.polygamma":          func(c *infoCase) []Tensor { return infoArithmetic["polygamma"](c) },
	"nn.functional.max_unpool1d": unpooled(1), "nn.functional.max_unpool2d": unpooled(2),
	"nn.functional.max_unpool3d": unpooled(3),
	"qr":                         withSigns, "linalg.qr": withSigns,
	"tensor_split": splitting(-1), "hsplit": splitting(1), "vsplit": splitting(0), "dsplit": splitting(2),
	"unflatten": func(c *infoCase) []Tensor {
		t := c.t(0)
		axis := axisOf(t, c.whole(1, "dim", 0))
		sizes := c.list(2, "sizes", 0, 0)
		if i := slices.Index(sizes, -1); i >= 0 {
			sizes[i] = 1
			sizes[i] = t.Shape[axis] / total(sizes)
		}
		return just(TensorOf(t.Node, slices.Replace(slices.Clone(t.Shape), axis, axis+1, sizes...)...))
	},
	"meshgrid": func(c *infoCase) []Tensor {
		var ts []Tensor
		if _, list := c.Args[0].([]any); list {
			ts = c.tensors(c.Args[0])
		} else {
			ts = c.tensors(c.Args)
		}
		var out []Tensor
		for i, t := range ts {
			shape := slices.Repeat([]int{1}, len(c.Out[0]))
			k := i
			if c.word(-1, "indexing", "ij") == "xy" && len(ts) > 1 && i < 2 {
				k = 1 - i
			}
			shape[k] = total(t.Shape)
			out = append(out, like(TensorOf(t.Node, shape...), c.Out[0]))
		}
		return out
	},
	"diag_embed": func(c *infoCase) []Tensor {
		t, k := c.t(0), c.whole(1, "offset", 0)
		out := c.Out[0]
		a, b := c.whole(2, "dim1", -2), c.whole(3, "dim2", -1)
		if a < 0 {
			a += len(out)
		}
		if b < 0 {
			b += len(out)
		}
		return just(pickedBy(t, out, func(at []int) []int {
			if at[b]-at[a] != k {
				return []int{-1}
			}
			from := []int{}
			for i, v := range at {
				if i != a && i != b {
					from = append(from, v)
				}
			}
			return append(from, min(at[a], at[b]))
		}))
	},
	"diagflat": func(c *infoCase) []Tensor {
		t, k := c.t(0), c.whole(1, "offset", 0)
		flat := TensorOf(t.Node, total(t.Shape))
		return just(onDiagonal(flat, c.Out[0], k))
	},
	"sum_to_size": func(c *infoCase) []Tensor {
		t, to := c.t(0), c.Out[0]
		var axes []int
		for i, n := range t.Shape {
			if k := i - len(t.Shape) + len(to); k < 0 || to[k] == 1 && n > 1 {
				axes = append(axes, i)
			}
		}
		return just(TensorOf(t.Sum(axes...).Node, to...))
	},
	"cov": func(c *infoCase) []Tensor {
		c.only("correction")
		t := c.t(0)
		if len(t.Shape) < 2 {
			t = TensorOf(t.Node, 1, total(t.Shape))
		}
		rows := AddCol(t.Node, Neg(rowMean(t.Node)))
		n := float64(t.Shape[1]) - c.number(-1, "correction", 1)
		return just(TensorOf(Scale(1/n, MatMul(rows, rows, false, true)), c.Out[0]...))
	},
	"native_layer_norm": func(c *infoCase) []Tensor {
		t := c.t(0)
		axes := normalizedAxes(c)
		eps := c.number(4, "eps", 1e-5)
		mean := TensorOf(t.Mean(axes...).Node, c.Out[1]...)
		variance := TensorOf(each(Square, paired(Sub, t, mean)).Mean(axes...).Node, c.Out[2]...)
		return append(infoNets["nn.functional.layer_norm"](c), mean,
			each(func(a *Node) *Node { return Rsqrt(Offset(eps, a)) }, variance))
	},
	"cumulative_trapezoid": func(c *infoCase) []Tensor {
		y := c.t(0)
		axis := axisOf(y, c.whole(2, "dim", -1))
		if c.has(1, "x") {
			panic(notHere("points"))
		}
		n := y.Shape[axis]
		mid := each(scaledBy(.5*c.number(-1, "dx", 1)), paired(Add, y.Slice(axis, 1, n, 1), y.Slice(axis, 0, n-1, 1)))
		return just(mid.Accumulated(Add, axis))
	},
	"scatter_reduce": func(c *infoCase) []Tensor {
		if c.word(4, "reduce", "") != "sum" || !c.flag(-1, "include_self", true) {
			panic(notHere("another reduction than sums"))
		}
		return scattering(true)(&infoCase{Args: c.Args[:4], in: c.in, one: c.one, Out: c.Out})
	},
	"nn.functional.hinge_embedding_loss": pairLoss(func(c *infoCase, a, b *Node) *Node {
		one, zero := Uniform(1, a), Uniform(0, a)
		far := Where(Equal(b, one), zero, ReLU(Offset(c.number(-1, "margin", 1), Neg(a))))
		return Add(far, Where(Equal(b, Neg(one)), zero, a))
	}),
	"cholesky": func(c *infoCase) []Tensor { return infoProducts["linalg.cholesky"](c) },
	"block_diag": func(c *infoCase) []Tensor {
		ts := c.tensors(c.Args)
		out := c.Out[0]
		var sum Tensor
		r, k := 0, 0
		for i, t := range ts {
			t = atLeast(t, 2)
			p := t.Pad(0, r, out[0]-r-t.Shape[0], Zeros).Pad(1, k, out[1]-k-t.Shape[1], Zeros)
			r, k = r+t.Shape[0], k+t.Shape[1]
			if i == 0 {
				sum = p
			} else {
				sum = paired(Add, sum, p)
			}
		}
		return just(sum)
	},
	"column_stack": func(c *infoCase) []Tensor {
		ts := c.tensors(c.Args[0])
		for i, t := range ts {
			if len(t.Shape) < 2 {
				ts[i] = TensorOf(t.Node, total(t.Shape), 1)
			}
		}
		return just(joined(1, ts...))
	},
	"broadcast_tensors": func(c *infoCase) []Tensor {
		var out []Tensor
		for i, t := range c.tensors(c.Args) {
			out = append(out, like(t, c.Out[i]))
		}
		return out
	},
	"nn.functional.bilinear": func(c *infoCase) []Tensor {
		o := Einsum("...i,kij,...j->...k", c.t(0), c.t(2), c.t(1))
		if c.has(3, "bias") {
			o = paired(Add, o, c.t(3, "bias"))
		}
		return just(o)
	},
}
