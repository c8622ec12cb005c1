package ad

import (
	"strings"

	"dsbo/ad/internal/engine"
	"dsbo/internal/kernel"
)

// Products with the patches of a convolution read and write the images where they lie. The graph
// has Im2col, MatMul and Col2im, which have derivatives; the engine runs the pairs of them as one
// op, and has no patches in memory.

// lowered returns the op and the inputs by which the engine computes a node. A fused op makes the
// nodes in between needless.
func lowered(n *Node) (op engine.Op, in nodes) {
	r, in := ruleOf(n), children(n)
	switch r {
	case matmulRule{tB: true}:
		if w, images, ok := patchesOf(in[0]); ok {
			op = fusedConv(with(w, "rw", outputsKernel, outputsKernel))
			_, op.Terms = dims(in[1])
			return op, nodes{images, in[1]}
		}
	case matmulRule{tA: true}:
		if w, images, ok := patchesOf(in[1]); ok {
			op = fusedConv(resuming(with(w, "rr", filtersKernel, filtersKernel)))
			op.Sum = true
			return op, nodes{in[0], images}
		}
	}
	if r, ok := r.(windowRule); ok && r.of == col2im {
		w := r.w
		if pairs, ok := factorsOf(in[0]); ok && w.Plain() {
			op = fusedConv(with(w, strings.Repeat("rw", len(pairs)/2), imagesKernel, imagesKernel))
			filters, terms := dims(pairs[1])
			op.Terms = len(pairs) / 2 * filters * terms * w.Patches() / w.Pixels()
			return op, pairs
		}
	}
	if _, custom := r.(customRule); custom { // its other inputs are for derivatives
		in = in[:1]
	}
	op = r.lower(in)
	op.Name = r
	return op, in
}

// fusedName is the name of fused ops in errors.
const fusedName named = "a product with the patches of images"

func fusedConv(op engine.Op) engine.Op {
	op.Name = fusedName
	return uncut(op)
}

// patchesOf returns the window and the images of patches that kernels can do without.
func patchesOf(n *Node) (w Window, images *Node, ok bool) {
	if r, is := ruleOf(n).(windowRule); is && r.of == im2col {
		return r.w, children(n)[0], r.w.Plain()
	}
	return w, nil, false
}

// factorsOf returns the factors of a sum of products A·B, pair by pair. A sum that has a product
// or a partial sum twice is none: it would be computed twice, and so 2ⁿ times after n doublings.
func factorsOf(sum *Node) (pairs []*Node, ok bool) {
	seen := map[*Node]bool{}
	var collect func(n *Node) bool
	collect = func(n *Node) bool {
		if seen[n] {
			return false
		}
		seen[n] = true
		in := children(n)
		switch ruleOf(n) {
		case matmulRule{}:
			pairs = append(pairs, in...)
			return true
		case opAdd:
			return collect(in[0]) && collect(in[1])
		}
		return false
	}
	ok = collect(sum)
	return pairs, ok
}

// outputsKernel takes images and filters: the patches times the transposed filters.
func outputsKernel[T Float](w Window, c *call[T]) {
	images, filters := c.In[0], c.In[1]
	kernel.PatchesNT(w, images.R, filters.R, c.Dst.V, images.V, filters.V)
}

// filtersKernel takes outputs and images: the transposed outputs times the patches.
func filtersKernel[T Float](w Window, c *call[T]) {
	outputs, images := c.In[0], c.In[1]
	kernel.PatchesTN(w, images.R, outputs.C, c.Dst.V, outputs.V, images.V, !c.First)
}

// imagesKernel takes pairs of outputs and filters: the sum of their products, added where patches
// belong.
func imagesKernel[T Float](w Window, c *call[T]) {
	var few [4]kernel.PatchProduct[T] // on the stack
	terms := few[:0]
	for i := 0; i < len(c.In); i += 2 {
		outputs, filters := c.In[i], c.In[i+1]
		terms = append(terms, kernel.PatchProduct[T]{N: filters.R, A: outputs.V, B: filters.V})
	}
	kernel.ImagesNN(w, c.Dst.R, c.Dst.V, terms...)
}
