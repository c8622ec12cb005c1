package ad

import (
	"math"
	"slices"
)

var infoRest = map[string]infoOp{
	"cross": crossing, "linalg.cross": crossing,
	"__getitem__": func(c *infoCase) []Tensor {
		t := c.t(0)
		index, ok := c.Args[1].([]any)
		if !ok {
			index = []any{c.Args[1]}
		}
		for i := range index { // whole numbers and slices, each of an axis
			axis := len(index) - 1 - i
			switch v := index[axis].(type) {
			case float64:
				k := (int(v) + t.Shape[axis]) % t.Shape[axis]
				t = TensorOf(t.Entries(axis, k).Node, slices.Delete(slices.Clone(t.Shape), axis, axis+1)...)
			case map[string]any:
				l, slice := v["slice"].([]any)
				if !slice {
					panic(notHere("indices that are tensors"))
				}
				n := t.Shape[axis]
				at := [3]int{0, n, 1}
				for k := range at {
					if f, ok := l[k].(float64); ok {
						if at[k] = int(f); at[k] < 0 && k < 2 {
							at[k] += n
						}
					}
				}
				t = t.Slice(axis, at[0], min(at[1], n), at[2])
			case []any:
				list := []int{}
				for _, f := range floats(v) {
					list = append(list, (int(f)+t.Shape[axis])%t.Shape[axis])
				}
				if slices.ContainsFunc(index[:axis], func(e any) bool { _, more := e.([]any); return more }) {
					panic(notHere("several lists"))
				}
				t = t.Entries(axis, list...)
			default:
				panic(notHere("index"))
			}
		}
		return just(t)
	},
	"diagonal_scatter": func(c *infoCase) []Tensor {
		t, k := c.t(0), c.whole(2, "offset", 0)
		a, b := axisOf(t, c.whole(3, "dim1", 0)), axisOf(t, c.whole(4, "dim2", 1))
		src := c.t(1)
		rest := others(len(t.Shape), []int{a, b})
		return just(scattered(t, src, src.Shape, false, func(at []int) []int {
			to := make([]int, len(t.Shape))
			for i, r := range rest {
				to[r] = at[i]
			}
			to[a], to[b] = offDiagonal(k, at[len(at)-1])
			return to
		}))
	},
	"select_scatter": func(c *infoCase) []Tensor {
		t, src := c.t(0), c.t(1)
		axis := axisOf(t, c.whole(2, "dim", 0))
		k := (c.whole(3, "index", 0) + t.Shape[axis]) % t.Shape[axis]
		return just(scattered(t, src, src.Shape, false, func(at []int) []int {
			return slices.Insert(slices.Clone(at), axis, k)
		}))
	},
	"nn.functional.cosine_embedding_loss": func(c *infoCase) []Tensor {
		cos := infoLosses["nn.functional.cosine_similarity"](&infoCase{Args: append(slices.Clone(c.Args[:2]),
			float64(len(c.t(0).Shape)-1)), in: c.in, one: c.one, Out: c.Out})[0]
		m := c.number(-1, "margin", 0)
		return lossOf(c, paired(func(a, y *Node) *Node {
			return Where(Greater(y, Uniform(0, y)), Offset(1, Neg(a)), ReLU(Offset(-m, a)))
		}, cos, c.t(2)))
	},
	"nn.functional.triplet_margin_loss":               triplets,
	"nn.functional.triplet_margin_with_distance_loss": triplets,
	"linalg.vander": func(c *infoCase) []Tensor {
		t := c.t(0)
		n := c.Out[0][len(c.Out[0])-1]
		parts := []Tensor{each(func(a *Node) *Node { return Uniform(1, a) }, t)}
		for range n - 1 {
			parts = append(parts, paired(Mul, parts[len(parts)-1], t))
		}
		return just(stacked2(-1, parts))
	},
	"masked.normalize": func(c *infoCase) []Tensor {
		p, axis := c.number(1, "ord", 2), 0
		c.Args = append(slices.Clone(c.Args[:1]), c.Args[2:]...)
		axis = c.whole(1, "dim", 0)
		t := maskedTensor(c, 0)
		if len(t.Shape) == 0 {
			panic(notHere("a scalar"))
		}
		axis = axisOf(t, axis)
		norm := insertAxis(t.Reduced(vectorNorm(p), axis), axis)
		return just(paired(func(a, b *Node) *Node { return Div(a, Clip(b, 1e-12, math.Inf(1))) }, t, norm))
	},
}

func triplets(c *infoCase) []Tensor {
	c.only("margin", "reduction", "swap", "p", "eps")
	p, eps := c.number(-1, "p", 2), c.number(-1, "eps", 1e-6)
	distance := func(a, b Tensor) Tensor {
		d := each(func(a *Node) *Node { return Offset(eps, a) }, paired(Sub, a, b))
		return d.Reduced(vectorNorm(p), len(d.Shape)-1)
	}
	a, near, far := c.t(0), c.t(1), c.t(2)
	off := distance(a, far)
	if c.flag(-1, "swap", false) {
		off = paired(Min, off, distance(near, far))
	}
	m := c.number(-1, "margin", 1)
	return lossOf(c, paired(func(a, b *Node) *Node { return ReLU(Offset(m, Sub(a, b))) }, distance(a, near), off))
}

func crossing(c *infoCase) []Tensor {
	a, b := c.t(0), c.t(1)
	axis := c.whole(2, "dim", -1)
	if !c.has(2, "dim") && c.Op == "cross" {
		axis = slices.Index(a.Shape, 3)
	}
	axis = axisOf(a, axis)
	return just(paired(Sub, paired(Mul, a.Roll(axis, -1), b.Roll(axis, 1)),
		paired(Mul, a.Roll(axis, 1), b.Roll(axis, -1))))
}
