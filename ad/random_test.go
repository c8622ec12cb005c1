package ad

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"dsbo/internal/testkit"
)

// A randomGraph is a loss of random ops on values of three kinds: with rows, whole, and sums over
// rows that rows read again, so that its plans have several passes over the batch. It depends on
// the seed alone.
type randomGraph struct {
	r     *rand.Rand
	y     *Node
	rows  [2][]*Node // matrices of examples, narrow and wide
	whole []*Node    // vectors of whole numbers, as long as wide rows
}

const (
	randomRows   = 10
	narrow, wide = 3, 5
	randomX      = wide
	randomY      = 2*narrow*wide + 3*wide

	kinds = 41 // of values that add makes
)

// buildThird builds the derivative of a random graph along a vector: its second derivatives are
// third ones of the graph.
func buildThird(seed uint64, x, y, data, signs *Node) *Node {
	g := testkit.Get(Grad(buildRandom(seed, x, y, data, signs), x, y))
	along := func(g *Node) *Node {
		v := make([]float64, g.Shape()[0])
		for i := range v {
			v[i] = 1 - .3*float64(i%5)
		}
		return Dot(g, NewConst(y, fmt.Sprint("along ", len(v)), len(v), 0, v))
	}
	return Add(along(g[0]), along(g[1]))
}

func buildRandom(seed uint64, x, y, data, signs *Node) *Node {
	g := &randomGraph{r: rand.New(rand.NewPCG(seed, 1)), y: y}
	g.rows[0] = []*Node{data, RowScale(data, signs)}
	g.rows[1] = []*Node{AddRow(MatMul(data, g.weights(false), false, false), Tanh(x))}
	g.whole = []*Node{x, Exp(x), PartVec(y, 0, wide), PartVec(y, randomY-wide, wide)}
	for range 4 + g.r.IntN(16) {
		g.add(g.r.IntN(kinds))
	}
	end := func(list []*Node) *Node { return list[len(list)-1] }
	total := Add(SumAll(Square(end(g.rows[0]))), Mean(end(g.rows[1])))
	return Add(total, Add(Dot(end(g.whole), g.pick(g.whole)), Scale(.5, Dot(y, y))))
}

func (g *randomGraph) pick(list []*Node) *Node { return list[g.r.IntN(len(list))] }

// weights returns a part of y as a matrix from narrow to wide, or back.
func (g *randomGraph) weights(back bool) *Node {
	off := g.r.IntN(randomY - narrow*wide + 1) // parts overlap
	if back {
		return Part(g.y, off, wide, narrow)
	}
	return Part(g.y, off, narrow, wide)
}

// add makes a value of a kind. Functions between -1 and 1 keep all in bounds.
func (g *randomGraph) add(kind int) {
	side := g.r.IntN(2)
	a := g.pick(g.rows[side])
	add := func(n *Node) { g.rows[side] = append(g.rows[side], n) }
	units := []func(*Node) *Node{Tanh, Sigmoid, ReLU, RowSoftmax, Sin}
	unit := units[g.r.IntN(len(units))]
	switch kind {
	case 0, 1:
		side = 1 - side
		add(unit(AddRow(MatMul(a, g.weights(side == 0), false, false), SumRows(Tanh(g.pick(g.rows[side]))))))
	case 2, 3:
		add(unit(a))
	case 4:
		add(Tanh(Mul(a, g.pick(g.rows[side]))))
	case 5:
		add(Sub(Tanh(a), g.pick(g.rows[side])))
	case 6:
		add(RowScale(Tanh(a), RowDot(a, Tanh(g.pick(g.rows[side])))))
	case 7:
		add(AddCol(Tanh(a), Scale(.1, RowLogSumExp(a))))
	case 8: // a sum over the rows, and what is made of it
		side, a = 1, g.pick(g.rows[1])
		g.whole = append(g.whole, Tanh(ColDot(a, a)), Sigmoid(MatVec(a, SumCols(Tanh(a)), true)))
		add(ColScale(Tanh(a), g.pick(g.whole)))
	case 9:
		g.whole = append(g.whole, Tanh(MatVec(g.weights(false), MatVec(g.weights(true), g.pick(g.whole), true), true)))
	case 10:
		long := Add(Place(Tanh(g.pick(g.whole)), g.r.IntN(wide), 2*wide),
			Place(g.pick(g.whole), g.r.IntN(wide), 2*wide))
		g.whole = append(g.whole, Tanh(PartVec(long, g.r.IntN(wide), wide)), PartVec(Sin(long), wide, wide))
	case 11:
		side, a = 1, g.pick(g.rows[1])
		add(Tanh(ScaleBy(Dot(g.pick(g.whole), g.pick(g.whole)), a)))
	default:
		add(g.rearranged(kind, a, g.pick(g.rows[side])))
	}
}

// rearranged makes a value of the shape of a and b, of what stands in other places there, or of
// the larger and the smaller entries.
func (g *randomGraph) rearranged(kind int, a, b *Node) *Node {
	_, c := dims(a)
	switch cut := 1 + g.r.IntN(c-1); kind {
	case 12:
		return ConcatCols(Cols(a, cut, c-cut), Cols(b, 0, cut))
	case 13:
		return Max(Tanh(a), Clip(Min(a, b), -.75, .5))
	case 14:
		return AddCol(Abs(Tanh(a)), RowMax(RowScale(Tanh(b), RowMin(Sigmoid(a)))))
	case 15: // each row is an image of one row and c columns
		w := Window{H: 1, W: c, C: 1, KH: 1, KW: 3, Stride: 1, PadW: 1}
		return Add(MaxPool(a, w), AvgPool(Sin(b), w))
	case 16: // the outer product of two rows, times one of them, for each example
		u, v := Reshape(Tanh(a), c*randomRows, 1), Reshape(Sigmoid(b), c*randomRows, 1)
		outer := BatchMatMul(u, v, randomRows, false, true)
		return Reshape(BatchMatMul(outer, v, randomRows, g.r.IntN(2) == 0, false), randomRows, c)
	}
	switch {
	case kind > 34:
		return g.mapped(kind, a, b)
	case kind > 24:
		return g.structured(kind, a, b)
	case kind > 17:
		return g.chosen(kind, a, b)
	}
	half := randomRows / 2
	return Mul(Rsqrt(Offset(1, Square(a))),
		Transpose(ConcatCols(Transpose(Rows(b, half, half)), Transpose(Rows(Erf(b), 0, half)))))
}

// chosen makes a value of the shape of a and b by choices, running sums, and shapes that differ.
func (g *randomGraph) chosen(kind int, a, b *Node) *Node {
	_, c := dims(a)
	switch kind {
	case 18: // the square root and the logarithm are NaN where they are not chosen
		positive := Greater(a, Scale(.1, b))
		rest := Where(positive, Sub(a, Scale(.1, b)), StopGradient(Neg(Square(b))))
		return Tanh(Where(positive, Mul(Sqrt(rest), Log(rest)), Atan(b)))
	case 19:
		return Tanh(Add(CumSum(Sin(a)), ReverseCumSum(Tanh(b))))
	case 20:
		last, all := Scan(Tanh(SumRows(a)), Tanh(b), func(state, row *Node) (*Node, *Node) {
			next := Sin(Add(state, row))
			return next, Mul(next, row)
		})
		return Add(all, last)
	case 22: // a path through the examples: messages from each to the next but two
		from, to := make([]float64, randomRows), make([]float64, randomRows)
		for i := range from {
			from[i], to[i] = float64(i), float64((i+3)%randomRows)
		}
		sent := Gather(Tanh(a), NewConst(g.y, "from", randomRows, 0, from))
		return Add(SegmentSum(sent, NewConst(g.y, "to", randomRows, 0, to), randomRows), Sin(b))
	case 23:
		values, at := TopK(Tanh(a), 2)
		return AddCol(RowScale(SortRows(Sin(a)), SumCols(values)), TakeAlongRows(b, Flatten(Cols(at, 0, 1))))
	case 24:
		return ScatterAdd(Sin(a), ArgMax(Cols(b, 0, 2)), Tanh(b))
	}
	row, column := Reshape(RowDot(a, b), randomRows, 1), PartVec(g.y, 0, c)
	return Tanh(Add(Lgamma(Offset(1, Square(a))), Sub(Mul(Sigmoid(row), column), LogNormalCDF(Mul(Tanh(b), row)))))
}

// structured makes a value of the shape of a and b by tensors, convolutions, small systems, sparse
// matrices and derivatives of one's own.
func (g *randomGraph) structured(kind int, a, b *Node) *Node {
	_, c := dims(a)
	row := Window{H: 1, W: c, C: 1, KH: 1, KW: 3, Stride: 1, PadW: 1}
	taps := Part(g.y, g.r.IntN(randomY-3), 1, 3)
	tensor := func(a *Node) Tensor { return TensorOf(a, randomRows, 1, c) }
	outer := Einsum("nic,nid->ncd", tensor(Tanh(a)), tensor(Sin(b))) // for each example
	system := dominant(outer.Node, randomRows)
	switch kind {
	case 25:
		return Tanh(Einsum("ncd,nie->nc", outer.Transpose(0, 2, 1), tensor(Tanh(b))).Node)
	case 26:
		row.PadW, row.DilationW = 2, 2
		return Tanh(Reshape(Convolve(a, taps, row, 1), randomRows, c))
	case 27:
		return Tanh(Reshape(BatchSolve(system, Reshape(Tanh(b), randomRows*c, 1), randomRows), randomRows, c))
	case 28:
		symmetric := dominant(Einsum("nic,nid->ncd", tensor(Sin(b)), tensor(Sin(b))).Node, randomRows)
		factor := BatchCholesky(symmetric, randomRows)
		product := BatchMatMul(factor, Reshape(a, randomRows*c, 1), randomRows, true, false)
		return AddCol(Tanh(Reshape(product, randomRows, c)), Sin(BatchLogDet(system, randomRows)))
	case 29:
		return Remat(func(in ...*Node) *Node { return Tanh(Mul(Sin(in[0]), in[1])) }, a, b)
	case 30:
		by := func(in []*Node, _, g *Node) []*Node { return []*Node{Mul(g, Cos(in[0])), nil} }
		return Add(CustomGrad(Sin(a), by, a, b), Mul(Detached(Step(a)), Tanh(b)))
	case 33, 34: // two channels in groups of their own, at every second pixel
		row.C, row.StrideW = 2, 2
		both, filters := Tanh(ConcatCols(a, b)), Part(g.y, g.r.IntN(randomY-6), 2, 3)
		if kind == 33 {
			return Cols(Reshape(Convolve(both, filters, row, 2), randomRows, 2*row.OutW()), 0, c)
		}
		return Cols(ConvTranspose(Cols(both, 0, 2*row.OutW()), filters, row, 2), g.r.IntN(c+1), c)
	case 31:
		s := sparseRows(randomRows)
		return Tanh(Add(SparseMatMul(s, SparseMatMul(s, Tanh(a), false), true), Sin(b)))
	}
	return Tanh(Add(ConvTranspose(a, taps, row, 1), Cos(b)))
}

// randomTask is a random graph with points and batches.
type randomTask struct {
	seed    uint64
	build   func(seed uint64, x, y, data, signs *Node) *Node
	x, y, v [2][]float64
	data    *Table
	signs   *Table
	batches [2][]int
}

func newRandomTask(seed uint64) *randomTask {
	r := rand.New(rand.NewPCG(seed, 2))
	k := &randomTask{seed: seed, build: buildRandom}
	if seed%2 == 1 {
		k.build = buildThird
	}
	normal := func(n int) []float64 { return normals(r, n) }
	for i := range 2 {
		k.x[i], k.y[i], k.v[i] = normal(randomX), normal(randomY), normal(randomY)
		k.batches[i] = r.Perm(2 * randomRows)[:randomRows]
	}
	k.data = testkit.Get(FloatTable(2*randomRows, narrow, normal(2*randomRows*narrow)))
	k.signs = testkit.Get(FloatTable(2*randomRows, 1, normal(2*randomRows)))
	return k
}

func (k *randomTask) loss(float32 bool, w *Workspace) Loss {
	return Loss{P: randomX, Q: randomY, Rows: randomRows, Float32: float32, Workspace: w,
		Inputs: []Input{{Name: "data", Shape: []int{narrow}, Batch: true}, {Name: "signs", Batch: true}},
		Build:  func(x, y *Node, in []*Node) *Node { return k.build(k.seed, x, y, in[0], in[1]) }}
}

func (k *randomTask) derivs(float32 bool, tile int, w *Workspace) *Derivs {
	d := testkit.Get(Differentiate(k.loss(float32, w)))
	setTile(d.Program, tile)
	return d
}

// derivative returns what d gives at a state.
func (k *randomTask) derivative(d *Derivs, s state, what int) []float64 {
	x, y, v := k.x[s.x], k.y[s.y], k.v[s.v]
	testkit.OK(errors.Join(d.Bind("data", k.data, k.batches[s.batch]), d.Bind("signs", k.signs, k.batches[s.batch])))
	spoil(d.Program)
	dst := make([]float64, randomX+randomY)
	switch what {
	case 0:
		dst[0] = testkit.Get(d.Value(x, y))
	case 1:
		testkit.OK(d.Grad(dst[:randomX], dst[randomX:], x, y))
	case 2:
		testkit.OK(d.JVP(dst[:randomX], x, y, v))
	case 3:
		testkit.OK(d.HVP(dst[randomX:], x, y, v))
	case 4:
		dst = make([]float64, randomY*randomY)
		testkit.OK(d.Hessian(dst, x, y))
	}
	return dst
}

// spoil makes NaN of what earlier runs have left in scratch memory.
func spoil(p *Program) {
	list, _ := poolOf(p).Scratch()
	for _, s := range list {
		for i := range s {
			s[i] = math.Float64frombits(^uint64(0)) // two NaN of float32, too
		}
	}
}

// tape returns what gives the same at a state by Gorgonia's TapeMachine, whose values have a place
// each.
func (k *randomTask) tape(t *testing.T, float32 bool) func(s state) [][]float64 {
	var lengths [][]float64
	for _, n := range []int{randomX, randomY, randomY, randomRows * narrow, randomRows} {
		lengths = append(lengths, make([]float64, n))
	}
	leaves := tapeLeaves(float32, lengths)
	cost := k.build(k.seed, leaves[0], leaves[1], Reshape(leaves[3], randomRows, narrow), leaves[4])
	first := testkit.Get(Grad(cost, leaves[0], leaves[1]))
	second := testkit.Get(Grad(Dot(first[1], leaves[2]), leaves[0], leaves[1]))
	run := newTape(t, leaves, slices.Concat([]*Node{cost}, first, second))
	pad := func(x, y []float64) []float64 {
		dst := make([]float64, randomX+randomY)
		copy(dst, x)
		copy(dst[randomX:], y)
		return dst
	}
	return func(s state) [][]float64 {
		var data, signs []float64
		for _, i := range k.batches[s.batch] {
			for j := range narrow {
				data = append(data, k.data.At(i, j))
			}
			signs = append(signs, k.signs.At(i, 0))
		}
		got := run([][]float64{k.x[s.x], k.y[s.y], k.v[s.v], data, signs})
		return [][]float64{pad(got[0], nil), pad(got[1], got[2]), pad(got[3], nil), pad(nil, got[4])}
	}
}

// TestSharedPlaces: values that share memory, with each other and with those of other programs of
// a workspace, are those of machines in which each has its own: of Gorgonia's to rounding, and of
// programs that have done nothing else to the bit.
func TestSharedPlaces(t *testing.T) {
	graphs, steps := 4, 20 // each tile, and both types
	if testing.Short() {
		graphs, steps = 2, 8
	}
	for seed := range graphs {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		float32, tile := seed%4 == 0, []int{randomRows, 4, 3}[seed%3]
		var w Workspace
		tasks := []*randomTask{newRandomTask(uint64(2 * seed)), newRandomTask(uint64(2*seed + 1))}
		var both []*Derivs
		var tape []func(s state) [][]float64
		for _, k := range tasks {
			both, tape = append(both, k.derivs(float32, tile, &w)), append(tape, k.tape(t, float32))
		}
		tapes, fresh := map[string][][]float64{}, map[string][]float64{}
		for range steps {
			i, what := r.IntN(2), r.IntN(5)
			s := state{x: r.IntN(2), y: r.IntN(2), v: r.IntN(2), batch: r.IntN(2)}
			got := tasks[i].derivative(both[i], s, what)
			key := fmt.Sprint(i, s)
			if what < 4 {
				if tapes[key] == nil {
					tapes[key] = tape[i](s)
				}
				title := fmt.Sprintf("graph %d.%d, question %d at %+v, against the TapeMachine", seed, i, what, s)
				tol := 1e-10 // programs add in an order of their own: rounding alone differs
				if float32 {
					tol = 1e-3
				}
				within(t, title, got, tapes[key][what], tol)
			}
			key += fmt.Sprint(what)
			if fresh[key] == nil {
				fresh[key] = tasks[i].derivative(tasks[i].derivs(float32, tile, new(Workspace)), s, what)
			}
			sameBits(t, fmt.Sprintf("graph %d.%d, question %d at %+v", seed, i, what, s), got, fresh[key])
		}
	}
}

// TestPartOfItself: a vector to which a part of itself is added is not written over before the
// part is read.
func TestPartOfItself(t *testing.T) {
	const n = 40 // more than kernels read before they write
	y, weights := make([]float64, n), make([]float64, n)
	want := 0.
	for i := range y {
		y[i], weights[i] = math.Log(float64(i+1)), float64(i%7)
		want += weights[i] * float64(i+1)
		if i > 0 {
			want += weights[i] * float64(i)
		}
	}
	d := testkit.Get(Differentiate(Loss{P: 1, Q: n, Build: func(x, y *Node, _ []*Node) *Node {
		z := Exp(y)
		return Dot(Add(z, Place(PartVec(z, 0, n-1), 1, n)), NewConst(y, "w", n, 0, weights))
	}}))
	within(t, "value", []float64{testkit.Get(d.Value([]float64{0}, y))}, []float64{want}, 1e-14)
}
