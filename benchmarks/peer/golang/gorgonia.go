package main

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// gorgoniaEngine has the gradient alone: gorgonia.Grad, called on its own result, gives the first
// gradient again.
func gorgoniaEngine[T float](n network, batch int, d numbers[T]) engine {
	g := gorgonia.NewGraph()
	kind := tensor.Float64
	if _, ok := any(T(0)).(float32); ok {
		kind = tensor.Float32
	}
	leaf := func(name string, v []T, shape ...int) *gorgonia.Node {
		t := tensor.New(tensor.WithShape(shape...), tensor.WithBacking(v))
		return gorgonia.NewTensor(g, kind, len(shape), gorgonia.WithShape(shape...), gorgonia.WithName(name),
			gorgonia.WithValue(t))
	}
	var weights gorgonia.Nodes
	for i, s := range n.shapes() {
		if len(s) == 4 { // channels first
			s = []int{s[3], s[2], s[0], s[1]}
		}
		weights = append(weights, leaf(fmt.Sprint("w", i), d.weights[i], s...))
	}
	var vm gorgonia.VM
	return engine{gradient: func() {
		if vm == nil {
			loss := n.gorgoniaLoss(leaf("pictures", d.pictures, batch, 784), leaf("onehot", d.onehot, batch, 10),
				weights, batch, constant[T](decay))
			must(gorgonia.Grad(loss, weights...))
			vm = gorgonia.NewTapeMachine(g, gorgonia.BindDualValues(weights...))
		}
		if err := vm.RunAll(); err != nil {
			panic(err)
		}
		vm.Reset()
		for _, w := range weights { // gradients would add up
			if v, err := w.Grad(); err == nil {
				v.(tensor.Tensor).Zero()
			}
		}
	}}
}

func constant[T float](v float64) *gorgonia.Node { return gorgonia.NewConstant(T(v)) }

func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

func (n network) gorgoniaLoss(pictures, onehot *gorgonia.Node, w gorgonia.Nodes, batch int,
	decay *gorgonia.Node) *gorgonia.Node {
	relu := func(a *gorgonia.Node) *gorgonia.Node { return must(gorgonia.Rectify(a)) }
	h, rest := pictures, w
	if n.sizes == nil {
		h = must(gorgonia.Reshape(h, tensor.Shape{batch, 1, 28, 28}))
		for range 2 {
			h = must(gorgonia.Conv2d(h, rest[0], tensor.Shape{5, 5}, []int{0, 0}, []int{2, 2}, []int{1, 1}))
			bias := must(gorgonia.Reshape(rest[1], tensor.Shape{1, rest[1].Shape()[0], 1, 1}))
			h = relu(must(gorgonia.BroadcastAdd(h, bias, nil, []byte{0, 2, 3})))
			rest = rest[2:]
		}
		h = must(gorgonia.Reshape(h, tensor.Shape{batch, 256}))
	}
	for i := 0; i < len(rest); i += 2 {
		if i > 0 {
			h = relu(h)
		}
		h = must(gorgonia.BroadcastAdd(must(gorgonia.Mul(h, rest[i])),
			must(gorgonia.Reshape(rest[i+1], tensor.Shape{1, rest[i+1].Shape()[0]})), nil, []byte{0}))
	}
	right := must(gorgonia.Sum(must(gorgonia.HadamardProd(onehot, must(gorgonia.Log(must(gorgonia.SoftMax(h))))))))
	scale := gorgonia.NewConstant(float64(-1) / float64(batch))
	if h.Dtype() == tensor.Float32 {
		scale = gorgonia.NewConstant(float32(-1) / float32(batch))
	}
	loss := must(gorgonia.Mul(scale, right))
	for _, v := range w {
		loss = must(gorgonia.Add(loss, must(gorgonia.Mul(decay, must(gorgonia.Sum(must(gorgonia.Square(v))))))))
	}
	return loss
}
