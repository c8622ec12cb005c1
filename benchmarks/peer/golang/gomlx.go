package main

import (
	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/backends/simplego"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
)

// gomlxEngine has both by graph.Gradient: the gradient's own graph is differentiated again.
// Convolutions have neither: their gradient asks for the op Reverse, which the backend in Go
// has not.
func gomlxEngine[T float](n network, batch int, d numbers[T]) engine {
	backend, err := simplego.New("ops_sequential")
	if err != nil {
		panic(err)
	}
	shapes := n.shapes()
	tensor := func(v []T, shape ...int) any { return tensors.FromFlatDataAndDimensions(v, shape...) }
	args := []any{tensor(d.pictures, batch, 784), tensor(d.onehot, batch, 10)}
	for i, s := range shapes {
		args = append(args, tensor(d.weights[i], s...))
	}
	first := args[2:len(args):len(args)]
	for i, s := range shapes {
		args = append(args, tensor(d.direction[i], s...))
	}
	gradient := func(in []*graph.Node) []*graph.Node {
		return graph.Gradient(n.gomlxLoss(in[0], in[1], in[2:]), in[2:]...)
	}
	product := func(in []*graph.Node) []*graph.Node {
		weights, direction := in[2:2+len(shapes)], in[2+len(shapes):]
		var along *graph.Node
		for i, g := range graph.Gradient(n.gomlxLoss(in[0], in[1], weights), weights...) {
			term := graph.ReduceAllSum(graph.Mul(g, direction[i]))
			if along == nil {
				along = term
				continue
			}
			along = graph.Add(along, term)
		}
		return graph.Gradient(along, weights...)
	}
	return engine{gomlxRun(backend, gradient, append(args[:2:2], first...)), gomlxRun(backend, product, args)}
}

func gomlxRun(backend backends.Backend, f func([]*graph.Node) []*graph.Node, args []any) func() {
	exec := graph.MustNewExec(backend, f)
	return func() {
		for _, t := range exec.MustExec(args...) {
			t.FinalizeAll()
		}
	}
}

func (n network) gomlxLoss(pictures, onehot *graph.Node, w []*graph.Node) *graph.Node {
	relu := func(a *graph.Node) *graph.Node { return graph.Max(a, graph.ZerosLike(a)) }
	batch := pictures.Shape().Dimensions[0]
	h, rest := pictures, w
	if n.sizes == nil {
		h = graph.Reshape(h, batch, 28, 28, 1)
		for range 2 {
			h = graph.Convolve(h, rest[0]).Strides(2).Done()
			h = relu(graph.Add(h, graph.ExpandLeftToRank(rest[1], 4)))
			rest = rest[2:]
		}
		h = graph.Reshape(h, batch, 256)
	}
	for i := 0; i < len(rest); i += 2 {
		if i > 0 {
			h = relu(h)
		}
		h = graph.Add(graph.Dot(h, rest[i]), graph.ExpandLeftToRank(rest[i+1], 2))
	}
	shifted := graph.Sub(h, graph.StopGradient(graph.ReduceAndKeep(h, graph.ReduceMax, -1)))
	entropy := graph.Sub(graph.Log(graph.ReduceSum(graph.Exp(shifted), -1)),
		graph.ReduceSum(graph.Mul(onehot, shifted), -1))
	loss := graph.ReduceAllMean(entropy)
	for _, v := range w {
		loss = graph.Add(loss, graph.MulScalar(graph.ReduceAllSum(graph.Mul(v, v)), decay))
	}
	return loss
}
