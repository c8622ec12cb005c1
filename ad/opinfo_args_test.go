package ad

import (
	"fmt"
	"math"
	"slices"

	"gorgonia.org/tensor"
)

// argument returns an argument by its position or its name; nil: it is not there.
func (c *infoCase) argument(pos int, name string) any {
	if v, ok := c.Kw[name]; ok {
		return v
	}
	if pos >= 0 && pos < len(c.Args) {
		return c.Args[pos]
	}
	return nil
}

// only panics where there are arguments of other names.
func (c *infoCase) only(names ...string) {
	for k := range c.Kw {
		if !slices.Contains(names, k) {
			panic(notHere("argument " + k))
		}
	}
}

func (c *infoCase) number(pos int, name string, or float64) float64 {
	switch v := c.argument(pos, name).(type) {
	case nil:
		return or
	case float64:
		return v
	case bool:
		return oneIf[float64](v)
	case map[string]any:
		switch v["f"] {
		case "inf":
			return math.Inf(1)
		case "-inf":
			return math.Inf(-1)
		}
	}
	panic(notHere(fmt.Sprintf("%s is %v", name, c.argument(pos, name))))
}

func (c *infoCase) whole(pos int, name string, or int) int {
	return int(c.number(pos, name, float64(or)))
}
func (c *infoCase) flag(pos int, name string, or bool) bool {
	return c.number(pos, name, oneIf[float64](or)) != 0
}
func (c *infoCase) word(pos int, name, or string) string {
	if s, ok := c.argument(pos, name).(string); ok {
		return s
	}
	return or
}

// list returns whole numbers; one number is repeated to n of them.
func (c *infoCase) list(pos int, name string, n, or int) []int {
	v := c.argument(pos, name)
	if l, ok := v.([]any); ok && len(l) > 0 {
		var all []int
		for _, e := range l {
			k, ok := e.(float64)
			if !ok {
				k = -1
			}
			all = append(all, int(k))
		}
		if len(all) == 1 && n > 1 {
			return slices.Repeat(all, n)
		}
		return all
	} else if ok {
		v = nil
	}
	if v == nil {
		return slices.Repeat([]int{or}, n)
	}
	return slices.Repeat([]int{c.whole(pos, name, or)}, n)
}

// tensor makes a tensor of an argument; of a number a constant.
func (c *infoCase) tensorOf(v any) Tensor {
	switch v := v.(type) {
	case float64:
		return TensorOf(Uniform(v, c.one))
	case bool:
		return TensorOf(Uniform(oneIf[float64](v), c.one))
	case map[string]any:
		if v["shape"] == nil {
			break
		}
		shape := shapeFrom(v)
		if tensor.Shape(shape).TotalSize() == 0 {
			panic(notHere("no entries"))
		}
		if v["y"] != nil {
			return TensorOf(c.in[int(v["y"].(float64))], shape...)
		}
		c.ids++
		data := floats(v["n"])
		return TensorOf(NewConst(c.one, fmt.Sprint("constant ", c.ids), len(data), 0, data), shape...)
	}
	panic(notHere(fmt.Sprintf("argument %.40v", v)))
}

func (c *infoCase) t(pos int, name ...string) Tensor {
	return c.tensorOf(c.argument(pos, append(name, "")[0]))
}

func (c *infoCase) has(pos int, name string) bool { return c.argument(pos, name) != nil }

// tensors returns the tensors of a list.
func (c *infoCase) tensors(v any) (list []Tensor) {
	for _, e := range v.([]any) {
		list = append(list, c.tensorOf(e))
	}
	return list
}

func shapeFrom(v map[string]any) []int {
	shape := []int{}
	for _, n := range floats(v["shape"]) {
		shape = append(shape, int(n))
	}
	return shape
}

func floats(v any) (list []float64) {
	for _, e := range v.([]any) {
		list = append(list, e.(float64))
	}
	return list
}

// data returns the entries and the shape of a tensor of indices.
func (c *infoCase) data(pos int, name string) ([]int, []int) {
	v, ok := c.argument(pos, name).(map[string]any)
	if !ok || v["n"] == nil {
		panic(notHere(name + " is no index"))
	}
	var list []int
	for _, n := range floats(v["n"]) {
		list = append(list, int(n))
	}
	return list, shapeFrom(v)
}

// axis returns an axis of t, counted from the end where it is below 0.
func axisOf(t Tensor, axis int) int {
	if axis < 0 {
		axis += len(t.Shape)
	}
	return axis
}

// axes returns the axes of t that an argument has; all for none. A scalar becomes a vector.
func (c *infoCase) axes(t Tensor, pos int, name string) (Tensor, []int) {
	if len(t.Shape) == 0 {
		return TensorOf(t.Node, 1), []int{0}
	}
	var axes []int
	switch v := c.argument(pos, name).(type) {
	case float64:
		axes = []int{axisOf(t, int(v))}
	case []any:
		for _, a := range v {
			axes = append(axes, axisOf(t, int(a.(float64))))
		}
	}
	if len(axes) == 0 {
		axes = others(len(t.Shape), nil)
	}
	return t, axes
}

// reduced is a function of rows over the axes of an argument.
func (c *infoCase) reduced(t Tensor, pos int, f func(rows *Node) *Node) Tensor {
	scalar := len(t.Shape) == 0
	t, axes := c.axes(t, pos, "dim")
	out := t.Reduced(f, axes...)
	if scalar {
		return TensorOf(out.Node)
	}
	if c.flag(pos+1, "keepdim", false) {
		shape := slices.Clone(t.Shape)
		for _, a := range axes {
			shape[a] = 1
		}
		return TensorOf(out.Node, shape...)
	}
	return out
}

// along is a function of rows along an axis.
func (c *infoCase) along(t Tensor, axis int, f func(rows *Node) *Node) Tensor {
	if len(t.Shape) == 0 {
		return TensorOf(TensorOf(t.Node, 1).Along(f, 0).Node)
	}
	return t.Along(f, axisOf(t, axis))
}

func each(f func(a *Node) *Node, t Tensor) Tensor { return TensorOf(f(t.Node), t.Shape...) }

func paired(f func(a, b *Node) *Node, a, b Tensor) Tensor {
	return Broadcast(func(in ...*Node) *Node { return f(in[0], in[1]) }, a, b)
}

func just(t ...Tensor) []Tensor { return t }

// matrixOf returns a tensor's last two axes as matrices one below the other, and their number.
func matricesOf(t Tensor) (m *Node, n, rows, cols int) {
	k := len(t.Shape)
	if k < 2 {
		panic(notHere("no matrix"))
	}
	rows, cols = t.Shape[k-2], t.Shape[k-1]
	n = tensor.Shape(t.Shape).TotalSize() / (rows * cols)
	return Reshape(t.Node, n*rows, cols), n, rows, cols
}

// eachMatrix applies f to each matrix of a tensor, and gives results the axes before.
func eachMatrix(t Tensor, f func(a *Node) []*Node) []Tensor {
	m, n, rows, _ := matricesOf(t)
	lead := t.Shape[:len(t.Shape)-2]
	var all [][]*Node
	for i := range n {
		for k, o := range f(Rows(m, i*rows, rows)) {
			if len(all) <= k {
				all = append(all, nil)
			}
			all[k] = append(all[k], o)
		}
	}
	var out []Tensor
	for _, list := range all {
		shape := append(slices.Clone(lead), shapeOf(list[0])...)
		for i, o := range list {
			list[i] = Flatten(o)
		}
		out = append(out, TensorOf(ConcatRows(list...), shape...))
	}
	return out
}

// mm is the product of matrices, or vectors, as matmul has it.
func mm(a, b Tensor) Tensor {
	switch {
	case len(a.Shape) == 1 && len(b.Shape) == 1:
		return Einsum("i,i->", a, b)
	case len(a.Shape) == 1:
		return Einsum("i,...ij->...j", a, b)
	case len(b.Shape) == 1:
		return Einsum("...ij,j->...i", a, b)
	}
	return Einsum("...ij,...jk->...ik", a, b)
}

// insert adds axes of length 1.
func insertAxis(t Tensor, axis int) Tensor {
	return TensorOf(t.Node, slices.Insert(slices.Clone(t.Shape), axis, 1)...)
}

// joined puts tensors one behind the other along an axis.
func joined(axis int, ts ...Tensor) Tensor {
	axis = axisOf(ts[0], axis)
	parts := make([]*Node, len(ts))
	shape := slices.Clone(ts[0].Shape)
	shape[axis] = 0
	for i, t := range ts {
		outer, n, inner := around(t.Shape, axis)
		parts[i] = Reshape(t.Node, outer, n*inner)
		shape[axis] += n
	}
	return TensorOf(ConcatCols(parts...), shape...)
}
