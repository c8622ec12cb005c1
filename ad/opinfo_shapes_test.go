package ad

import (
	"fmt"
	"math"
	"slices"

	"gorgonia.org/tensor"
)

func total(shape []int) int { return tensor.Shape(shape).TotalSize() }

// shaped gives an op's first tensor another shape, one length of which may be −1.
func withShape(t Tensor, shape []int) Tensor {
	shape = slices.Clone(shape)
	if i := slices.Index(shape, -1); i >= 0 {
		shape[i] = 1
		shape[i] = total(t.Shape) / total(shape)
	}
	return TensorOf(t.Node, shape...)
}

func like(t Tensor, shape []int) Tensor {
	full := slices.Clone(shape)
	for i := range full {
		if full[i] == -1 {
			full[i] = t.Shape[len(t.Shape)-len(full)+i]
		}
	}
	c := TensorOf(Uniform(0, Reshape(NewConst(t.Node, fmt.Sprint("like ", full), total(full), 0,
		make([]float64, total(full))), 1, total(full))), full...)
	return Broadcast(func(in ...*Node) *Node { return in[0] }, t, c)
}

// cut splits along an axis at some places.
func cut(t Tensor, axis int, at []int) (parts []Tensor) {
	from, n := 0, t.Shape[axis]
	for _, to := range append(slices.Clone(at), n) {
		parts = append(parts, t.Slice(axis, from, to, 1))
		from = to
	}
	return parts
}

func chunks(t Tensor, axis, size int) []Tensor {
	var at []int
	for k := size; k < t.Shape[axis]; k += size {
		at = append(at, k)
	}
	return cut(t, axis, at)
}

// offDiagonal is the entry (i, j) that diag has of a matrix.
func offDiagonal(k, i int) (row, col int) { return i + max(-k, 0), i + max(k, 0) }

func diagonals(t Tensor, k, a, b int) Tensor {
	a, b = axisOf(t, a), axisOf(t, b)
	n := min(t.Shape[a]-max(-k, 0), t.Shape[b]-max(k, 0))
	if n < 1 {
		panic(notHere("no entries"))
	}
	rest := others(len(t.Shape), []int{a, b})
	var shape []int
	for _, r := range rest {
		shape = append(shape, t.Shape[r])
	}
	return pickedBy(t, append(shape, n), func(at []int) []int {
		from := make([]int, len(t.Shape))
		for i, r := range rest {
			from[r] = at[i]
		}
		from[a], from[b] = offDiagonal(k, at[len(at)-1])
		return from
	})
}

// onDiagonal is a matrix of some shape with the entries of a vector on diagonal k.
func onDiagonal(t Tensor, shape []int, k int) Tensor {
	return pickedBy(t, shape, func(at []int) []int {
		if at[1]-at[0] != k {
			return []int{-1}
		}
		return []int{min(at[0], at[1])}
	})
}

func triangleOf(keep func(d int) bool) infoOp {
	return func(c *infoCase) []Tensor {
		t, k := c.t(0), c.whole(1, "diagonal", 0)
		n := len(t.Shape)
		return just(pickedBy(t, t.Shape, func(at []int) []int {
			if keep(at[n-1] - at[n-2] - k) {
				return at
			}
			return []int{-1}
		}))
	}
}

func flipping(axes ...int) infoOp {
	return func(c *infoCase) []Tensor {
		t := c.t(0)
		list := axes
		if l, ok := c.argument(1, "dims").([]any); ok && list == nil && len(l) > 0 {
			list = c.list(1, "dims", 1, 0)
		}
		for _, a := range list {
			if len(t.Shape) > 0 {
				t = t.Flip(axisOf(t, a))
			}
		}
		return just(t)
	}
}

func transposing(c *infoCase) []Tensor {
	t := c.t(0)
	a, b := axisOf(t, c.whole(1, "dim0", -2)), axisOf(t, c.whole(2, "dim1", -1))
	if len(t.Shape) < 2 {
		return just(t)
	}
	order := others(len(t.Shape), nil)
	order[a], order[b] = b, a
	return just(t.Transpose(order...))
}

func stacked2(axis int, ts []Tensor) Tensor {
	for i, t := range ts {
		at := axis
		if at < 0 {
			at += len(t.Shape) + 1
		}
		ts[i] = insertAxis(t, at)
	}
	if axis < 0 {
		axis += len(ts[0].Shape)
	}
	return joined(axis, ts...)
}

func atLeast(t Tensor, n int) Tensor {
	for len(t.Shape) < n {
		if len(t.Shape) == 2 {
			t = insertAxis(t, 2)
		} else {
			t = insertAxis(t, 0)
		}
	}
	return t
}

func stacking(axis, least int) infoOp {
	return func(c *infoCase) []Tensor {
		ts := c.tensors(c.Args[0])
		for i := range ts {
			ts[i] = atLeast(ts[i], least)
		}
		if axis == 1 && least == 1 && len(ts[0].Shape) == 1 {
			return just(joined(0, ts...))
		}
		return just(joined(axis, ts...))
	}
}

func reshaping(name string) infoOp {
	return func(c *infoCase) []Tensor { return just(withShape(c.t(0), c.list(1, name, 0, 0))) }
}

func reshapingLike(c *infoCase) []Tensor { return just(TensorOf(c.t(0).Node, c.t(1).Shape...)) }

var infoShapes = map[string]infoOp{
	"reshape": reshaping("shape"), "view": reshaping("size"), "view_as": reshapingLike, "reshape_as": reshapingLike,
	"ravel": func(c *infoCase) []Tensor { return just(withShape(c.t(0), []int{-1})) },
	"flatten": func(c *infoCase) []Tensor {
		t := c.t(0)
		if len(t.Shape) == 0 {
			return just(TensorOf(t.Node, 1))
		}
		a, b := axisOf(t, c.whole(1, "start_dim", 0)), axisOf(t, c.whole(2, "end_dim", -1))
		return just(TensorOf(t.Node, slices.Replace(slices.Clone(t.Shape), a, b+1, total(t.Shape[a:b+1]))...))
	},
	"unsqueeze": func(c *infoCase) []Tensor {
		t, a := c.t(0), c.whole(1, "dim", 0)
		if a < 0 {
			a += len(t.Shape) + 1
		}
		return just(insertAxis(t, a))
	},
	"squeeze": func(c *infoCase) []Tensor {
		t := c.t(0)
		shape := []int{}
		for i, n := range t.Shape {
			if n != 1 || c.has(1, "dim") && i != axisOf(t, c.whole(1, "dim", 0)) {
				shape = append(shape, n)
			}
		}
		return just(TensorOf(t.Node, shape...))
	},
	"expand":       func(c *infoCase) []Tensor { return just(like(c.t(0), c.list(1, "size", 0, 0))) },
	"broadcast_to": func(c *infoCase) []Tensor { return just(like(c.t(0), c.list(1, "size", 0, 0))) },
	"expand_as":    func(c *infoCase) []Tensor { return just(like(c.t(0), c.t(1).Shape)) },
	"permute": func(c *infoCase) []Tensor {
		t := c.t(0)
		axes := c.list(1, "dims", 0, 0)
		for i := range axes {
			axes[i] = axisOf(t, axes[i])
		}
		return just(t.Transpose(axes...))
	},
	"transpose": transposing, "t": transposing, "mT": transposing, "mH": transposing,
	"T": transposing, "H": transposing,
	"flip": flipping(), "fliplr": flipping(1), "flipud": flipping(0),
	"roll": func(c *infoCase) []Tensor {
		t := c.t(0)
		by := c.list(1, "shifts", 1, 0)
		if !c.has(2, "dims") {
			flat := withShape(t, []int{-1})
			return just(TensorOf(flat.Roll(0, by[0]).Node, t.Shape...))
		}
		for i, a := range c.list(2, "dims", 1, 0) {
			t = t.Roll(axisOf(t, a), by[i])
		}
		return just(t)
	},
	"rot90": func(c *infoCase) []Tensor {
		t, k := c.t(0), ((c.whole(1, "k", 1)%4)+4)%4
		axes := []int{0, 1}
		if c.has(2, "dims") {
			axes = c.list(2, "dims", 2, 0)
		}
		a, b := axisOf(t, axes[0]), axisOf(t, axes[1])
		for range k {
			order := others(len(t.Shape), nil)
			order[a], order[b] = b, a
			t = t.Transpose(order...).Flip(a)
		}
		return just(t)
	},
	"tile": tiling("dims"), "repeat": tiling("repeats"),
	"repeat_interleave": func(c *infoCase) []Tensor {
		t := c.t(0)
		if !c.has(2, "dim") {
			t = withShape(t, []int{-1})
		}
		axis := axisOf(t, c.whole(2, "dim", 0))
		times, ok := c.argument(1, "repeats").(float64)
		if ok {
			return just(t.Repeat(axis, int(times)))
		}
		counts, _ := c.data(1, "repeats")
		var indices []int
		for i := range t.Shape[axis] {
			indices = append(indices, slices.Repeat([]int{i}, counts[min(i, len(counts)-1)])...)
		}
		return just(t.Entries(axis, indices...))
	},
	"narrow": func(c *infoCase) []Tensor {
		t := c.t(0)
		axis, from, n := axisOf(t, c.whole(1, "dim", 0)), c.whole(2, "start", 0), c.whole(3, "length", 0)
		if from < 0 {
			from += t.Shape[axis]
		}
		return just(t.Slice(axis, from, from+n, 1))
	},
	"select": func(c *infoCase) []Tensor {
		t := c.t(0)
		axis, i := axisOf(t, c.whole(1, "dim", 0)), c.whole(2, "index", 0)
		if i < 0 {
			i += t.Shape[axis]
		}
		return just(TensorOf(t.Entries(axis, i).Node, slices.Delete(slices.Clone(t.Shape), axis, axis+1)...))
	},
	"unbind": func(c *infoCase) []Tensor {
		t := c.t(0)
		axis := axisOf(t, c.whole(1, "dim", 0))
		parts := chunks(t, axis, 1)
		for i, p := range parts {
			parts[i] = TensorOf(p.Node, slices.Delete(slices.Clone(t.Shape), axis, axis+1)...)
		}
		return parts
	},
	"split": func(c *infoCase) []Tensor {
		t := c.t(0)
		axis := axisOf(t, c.whole(2, "dim", 0))
		if size, ok := c.argument(1, "split_size").(float64); ok {
			return chunks(t, axis, int(size))
		}
		return sized(t, axis, c.list(1, "split_size", 0, 0))
	},
	"split_with_sizes": func(c *infoCase) []Tensor {
		t := c.t(0)
		return sized(t, axisOf(t, c.whole(2, "dim", 0)), c.list(1, "split_sizes", 0, 0))
	},
	"chunk": func(c *infoCase) []Tensor {
		t := c.t(0)
		axis := axisOf(t, c.whole(2, "dim", 0))
		n, k := t.Shape[axis], c.whole(1, "chunks", 1)
		return chunks(t, axis, (n+k-1)/k)
	},
	"cat":    func(c *infoCase) []Tensor { return just(joined(c.whole(1, "dim", 0), c.tensors(c.Args[0])...)) },
	"stack":  func(c *infoCase) []Tensor { return just(stacked2(c.whole(1, "dim", 0), c.tensors(c.Args[0]))) },
	"hstack": stacking(1, 1), "vstack": stacking(0, 2), "dstack": stacking(2, 3),
	"atleast_1d": func(c *infoCase) []Tensor { return just(atLeast(c.t(0), 1)) },
	"atleast_2d": func(c *infoCase) []Tensor { return just(atLeast(c.t(0), 2)) },
	"atleast_3d": func(c *infoCase) []Tensor { return just(atLeast(c.t(0), 3)) },
	"tril":       triangleOf(func(d int) bool { return d <= 0 }),
	"triu":       triangleOf(func(d int) bool { return d >= 0 }),
	"diagonal": func(c *infoCase) []Tensor {
		return just(diagonals(c.t(0), c.whole(1, "offset", 0), c.whole(2, "dim1", 0), c.whole(3, "dim2", 1)))
	},
	"diag": func(c *infoCase) []Tensor {
		t, k := c.t(0), c.whole(1, "diagonal", 0)
		if len(t.Shape) == 2 {
			return just(diagonals(t, k, 0, 1))
		}
		n := t.Shape[0] + max(k, -k)
		return just(onDiagonal(t, []int{n, n}, k))
	},
	"trace": func(c *infoCase) []Tensor { return just(Einsum("i->", diagonals(c.t(0), 0, 0, 1))) },
	"nn.functional.pad": func(c *infoCase) []Tensor {
		return just(padded2(c.t(0), c.list(1, "pad", 0, 0), c.word(2, "mode", "constant"), c.number(3, "value", 0)))
	},
	"constant_pad_nd": func(c *infoCase) []Tensor {
		return just(padded2(c.t(0), c.list(1, "pad", 0, 0), "constant", c.number(2, "value", 0)))
	},
	"unfold": func(c *infoCase) []Tensor {
		t := atLeast(c.t(0), 1)
		axis := axisOf(t, c.whole(1, "dimension", 0))
		u := t.Unfold(axis, Pooling{Size: c.whole(2, "size", 1), Stride: c.whole(3, "step", 1)})
		return just(u.Transpose(append(others(len(u.Shape), []int{axis + 1}), axis+1)...))
	},
	"as_strided": func(c *infoCase) []Tensor {
		t := c.t(0)
		shape, by, off := c.list(1, "size", 0, 0), c.list(2, "stride", 0, 0), c.whole(3, "storage_offset", 0)
		indices := places(shape, by)
		for i := range indices {
			indices[i] += off
		}
		return just(pickedEntries(t, indices, shape...))
	},
}

func sized(t Tensor, axis int, sizes []int) []Tensor {
	var at []int
	sum := 0
	for _, n := range sizes[:len(sizes)-1] {
		sum += n
		at = append(at, sum)
	}
	return cut(t, axis, at)
}

func tiling(name string) infoOp {
	return func(c *infoCase) []Tensor {
		t, times := c.t(0), c.list(1, name, 0, 0)
		for len(t.Shape) < len(times) {
			t = insertAxis(t, 0)
		}
		for i, n := range times {
			if n < 1 {
				panic(notHere("no entries"))
			}
			t = t.Tile(len(t.Shape)-len(times)+i, n)
		}
		return just(t)
	}
}

func padded2(t Tensor, by []int, mode string, value float64) Tensor {
	for i := range len(by) / 2 {
		axis := len(t.Shape) - 1 - i
		before, after := by[2*i], by[2*i+1]
		switch mode {
		case "constant":
			if value == 0 || math.IsNaN(value) {
				t = t.Pad(axis, before, after, Zeros)
			} else {
				t = t.PadWith(axis, before, after, value)
			}
		case "reflect":
			t = t.Pad(axis, before, after, Reflect)
		case "replicate":
			t = t.Pad(axis, before, after, Replicate)
		default:
			t = t.Pad(axis, before, after, Circular)
		}
	}
	return t
}
