package ad

import (
	"slices"
	"strings"

	"gorgonia.org/tensor"
)

// A Tensor is a node that is read as having any axes, by the entries' row-major order. Node has
// the last axis as its columns and a row for each place on the others: it is a vector for one axis,
// a scalar for none. Elementwise ops take the nodes, and [TensorOf] gives results their axes again.
type Tensor struct {
	Node  *Node
	Shape []int
}

// TensorOf returns the entries of n, a view, with axes of these lengths.
func TensorOf(n *Node, shape ...int) Tensor {
	return Tensor{reshape(n, folded(slices.Clone(shape))), slices.Clone(shape)}
}

// maxAxes is how many axes a view may move.
const maxAxes = 4

// Transpose returns the tensor whose axis i is t's axis axes[i]. The first axis, such as the
// examples of a batch, is best left in its place: each row is then permuted by itself, not all rows
// together. Cost: a copy.
func (t Tensor) Transpose(axes ...int) Tensor {
	if !slices.Equal(slices.Sorted(slices.Values(axes)), others(len(t.Shape), nil)) {
		failf("Transpose: axes must be those of shape %v, each once; they are %v", t.Shape, axes)
	}
	shape := make([]int, len(axes))
	for i, a := range axes {
		shape[i] = t.Shape[a]
	}
	return TensorOf(permuted(t.Node, t.Shape, axes), shape...)
}

// Sum returns the sums over some axes; the others stay.
func (t Tensor) Sum(axes ...int) Tensor {
	if len(axes) == 0 {
		return t
	}
	return t.reduced("Sum", func(along []int) *Node { return summed(t.Node, t.Shape, along) }, axes)
}

// others returns the axes below a number that are not in list.
func others(axes int, list []int) []int {
	var rest []int
	for i := range axes {
		if !slices.Contains(list, i) {
			rest = append(rest, i)
		}
	}
	return rest
}

// strides returns how far neighbours on each axis lie apart.
func strides(shape []int) []int {
	list := make([]int, len(shape))
	size := 1
	for i := len(shape) - 1; i >= 0; i-- {
		list[i] = size
		size *= shape[i]
	}
	return list
}

// permuted returns the entries of a tensor of this shape with its axes in another order.
func permuted(a *Node, shape, axes []int) *Node {
	n, s, apart := make([]int, len(axes)), make([]int, len(axes)), strides(shape)
	for i, axis := range axes {
		n[i], s[i] = shape[axis], apart[axis]
	}
	return restrided(a, n, s)
}

// restrided returns the entries of a by axes of lengths n whose neighbours lie s apart. Where the
// first axis goes through all of a, its places stay rows.
func restrided(a *Node, n, s []int) *Node {
	size := shapeOf(a).TotalSize()
	var lengths, steps []int
	for i := range n {
		last := len(steps) - 1
		switch {
		case n[i] == 1:
		case last >= 0 && steps[last] == n[i]*s[i]: // one axis more with the one before
			lengths[last], steps[last] = lengths[last]*n[i], s[i]
		default:
			lengths, steps = append(lengths, n[i]), append(steps, s[i])
		}
	}
	rows := 1
	switch {
	case size == 0:
		return a
	case len(lengths) == 0 && size > 1:
		lengths, steps = []int{1}, []int{1}
	case len(lengths) == 0, len(lengths) == 1 && lengths[0] == size && steps[0] == 1:
		return a
	case lengths[0]*steps[0] == size: // rows, which may be examples of a batch
		rows, lengths, steps = lengths[0], lengths[1:], steps[1:]
	}
	from := maxAxes - len(lengths)
	if from < 0 {
		return taken(Reshape(a, rows, size/rows), 1, places(lengths, steps))
	}
	v := viewRule{n: [maxAxes]int{1, 1, 1, 1}}
	copy(v.n[from:], lengths)
	copy(v.s[from:], steps)
	return view(Reshape(a, rows, size/rows), v)
}

// summed returns the sums of a tensor of this shape over some axes, ascending.
func summed(a *Node, shape, along []int) *Node {
	if len(along) == len(shape) {
		return SumAll(a)
	}
	first, end := along[0], along[len(along)-1]+1
	before, over, behind := tensor.Shape(shape[:first]).TotalSize(), tensor.Shape(shape[first:end]).TotalSize(),
		tensor.Shape(shape[end:]).TotalSize()
	switch neighbours := end-first == len(along); {
	case neighbours && first == 0:
		return SumRows(Reshape(a, over, behind))
	case neighbours && over > 0 && behind > 1: // sums of neighbouring rows, which need no copy
		all := make([]int, over)
		for i := range all {
			all[i] = i
		}
		return sparseRule{s: mapOf(over, []taps{{at: all}}), cols: behind}.of(Reshape(a, before, over*behind))
	}
	return SumCols(rowsAlong(a, shape, along))
}

// rowsAlong returns a matrix with a row of all entries along some axes for each place on the
// others.
func rowsAlong(a *Node, shape, along []int) *Node {
	rest := others(len(shape), along)
	a = permuted(a, shape, append(rest, along...))
	rows, cols := 1, 1
	for _, axis := range rest {
		rows *= shape[axis]
	}
	for _, axis := range along {
		cols *= shape[axis]
	}
	return Reshape(a, rows, cols)
}

// Einsum returns sums of products by NumPy's notation: each axis of each tensor has a letter, and
// what is behind the arrow has the axes of the result. Of "bqd,bkd->bqk" entry (b, q, k) is
// Σ_d of the first tensor's entry (b, q, d) times the second's (b, k, d). A letter that one tensor
// has twice is its diagonal, and "..." is all axes without a letter, which are broadcast. Tensors
// are combined from left to right, by [MatMul] and [BatchMatMul]; a letter of the examples of a
// batch is best the first of each tensor that has it. Cost: of the products, and copies where axes
// have another order than a product reads.
func Einsum(spec string, ts ...Tensor) Tensor {
	operands, out, arrow := strings.Cut(strings.ReplaceAll(spec, " ", ""), "->")
	list := strings.Split(operands, ",")
	e := einsum{spec: spec, length: map[byte]int{}}
	if !arrow || len(list) != len(ts) {
		failf("Einsum: %q must have the axes of each of %d tensors, and an arrow before those of the result", spec,
			len(ts))
	}
	if strings.Contains(spec, "...") {
		ts, out = e.lettered(list, slices.Clone(ts), out)
	}
	parts := make([]labelled, len(ts))
	in := make(nodes, len(ts))
	for i, axes := range list {
		parts[i], in[i] = e.operand(axes, ts[i]), ts[i].Node
	}
	shape := make([]int, len(out))
	for i := range out {
		n, known := e.length[out[i]]
		if shape[i] = n; !known || strings.IndexByte(out, out[i]) != i {
			failf("Einsum: the result of %q must have axes of the tensors, each once", spec)
		}
	}
	if f := familyOf(in...); f != nil && slices.ContainsFunc(in, func(n *Node) bool { return isEmpty(shapeOf(n)) }) {
		return TensorOf(f.ofNothing(constant{}, folded(shape), in), shape...)
	}
	var all labelled
	for i, o := range parts {
		needed := out + strings.Join(list[i+1:], "")
		if o = e.reduced(o, needed+all.axes); i == 0 {
			all = o
			continue
		}
		all = e.product(e.reduced(all, needed+o.axes), o, needed)
	}
	return TensorOf(e.arranged(all, out), shape...)
}

// einsum is what is known of one [Einsum].
type einsum struct {
	spec   string
	length map[byte]int // by letter
}

// lettered gives letters to the axes of tensors, and of the result, that have none. Axes of length
// 1 that are broadcast are left out.
func (e *einsum) lettered(list []string, ts []Tensor, out string) ([]Tensor, string) {
	const dots, all = "...", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	letters := strings.Map(func(l rune) rune {
		if strings.ContainsRune(e.spec, l) {
			return -1
		}
		return l
	}, all)
	var shape tensor.Shape
	first, more := make([]int, len(list)), make([]int, len(list)) // of the axes without a letter
	for i, axes := range list {
		first[i], more[i] = strings.Index(axes, dots), len(ts[i].Shape)-len(axes)+len(dots)
		if first[i] < 0 {
			continue
		}
		if more[i] < 0 {
			failf("Einsum: %q must have the axes of each tensor; %q is of one of shape %v", e.spec, axes, ts[i].Shape)
		}
		shape = named("Einsum").commonShape(shape, ts[i].Shape[first[i]:][:more[i]])
	}
	letters = letters[:len(shape)]
	for i, axes := range list {
		if first[i] < 0 {
			continue
		}
		own, lengths := letters[len(shape)-more[i]:], slices.Clone(ts[i].Shape)
		for k := more[i] - 1; k >= 0; k-- {
			if lengths[first[i]+k] == 1 && shape[len(shape)-more[i]+k] > 1 {
				lengths, own = slices.Delete(lengths, first[i]+k, first[i]+k+1), own[:k]+own[k+1:]
			}
		}
		list[i], ts[i] = strings.Replace(axes, dots, own, 1), TensorOf(ts[i].Node, lengths...)
	}
	return ts, strings.Replace(out, dots, letters, 1)
}

// labelled is entries in the row-major order of axes, each a letter.
type labelled struct {
	node *Node
	axes string
}

// operand notes the lengths of a tensor's axes, and takes the diagonal of those that it has twice.
func (e *einsum) operand(axes string, t Tensor) labelled {
	if len(axes) != len(t.Shape) {
		failf("Einsum: %q must have the axes of each tensor; %q is of one of shape %v", e.spec, axes, t.Shape)
	}
	once, n, s := "", []int{}, []int{}
	for i, step := range strides(t.Shape) {
		l := axes[i]
		if known, again := e.length[l]; again && known != t.Shape[i] || (l|32) < 'a' || (l|32) > 'z' {
			failf("Einsum: axes of %q must be letters, and those of one letter of one length; %q is %d, and %d before",
				e.spec, l, t.Shape[i], known)
		}
		e.length[l] = t.Shape[i]
		if k := strings.IndexByte(once, l); k >= 0 {
			s[k] += step
			continue
		}
		once, n, s = once+string(l), append(n, t.Shape[i]), append(s, step)
	}
	return labelled{restrided(t.Node, n, s), once}
}

// lengths returns the lengths of axes.
func (e *einsum) lengths(axes string) []int {
	list := make([]int, len(axes))
	for i := range axes {
		list[i] = e.length[axes[i]]
	}
	return list
}

// size is the number of places on axes.
func (e *einsum) size(axes string) int { return tensor.Shape(e.lengths(axes)).TotalSize() }

// arranged returns the entries of a in the order of the same axes.
func (e *einsum) arranged(a labelled, axes string) *Node {
	order := make([]int, len(axes))
	for i := range axes {
		order[i] = strings.IndexByte(a.axes, axes[i])
	}
	return permuted(a.node, e.lengths(a.axes), order)
}

// reduced sums a over the axes that are not needed.
func (e *einsum) reduced(a labelled, needed string) labelled {
	kept, along := "", []int{}
	for i := range a.axes {
		if strings.IndexByte(needed, a.axes[i]) < 0 {
			along = append(along, i)
		} else {
			kept += a.axes[i : i+1]
		}
	}
	if len(along) == 0 {
		return a
	}
	return labelled{summed(a.node, e.lengths(a.axes), along), kept}
}

// product returns the sums of products over the axes that both have and nothing else needs. The
// product of matrices is over those, one for each place on the other axes that both have.
func (e *einsum) product(a, b labelled, needed string) labelled {
	in := func(list string, l byte) bool { return strings.IndexByte(list, l) >= 0 }
	var each, inner, left, right string
	for i := range a.axes {
		switch l := a.axes[i]; {
		case !in(b.axes, l):
			left += string(l)
		case in(needed, l):
			each += string(l)
		default:
			inner += string(l)
		}
	}
	for i := range b.axes {
		if l := b.axes[i]; !in(a.axes, l) {
			right += string(l)
		}
	}
	if right != "" && (left == "" || strings.IndexByte(needed, right[0]) < strings.IndexByte(needed, left[0])) {
		a, b, left, right = b, a, right, left // so that rows of the result are rows of the first
	}
	switch {
	case left == "" && inner == "":
		return labelled{Mul(Flatten(e.arranged(a, each)), Flatten(e.arranged(b, each))), each}
	case left == "" && each == "":
		return labelled{Dot(Flatten(e.arranged(a, inner)), Flatten(e.arranged(b, inner))), ""}
	case left == "":
		return labelled{RowDot(e.matrix(a, each, inner), e.matrix(b, each, inner)), each}
	case right == "" && inner == "":
		return labelled{RowScale(e.matrix(a, each, left), Flatten(e.arranged(b, each))), each + left}
	}
	first, tA := e.factor(a, each, left, inner)
	second, tB := e.factor(b, each, inner, right)
	if each == "" {
		return labelled{MatMul(first, second, tA, tB), left + right}
	}
	return labelled{BatchMatMul(first, second, e.size(each), tA, tB), each + left + right}
}

// matrix returns the entries of a with a row for each place on some axes.
func (e *einsum) matrix(a labelled, rows, cols string) *Node {
	return Reshape(e.arranged(a, rows+cols), e.size(rows), e.size(cols))
}

// factor returns the matrices of a, one for each place on some axes, and whether they lie
// transposed there.
func (e *einsum) factor(a labelled, each, rows, cols string) (_ *Node, transposed bool) {
	if a.axes == each+cols+rows && a.axes != each+rows+cols {
		return e.matrix(a, each+cols, rows), true
	}
	return e.matrix(a, each+rows, cols), false
}
