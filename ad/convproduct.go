package ad

import (
	"fmt"
	"strings"

	"dsbo/internal/kernel"
)

// Products with the patches of a convolution read and write the images where they lie. The graph
// has Im2col, MatMul and Col2im, which know how they are differentiated; a machine runs the pairs
// of them as one instruction, and has no patches in memory.

// convForm says what a product with patches makes.
type convForm uint8

const (
	convOutputs convForm = iota // of images and filters: the patches times the transposed filters
	convFilters                 // of outputs and images: the transposed outputs times the patches
	// of outputs and filters, one pair or more: the products, added where their patches belong
	convImages
)

// convRule is a product with the patches of a window. Machines alone make it, after all derivatives
// have been taken.
type convRule struct {
	w    Window
	form convForm
	args int
}

// fused returns the rule and the inputs of one instruction for a node, and for the nodes before it
// that it makes needless.
func fused(n *Node) (rule, []*Node) {
	r, in := ruleOf(n), children(n)
	switch r {
	case rule(matmulRule{tB: true}):
		if w, images, ok := patchesOf(in[0]); ok {
			return convRule{w, convOutputs, 2}, []*Node{images, in[1]}
		}
	case rule(matmulRule{tA: true}):
		if w, images, ok := patchesOf(in[1]); ok {
			return convRule{w, convFilters, 2}, []*Node{in[0], images}
		}
	}
	if w, ok := r.(windowRule); ok && w.back {
		if pairs, ok := productsOf(in[0]); ok {
			return convRule{w.w, convImages, len(pairs)}, pairs
		}
	}
	return r, in
}

// patchesOf returns the window and the images of patches.
func patchesOf(n *Node) (w Window, images *Node, ok bool) {
	if r, is := ruleOf(n).(windowRule); is && !r.back {
		return r.w, children(n)[0], true
	}
	return w, nil, false
}

// productsOf returns the factors of a sum of products A·B, pair by pair. A sum that has one of
// them, or a part, more than once is none: it would be computed as often, which each
// Add(n, n) doubles.
func productsOf(sum *Node) (pairs []*Node, ok bool) {
	seen := map[*Node]bool{}
	var collect func(n *Node) bool
	collect = func(n *Node) bool {
		if seen[n] {
			return false
		}
		seen[n] = true
		in := children(n)
		switch ruleOf(n) {
		case rule(matmulRule{}):
			pairs = append(pairs, in...)
			return true
		case rule(opAdd):
			return collect(in[0]) && collect(in[1])
		}
		return false
	}
	ok = collect(sum)
	return pairs, ok
}

func (r convRule) String() string {
	return fmt.Sprintf("%s%+v", [...]string{"MatMul(Im2col, Bᵀ)", "MatMul(Aᵀ, Im2col)", "Col2im(MatMul)"}[r.form], r.w)
}

func (r convRule) split() split {
	if r.form == convFilters {
		return split{args: "rr", sum: true}
	}
	return split{args: strings.Repeat("rw", r.args/2)}
}

// grad: the rule stands for nodes that have gradients, in no graph.
func (r convRule) grad(nodes, *Node, *Node) nodes { panic("ad: a fused product has no gradient") }

func (r convRule) kernels() (func(*call[float32]), func(*call[float64])) {
	return convKernel[float32](r), convKernel[float64](r)
}

func convKernel[T Float](r convRule) func(*call[T]) {
	w := kernel.Window(r.w)
	switch r.form {
	case convOutputs:
		return func(c *call[T]) {
			images, filters := c.in[0], c.in[1]
			kernel.PatchesNT(w, images.r, filters.r, c.dst.v, images.v, filters.v)
		}
	case convFilters:
		return func(c *call[T]) {
			outputs, images := c.in[0], c.in[1]
			kernel.PatchesTN(w, images.r, outputs.c, c.dst.v, outputs.v, images.v, !c.first)
		}
	}
	return func(c *call[T]) {
		for i := 0; i < len(c.in); i += 2 {
			outputs, filters := c.in[i], c.in[i+1]
			kernel.ImagesNN(w, c.dst.r, filters.r, c.dst.v, outputs.v, filters.v, i > 0)
		}
	}
}
