package ad

import (
	"fmt"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"

	"dsbo/internal/testkit"
)

// small is a network of three units on batches of five rows, with a penalty.
func small(t *testing.T, single bool) *Derivs {
	t.Helper()
	return testkit.Get(Differentiate(Loss{P: 1, Q: 3*4 + 2*3, Rows: 5, Float32: single,
		Inputs: []Input{{Name: "X", Shape: []int{4}, Batch: true}},
		Build: func(x, y *Node, in []*Node) *Node {
			h := Tanh(MatMul(in[0], Part(y, 0, 3, 4), false, true))
			return Add(Mean(RowLogSumExp(MatMul(h, Part(y, 12, 2, 3), false, true))), Mul(SumAll(Exp(x)), Dot(y, y)))
		}}))
}

// TestListing: a listing has the steps in an order in which each reads what is there, the flops of
// the products, and the bytes of the type; what the direction does not change is kept for the
// next product.
func TestListing(t *testing.T) {
	const products = 2*5*3*4 + 2*5*2*3 // of the two layers
	for single, size := range map[bool]int{false: 8, true: 4} {
		d := small(t, single)
		for of, most := range map[Derivative]int{LossOf: 1, GradientOf: 4, HVPOf: 10} {
			l := testkit.Get(d.Listing(of))
			there, sum, bytes, kept := " x y v X ", 0, 0, 0
			for _, s := range l.Steps {
				for _, a := range s.Args {
					if !strings.Contains(there, " "+a+" ") {
						t.Errorf("%v: %+v reads %s, which is not there yet", of, s, a)
					}
				}
				there += s.Name + " "
				if strings.HasPrefix(s.Op, "MatMul") {
					sum += s.Flops
				}
				if bytes = max(bytes, s.Bytes); s.Kept {
					kept++
				}
			}
			// The gradient takes each product once more for each of its two factors, but for X; a
			// product with the Hessian is the derivative of that.
			if sum < products || sum > most*products || bytes != max(18, 15)*size && of != LossOf {
				t.Errorf("%v: %d flops in products, want from %d to %d; the largest value has %d bytes\n%v", of, sum,
					products, most*products, bytes, l)
			}
			if of == HVPOf && kept == 0 {
				t.Errorf("nothing is kept for the next product:\n%v", l)
			}
		}
	}
	l := testkit.Get(small(t, false).Listing(MixedHVPOf))
	if text := l.String(); !strings.Contains(text, "5 examples: 4 steps, 21 flops") ||
		strings.Count(text, "\n") != 2+len(l.Steps) {
		t.Errorf("the listing is\n%s", text)
	}
}

// TestPictures: a picture has each node of the loss and of the gradient, and so have Gorgonia's
// own printers.
func TestPictures(t *testing.T) {
	d := small(t, false)
	var b strings.Builder
	testkit.OK(d.WriteDOT(&b, "net", GradientOf))
	g := testkit.Get(graphOf(d, GradientOf))
	loss := testkit.Get(graphOf(d, LossOf))
	lines, dashed, n := strings.Count(b.String(), "label="), strings.Count(b.String(), "dashed"), len(g.AllNodes())
	if lines != n || lines-dashed != len(loss.AllNodes()) || !strings.Contains(g.ToDot(), "Tanh") {
		t.Errorf("%d nodes, %d of them of the derivative; Gorgonia sees %d, and %d in the loss:\n%s", lines, dashed, n,
			len(loss.AllNodes()), &b)
	}
	for _, want := range []string{`digraph "net" {`, `label="X\n(5, 4)", shape=box`, `label="Tanh\n(5, 3)"`,
		"n0 -> n3"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
}

// graphOf returns a copy of the graph of a loss and of one of its derivatives for Gorgonia's
// printers.
func graphOf(d *Derivs, of Derivative) (*gorgonia.ExprGraph, error) {
	outs, _, err := d.outputs(of)
	if err != nil {
		return nil, err
	}
	g, copied := gorgonia.NewGraph(), map[*Node]*Node{}
	for salt, n := range topological(append(nodes{d.outs[0]}, outs...)...) {
		if isLeaf(n) {
			copied[n] = gorgonia.NewTensor(g, n.Dtype(), len(n.Shape()), gorgonia.WithShape(n.Shape()...),
				gorgonia.WithName(leafName(n)))
			continue
		}
		var in nodes
		for _, a := range children(n) {
			in = append(in, copied[a])
		}
		o := &op{rule: ruleOf(n), shape: n.Shape(), in: in, salt: salt}
		if copied[n], err = gorgonia.ApplyOp(o, in...); err != nil {
			return nil, fmt.Errorf("%w: %v: %w", ErrGraph, o, err)
		}
	}
	return g, nil
}
