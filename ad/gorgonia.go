package ad

import (
	"fmt"
	"slices"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"dsbo/internal/linalg"
)

// UseGorgonia runs what is asked of d, and of forks made later, on Gorgonia's TapeMachine: many
// times as slow, and the same to a few roundings. gorgonia.md has more.
func (d *Derivs) UseGorgonia() { d.onTape = true }

// A tape is derivatives of a loss on Gorgonia's TapeMachine: the nodes that [Grad] has made, each
// as Gorgonia's own op where one has the same numbers (see [counterpart]), else as an op of this
// package that Gorgonia runs.
type tape struct {
	vm     gorgonia.VM
	of     map[*Node]*Node  // Gorgonia's node of each node of the loss
	values []gorgonia.Value // of the derivatives, where the machine writes them
}

// compileTape rebuilds the wanted nodes with Gorgonia's own ops, and compiles them for its
// TapeMachine.
func compileTape(wanted nodes) (t *tape, err error) {
	defer catchMisuse(&err)
	g := gorgonia.NewGraph()
	t = &tape{of: map[*Node]*Node{}, values: make([]gorgonia.Value, len(wanted))}
	for i, n := range topological(wanted...) {
		var in nodes
		for _, c := range children(n) {
			in = append(in, t.of[c])
		}
		own := tapeLeaf(g, n, fmt.Sprint("leaf ", i))
		if own == nil {
			own = counterpart(ruleOf(n), in)
		}
		if own == nil || !equal(own.Shape(), shapeOf(n)) {
			own = newNode(ruleOf(n), shapeOf(n), in...)
		}
		t.of[n] = own
	}
	for i, n := range wanted {
		gorgonia.Read(t.of[n], &t.values[i])
	}
	t.vm = gorgonia.NewTapeMachine(g)
	return t, nil
}

// tapeLeaf returns a leaf like n, with n's numbers if it has some, nil if n is none.
func tapeLeaf(g *gorgonia.ExprGraph, n *Node, name string) *Node {
	if !isLeaf(n) {
		return nil
	}
	with := []gorgonia.NodeConsOpt{gorgonia.WithName(name), gorgonia.WithShape(shapeOf(n)...)}
	if v := n.Value(); v != nil {
		with = append(with, gorgonia.WithValue(v))
	}
	if n.IsScalar() {
		return gorgonia.NewScalar(g, n.Dtype(), with...)
	}
	return gorgonia.NewTensor(g, n.Dtype(), n.Dims(), with...)
}

type (
	tapeOp1 = func(a *Node) (*Node, error)
	tapeOp2 = func(a, b *Node) (*Node, error)
)

// tapeOps are Gorgonia's ops with the numbers of rules. Its Sigmoid and Softplus, which are cut off
// in the tails, and its SoftMax, which has NaN for a row of −Inf, are not among them.
var tapeOps = map[named]any{fnExp: gorgonia.Exp, fnLog: gorgonia.Log, fnSqrt: gorgonia.Sqrt, fnTanh: gorgonia.Tanh,
	fnSin: gorgonia.Sin, fnCos: gorgonia.Cos, fnLog1p: gorgonia.Log1p, fnExpm1: gorgonia.Expm1, fnAbs: gorgonia.Abs,
	opAdd: gorgonia.Add, opSub: gorgonia.Sub, opMul: gorgonia.HadamardProd, opDiv: gorgonia.HadamardDiv,
	scaleByOp: gorgonia.HadamardProd, sumAllOp: sumAlong(), sumRows: sumAlong(0), sumCols: sumAlong(1)}

func sumAlong(axes ...int) tapeOp1 {
	return func(a *Node) (*Node, error) { return gorgonia.Sum(a, axes...) }
}

// counterpart returns a node of Gorgonia's own op with the numbers of a rule, nil where it has
// none, or not for these shapes.
func counterpart(r rule, in nodes) (own *Node) {
	for _, n := range in {
		if s := shapeOf(n); len(s) > 0 && slices.Min(s) == 1 { // which its tensors may take for another shape
			return nil
		}
	}
	var err error
	switch r := r.(type) {
	case named:
		switch f := tapeOps[r].(type) {
		case tapeOp1:
			own, err = f(in[0])
		case tapeOp2:
			own, err = f(in[0], in[1])
		}
	case affine:
		f, c := gorgonia.HadamardProd, r.a
		if r.b != 0 {
			f, c = gorgonia.Add, r.b
		}
		in = nodes{in[0], numberLike(c, in[0])}
		own, err = f(in[0], in[1])
	case matmulRule:
		if len(shapeOf(in[0])) < 2 || in[0].Dtype() == tensor.Float32 { // whose sums depend on where memory lies
			return nil
		}
		for i, flip := range []bool{r.tA, r.tB} {
			if flip {
				in[i] = gorgonia.Must(gorgonia.Transpose(in[i]))
			}
		}
		own, err = gorgonia.Mul(in[0], in[1])
	}
	// Gorgonia may have found another node with the same hash, or have rewritten the op.
	if own == nil || err != nil || !slices.EqualFunc(children(own), in, sameInput) {
		return nil
	}
	return own
}

// sameInput reports whether nodes are the same one, or the same number.
func sameInput(a, b *Node) bool {
	x, constA := number(a)
	y, constB := number(b)
	return a == b || constA && constB && x == y
}

// runTape is run on Gorgonia's TapeMachine.
func (in *DerivsIn[V]) runTape(key int, outs [][]V) (err error) {
	d := in.derivs
	t := d.tapes[key]
	if t == nil {
		if t, err = compileTape(d.wanted(key)); err != nil {
			return err
		}
		d.tapes[key] = t
	}
	for n, own := range t.of {
		if i, known := d.slots[n]; known && isLeaf(n) && n.Value() == nil {
			if err := gorgonia.Let(own, gorgoniaValue(shapeOf(n), d.machine.Numbers(i))); err != nil {
				return err
			}
		}
	}
	defer t.vm.Reset()
	if err := t.vm.RunAll(); err != nil {
		return fmt.Errorf("on Gorgonia's TapeMachine: %w", err)
	}
	for i, to := range outs {
		if v, err := valueData[float64](t.values[i]); err == nil {
			linalg.Convert(to, v)
			continue
		}
		v, err := valueData[float32](t.values[i])
		if err != nil {
			return err
		}
		linalg.Convert(to, v)
	}
	return nil
}

// onTapes is inLanes, one vector after another.
func (d *Derivs) onTapes(product, n, size int, vs []float64, each func(read reader, from, lanes int)) error {
	q, made := d.f.Q, make([]float64, size)
	for k := range n {
		v := make([]float64, q)
		if vs == nil {
			v[k] = 1
		} else {
			v = vs[k*q:][:q]
		}
		d.machine.SetInput(d.v.slot, v)
		if err := d.runTape(1<<product, [][]float64{made}); err != nil {
			return err
		}
		each(func(dst []float64) { copy(dst, made) }, k, 1)
	}
	return nil
}
