package ad

import "slices"

// Choices between numbers. What is not chosen counts for nothing, in values and derivatives, even
// where it is NaN or infinite.
const (
	whereOp        named = "Where"
	opGreater      named = "Greater"
	opGreaterEqual named = "GreaterEqual"
	opEqual        named = "Equal"
)

// init defines the ops: the kernel of each, and the adjoints of its inputs by the adjoint g of its
// output.
func init() {
	noGrads := func(nodes, *Node, *Node) nodes { return nodes{nil, nil} }
	where := cheap(kernels("rrr", whereKernel, whereKernel))
	where.InPlace = []int{0, 1, 2}
	define(map[named]definition{
		whereOp: {where, func(in nodes, _, g *Node) nodes {
			zero := Uniform(0, g)
			return nodes{nil, choice(in[0], g, zero), choice(in[0], zero, g)}
		}},
		opGreater:      {cheap(computing2(func(a, b float64) float64 { return oneIf[float64](a > b) })), noGrads},
		opGreaterEqual: {cheap(computing2(func(a, b float64) float64 { return oneIf[float64](a >= b) })), noGrads},
		opEqual:        {cheap(computing2(func(a, b float64) float64 { return oneIf[float64](a == b) })), noGrads},
	})
}

// Where returns a's entry where condition is not 0, and b's where it is 0; shapes are broadcast.
// The condition has no derivative.
//
// An entry that is not chosen has the derivative 0, and has none to hand on: entrywise ops before
// Where, such as Log, Div or Sqrt, add nothing there even where their own derivative is NaN or
// infinite, in derivatives of any order. An entry that was broadcast counts as chosen if any of its
// copies is.
func Where(condition, a, b *Node) *Node {
	same := whereOp.broadcast(condition, a, b)
	return choice(same[0], same[1], same[2])
}

// choice is Where of nodes of the same shape.
func choice(c, a, b *Node) *Node {
	if in := children(a); ruleOf(a) == whereOp && in[0] == c {
		a = in[1]
	}
	if in := children(b); ruleOf(b) == whereOp && in[0] == c {
		b = in[2]
	}
	if a == b {
		return a
	}
	return newNode(whereOp, shapeOf(c), c, a, b)
}

// Greater returns 1 where a > b and 0 elsewhere, with shapes broadcast. Derivatives of comparisons
// are 0. Mul of two conditions is their conjunction, and Max their disjunction.
func Greater(a, b *Node) *Node { return apply2(opGreater, a, b) }

// GreaterEqual returns 1 where a ≥ b and 0 elsewhere.
func GreaterEqual(a, b *Node) *Node { return apply2(opGreaterEqual, a, b) }

// Less returns 1 where a < b and 0 elsewhere.
func Less(a, b *Node) *Node { return Greater(b, a) }

// LessEqual returns 1 where a ≤ b and 0 elsewhere.
func LessEqual(a, b *Node) *Node { return GreaterEqual(b, a) }

// Equal returns 1 where a = b and 0 elsewhere.
func Equal(a, b *Node) *Node { return apply2(opEqual, a, b) }

// NotEqual returns 1 where a ≠ b and 0 elsewhere.
func NotEqual(a, b *Node) *Node { return Offset(1, Neg(Equal(a, b))) }

// A mask is an adjoint that is 0 where a condition is false, or where it is true.
type mask struct {
	condition *Node
	holds     bool
}

// masksOf returns an adjoint's masks, the outermost first, and what is behind them.
func masksOf(g *Node) (masks []mask, rest *Node) {
	for ruleOf(g) == whereOp {
		in := children(g)
		switch {
		case isZero(in[2]):
			masks, g = append(masks, mask{in[0], true}), in[1]
		case isZero(in[1]):
			masks, g = append(masks, mask{in[0], false}), in[2]
		default:
			return masks, g
		}
	}
	return masks, g
}

func isZero(n *Node) bool {
	c, constant := constOf(n)
	return constant && c == 0
}

// maskedBy returns a behind masks.
func maskedBy(a *Node, masks ...mask) *Node {
	for _, m := range slices.Backward(masks) {
		if zero := Uniform(0, a); m.holds {
			a = choice(m.condition, a, zero)
		} else {
			a = choice(m.condition, zero, a)
		}
	}
	return a
}

// A broadcastInput is how an op repeats an input: which one, the sum that undoes it, and the input
// by which copies are multiplied; -1 if there is none.
type broadcastInput struct {
	input, factor int
	sum           func(*Node) *Node
}

var broadcastInputs = map[rule]broadcastInput{
	repeatRow: {0, -1, SumRows}, addRow: {1, -1, SumRows}, colScale: {1, 0, SumRows},
	repeatCol: {0, -1, SumCols}, addCol: {1, -1, SumCols}, rowScale: {1, 0, SumCols},
	fillOp: {0, -1, SumAll}, scaleByOp: {0, 1, SumAll},
}

// adjoint returns the adjoint of the repeated input: the sum over its copies that masks have left,
// behind a mask of entries without any.
func (s broadcastInput) adjoint(in nodes, g *Node, masks []mask) *Node {
	left := chosen(masks)
	if s.factor >= 0 {
		g = maskedBy(Mul(g, in[s.factor]), masks...)
	}
	sum, copies := s.sum(g), s.sum(left)
	return maskedBy(sum, mask{Greater(copies, Uniform(0, copies)), true})
}

// chosen returns 1 where masks leave an entry, and 0 elsewhere.
func chosen(masks []mask) *Node { return maskedBy(Uniform(1, masks[0].condition), masks...) }

// maskAdjoints keeps what choices have left out of the adjoint g out of the adjoints of a rule's
// inputs, where each of their entries belongs to one of g, or is repeated: there 0 times a
// derivative that is infinite or NaN is 0.
func maskAdjoints(r rule, in nodes, g *Node, adjoints nodes) {
	masks, rest := masksOf(g)
	if len(masks) == 0 || r == whereOp { // which hands on g behind a condition of its own
		return
	}
	if _, reshapes := r.(shapeRule); reshapes {
		s := shapeOf(in[0])
		for i := range masks {
			masks[i].condition = reshape(masks[i].condition, s)
		}
		adjoints[0] = maskedBy(reshape(rest, s), masks...)
		return
	}
	if s, repeats := broadcastInputs[r]; repeats && adjoints[s.input] != nil {
		adjoints[s.input] = s.adjoint(in, g, masks)
	}
	for _, i := range r.lower(in).InPlace {
		if adjoints[i] != nil && adjoints[i] != g && equal(shapeOf(adjoints[i]), shapeOf(g)) {
			adjoints[i] = maskedBy(adjoints[i], masks...)
		}
	}
}

// addAdjoints adds two adjoints of a node. The sum is behind the masks that both have, and where
// each has others behind what one of them leaves.
func addAdjoints(a, b *Node) *Node {
	ofA, restA := masksOf(a)
	ofB, restB := masksOf(b)
	var common []mask
	for _, m := range ofA {
		if i := slices.Index(ofB, m); i >= 0 {
			common, ofB = append(common, m), slices.Delete(ofB, i, i+1)
		}
	}
	if len(common) == 0 {
		sum := Add(a, b)
		if len(ofA) > 0 && len(ofB) > 0 {
			either := Add(chosen(ofA), chosen(ofB))
			sum = maskedBy(sum, mask{Greater(either, Uniform(0, either)), true})
		}
		return sum
	}
	ofA = slices.DeleteFunc(ofA, func(m mask) bool { return slices.Contains(common, m) })
	return maskedBy(addAdjoints(maskedBy(restA, ofA...), maskedBy(restB, ofB...)), common...)
}

func whereKernel[T Float](c *call[T]) {
	a, b, dst := c.In[1].V, c.In[2].V, c.Dst.V
	for i, v := range c.In[0].V {
		if v != 0 {
			dst[i] = a[i]
		} else {
			dst[i] = b[i]
		}
	}
}

// oneIf returns 1 for true and 0 for false.
func oneIf[T Float](is bool) T {
	if is {
		return 1
	}
	return 0
}
