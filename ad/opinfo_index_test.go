package ad

import (
	"fmt"
	"slices"
)

func init() {
	for name, f := range infoIndices {
		infoShapes[name] = f
	}
}

// picked takes entries of all of a tensor, in row-major order; −1 is zero.
func pickedEntries(t Tensor, indices []int, shape ...int) Tensor {
	return TensorOf(taken(Reshape(t.Node, 1, total(t.Shape)), 1, indices), shape...)
}

// coordinates calls f with the place of each entry of a shape.
func coordinates(shape []int, f func(at []int)) {
	at := make([]int, len(shape))
	for range total(shape) {
		f(at)
		for i := len(at) - 1; i >= 0; i-- {
			if at[i]++; at[i] < shape[i] {
				break
			}
			at[i] = 0
		}
	}
}

// pickedBy takes the entries of t whose places f has for the places of a result.
func pickedBy(t Tensor, shape []int, f func(at []int) []int) Tensor {
	var indices []int
	apart := strides(t.Shape)
	coordinates(shape, func(at []int) {
		index := 0
		for i, k := range f(at) {
			if k < 0 {
				index = -1
				break
			}
			index += k * apart[i]
		}
		indices = append(indices, index)
	})
	return pickedEntries(t, indices, shape...)
}

// scattered adds the entries of src to places of t, or puts them there.
func scattered(t, src Tensor, shape []int, adds bool, f func(at []int) []int) Tensor {
	var indices []int
	apart, width := strides(t.Shape), strides(src.Shape)
	var from []int
	coordinates(shape, func(at []int) {
		index, source := 0, 0
		for i, k := range f(at) {
			index += k * apart[i]
		}
		for i, k := range at {
			source += k * width[i]
		}
		indices, from = append(indices, index), append(from, source)
	})
	results := make([]taps, total(t.Shape))
	keep := make([]float64, total(t.Shape))
	for i := range keep {
		keep[i] = 1
	}
	for i, at := range indices {
		if !adds {
			keep[at], results[at].at = 0, nil
		}
		results[at].at = append(results[at].at, from[i])
	}
	moved := sparseRule{s: mapOf(total(src.Shape), results), cols: 1}.of(Reshape(src.Node, 1, total(src.Shape)))
	base := Mul(Reshape(t.Node, 1, len(keep)), Reshape(NewConst(t.Node, fmt.Sprint("keep ", keep),
		len(keep), 0, keep), 1,
		len(keep)))
	return TensorOf(Add(base, moved), t.Shape...)
}

// placesBy are the places that an index along an axis gives.
func placesBy(axis int, index []int, apart []int, n int) func(at []int) []int {
	return func(at []int) []int {
		from := slices.Clone(at)
		k := 0
		for i, v := range at {
			if i < len(apart) {
				k += v * apart[i]
			}
		}
		from[axis] = index[k]
		if from[axis] < 0 {
			from[axis] += n
		}
		return from
	}
}

func scattering(adds bool) infoOp {
	return func(c *infoCase) []Tensor {
		t := c.t(0)
		index, shape := c.data(2, "index")
		src := c.t(3, "src")
		scalar := len(t.Shape) == 0
		if scalar {
			t, shape = TensorOf(t.Node, 1), []int{1}
		}
		if len(src.Shape) == 0 {
			src = like(TensorOf(src.Node), shape)
		}
		if c.has(-1, "reduce") {
			panic(notHere("reduce"))
		}
		axis := axisOf(t, c.whole(1, "dim", 0))
		out := scattered(t, src, shape, adds, placesBy(axis, index, strides(shape), t.Shape[axis]))
		if scalar {
			out = TensorOf(out.Node)
		}
		return just(out)
	}
}

// alongIndex adds, or puts, slices along an axis.
func alongIndex(adds bool) infoOp {
	return func(c *infoCase) []Tensor {
		t := c.t(0)
		index, _ := c.data(2, "index")
		scalar := len(t.Shape) == 0
		src := each(scaledBy(c.number(-1, "alpha", 1)), c.t(3, "source"))
		if scalar {
			t, src = TensorOf(t.Node, 1), TensorOf(src.Node, 1)
		}
		axis := axisOf(t, c.whole(1, "dim", 0))
		if len(src.Shape) == 0 {
			shape := slices.Clone(t.Shape)
			shape[axis] = len(index)
			src = like(src, shape)
		}
		out := scattered(t, src, src.Shape, adds, func(at []int) []int {
			to := slices.Clone(at)
			to[axis] = index[at[axis]]
			return to
		})
		if scalar {
			out = TensorOf(out.Node)
		}
		return just(out)
	}
}

func gathering(c *infoCase) []Tensor {
	t := c.t(0)
	index, shape := c.data(2, "index")
	if total(shape) == 0 {
		panic(notHere("no entries"))
	}
	if len(t.Shape) == 0 {
		return just(TensorOf(t.Node, shape...))
	}
	axis := axisOf(t, c.whole(1, "dim", 0))
	return just(pickedBy(t, shape, placesBy(axis, index, strides(shape), t.Shape[axis])))
}

var infoIndices = map[string]infoOp{
	"gather": gathering, "scatter_add": scattering(true), "scatter": scattering(false),
	"index_add": alongIndex(true), "index_copy": alongIndex(false), "index_fill": alongIndex(false),
	"index_select": func(c *infoCase) []Tensor {
		t := c.t(0)
		index, _ := c.data(2, "index")
		if len(t.Shape) == 0 {
			return just(t)
		}
		return just(t.Entries(axisOf(t, c.whole(1, "dim", 0)), index...))
	},
	"take": func(c *infoCase) []Tensor {
		t := c.t(0)
		index, shape := c.data(1, "index")
		if total(shape) == 0 {
			panic(notHere("no entries"))
		}
		for i := range index {
			if index[i] < 0 {
				index[i] += total(t.Shape)
			}
		}
		return just(pickedEntries(t, index, shape...))
	},
	"take_along_dim": func(c *infoCase) []Tensor {
		if !c.has(2, "dim") {
			t := c.t(0)
			index, shape := c.data(1, "indices")
			return just(pickedEntries(t, index, total(shape)))
		}
		c.Args = append(slices.Clone(c.Args[:1]), c.Args[2], c.Args[1])
		t := c.t(0)
		if _, shape := c.data(2, "index"); len(shape) != len(t.Shape) {
			panic(notHere("indices that are broadcast"))
		} else if i := axisOf(t, c.whole(1, "dim", 0)); !slices.Equal(slices.Delete(slices.Clone(shape), i, i+1),
			slices.Delete(slices.Clone(t.Shape), i, i+1)) {
			panic(notHere("indices that are broadcast"))
		}
		return gathering(c)
	},
	"put": func(c *infoCase) []Tensor {
		t, src := c.t(0), c.t(2)
		index, shape := c.data(1, "index")
		if total(shape) == 0 {
			return just(t)
		}
		flat := TensorOf(t.Node, total(t.Shape))
		out := scattered(flat, TensorOf(src.Node, total(src.Shape)), []int{len(index)}, c.flag(3,
			"accumulate", false),
			func(at []int) []int { return []int{(index[at[0]] + total(t.Shape)) % total(t.Shape)} })
		return just(TensorOf(out.Node, t.Shape...))
	},
	"masked_select": func(c *infoCase) []Tensor {
		t := c.t(0)
		mask, shape := c.data(1, "mask")
		var all Tensor
		if len(t.Shape) >= len(shape) {
			all = like(t, named("").commonShape(t.Shape, shape))
		} else {
			all = like(t, shape)
		}
		var indices []int
		i, apart := 0, strides(shape)
		coordinates(all.Shape, func(at []int) {
			k := 0
			for j, n := range shape {
				if n > 1 {
					k += at[len(at)-len(shape)+j] * apart[j]
				}
			}
			if mask[k] != 0 {
				indices = append(indices, i)
			}
			i++
		})
		return just(pickedEntries(all, indices, len(indices)))
	},
	"nn.functional.embedding": func(c *infoCase) []Tensor {
		t := c.t(0)
		index, shape := c.data(1, "input")
		c.only()
		return just(TensorOf(t.Entries(0, index...).Node, append(shape, t.Shape[1])...))
	},
}
