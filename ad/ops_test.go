package ad

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"dsbo/ad/adtest"
	"dsbo/ad/internal/engine"
	"dsbo/internal/testkit"
)

// params is a number of parameters that is enough for every case.
const params = 220

// numbers are the examples of the tests: data of 3 columns, indices, one-hot classes.
type numbers struct {
	x        []float64
	bytes    []uint8
	idx, hot []float64
	labels   []uint8
}

func draw(m int) numbers {
	r := rand.New(rand.NewPCG(7, uint64(m)))
	var n numbers
	for range m {
		for range width {
			b := uint8(r.IntN(256))
			n.bytes = append(n.bytes, b)
			n.x = append(n.x, float64(b)*(1./255))
		}
		n.idx = append(n.idx, float64(r.IntN(4)))
		n.labels = append(n.labels, uint8(r.IntN(3)))
		hot := [3]float64{}
		hot[n.labels[len(n.labels)-1]] = 1
		n.hot = append(n.hot, hot[:]...)
	}
	return n
}

// source says where a loss has its rows from.
type source int

const (
	free   source = iota // rows are parameters
	fixed                // constants in the graph: nothing is tiled
	batch                // inputs: tiled
	bytes                // inputs kept as bytes, targets as labels
	picked               // a minibatch of a longer table
)

// A fixture says how a loss around one op is made.
type fixture struct {
	f       func(k *kit) *Node
	from    source
	rows    int
	third   bool // take a directional derivative of the loss as the loss: its second derivatives are f's third
	float32 bool
	tile    int // size of the tiles, 0 for the machine's own choice
}

func (c fixture) loss(t testing.TB, n numbers) Loss {
	l := Loss{P: params, Q: params, Float32: c.float32, Build: func(x, y *Node, in []*Node) *Node {
		return c.build(t, n, x, y, in)
	}}
	if c.from >= batch {
		l.Rows = c.rows
		l.Inputs = []Input{{Name: "data", Shape: []int{width}, Batch: true}, {Name: "idx", Batch: true},
			{Name: "hot", Shape: []int{3}, Batch: true}}
	}
	return l
}

func (c fixture) derivs(t testing.TB) *Derivs {
	t.Helper()
	n := draw(c.rows)
	d := testkit.Get(Differentiate(c.loss(t, n)))
	if c.tile > 0 {
		setTile(d.Program, c.tile)
	}
	if c.from >= batch {
		n.bind(t, d, c.from)
	}
	return d
}

// setTile makes the tiles of p and of its later forks n examples long at most, before p has any.
func setTile(p *Program, n int) { p.template.Limit(n, 0) }

// poolOf returns where p's scratch memory comes from.
func poolOf(p *Program) *Pool { return p.m.(engine.Inspector).Pool() }

func (c fixture) build(t testing.TB, n numbers, x, y *Node, in []*Node) *Node {
	k := &kit{rows: c.rows, z: Add(Mul(y, Exp(Scale(.3, x))), Sin(x))}
	switch {
	case c.from >= batch:
		k.data, k.idx, k.hot = in[0], in[1], in[2]
	case c.from == fixed:
		k.data = NewConst(x, "data", c.rows, width, n.x)
	}
	if k.idx == nil {
		k.idx, k.hot = NewConst(x, "idx", c.rows, 0, n.idx), NewConst(x, "hot", c.rows, 3, n.hot)
	}
	cost := k.total(c.f(k))
	if !c.third {
		return cost
	}
	g := testkit.Get(Grad(cost, y))
	dir := make([]float64, params)
	for i := range dir {
		dir[i] = 1 - .3*float64(i%5)
	}
	return Dot(g[0], NewConst(x, "direction", params, 0, dir))
}

// bind gives d the rows, in the form that from asks for.
func (n numbers) bind(t testing.TB, d *Derivs, from source) {
	m := len(n.idx)
	var idx []int
	x, hot, ids := testkit.Get(FloatTable(m, width, n.x)), testkit.Get(FloatTable(m, 3, n.hot)),
		testkit.Get(FloatTable(m, 1, n.idx))
	if from == bytes || from == picked {
		x, hot = testkit.Get(ByteTable(m, width, n.bytes, 1./255)), testkit.Get(LabelTable(n.labels, 3))
	}
	if from == picked { // the same rows, out of a table that has them in another order
		order := rand.New(rand.NewPCG(1, 1)).Perm(m)
		back := make([]int, m)
		for i, j := range order {
			back[j] = i
		}
		for _, p := range []**Table{&x, &hot, &ids} {
			*p = testkit.Get((*p).Pick(order))
		}
		idx = back
	}
	testkit.OK(errors.Join(d.Bind("data", x, idx), d.Bind("hot", hot, idx), d.Bind("idx", ids, idx)))
}

// point returns x and y at which no op of the table is near a kink.
func point() (x, y []float64) {
	r := rand.New(rand.NewPCG(3, 4))
	x, y = make([]float64, params), make([]float64, params)
	for i := range x {
		x[i], y[i] = r.Float64()-.5, r.NormFloat64()*.6
	}
	return x, y
}

// TestOps: gradient, products, and those of a derivative (third order) against finite differences.
func TestOps(t *testing.T) {
	x, y := point()
	for _, op := range ops {
		t.Run(op.name, func(t *testing.T) {
			for _, from := range []source{free, fixed} {
				for _, third := range []bool{false, true} {
					if (third || from == fixed) && testing.Short() {
						continue
					}
					adtest.Check(t, fixture{f: op.f, from: from, rows: 5, third: third}.derivs(t), x, y)
				}
			}
		})
	}
}

// TestTiles: whatever the size of the tiles, the form of the data and the order of its rows, the
// numbers are those of a graph that holds the data as a constant. Sums over rows are added tile by
// tile: a few roundings. Each op has the first of the sizes below and another one in turn.
func TestTiles(t *testing.T) {
	const tol = 1e-13
	x, y := point()
	for k, op := range ops {
		t.Run(op.name, func(t *testing.T) {
			for i, same := range [][]fixture{ // with the same numbers, the first of which are those of the constant
				{{rows: 11, from: fixed}, {rows: 11, from: batch, tile: 4}, {rows: 11, from: bytes, tile: 4},
					{rows: 11, from: picked, tile: 4}},
				{{rows: 11, from: fixed}, {rows: 11, from: batch, tile: 1}, {rows: 11, from: picked, tile: 11}},
				{{rows: 1, from: fixed}, {rows: 1, from: batch, tile: 1}, {rows: 1, from: picked, tile: 1}},
				{{rows: 11, from: fixed, third: true}, {rows: 11, from: batch, third: true, tile: 11},
					{rows: 11, from: picked, third: true, tile: 4}},
			} {
				if i > 0 && (testing.Short() || i != 1+k%3) {
					continue
				}
				for c := range same {
					same[c].f = op.f
				}
				want := same[0].derivs(t)
				for _, c := range same[1:] {
					adtest.Compare(t, c.derivs(t), want, x, y, tol)
				}
			}
		})
	}
}

// TestManyRows: so it is with more rows than the machine's own tiles have.
func TestManyRows(t *testing.T) {
	x, y := point()
	for _, op := range ops {
		if !slices.Contains([]string{"Cols", "ConcatCols", "Max", "Clip", "RowMax", "MaxPool padded, of a rectangle",
			"AvgPool", "BatchMatMul(Bᵀ)", "Gather"}, op.name) {
			continue
		}
		t.Run(op.name, func(t *testing.T) {
			const rows = 2*512 + 3 // more than a tile ever has
			want := fixture{f: op.f, from: fixed, rows: rows}.derivs(t)
			// Sums of a thousand numbers in another order: a few hundred roundings of 1e-16, and
			// cancellation.
			adtest.Compare(t, fixture{f: op.f, from: picked, rows: rows}.derivs(t), want, x, y, 1e-12)
		})
	}
}

// TestFloat32: all derivatives in float32 are close to those in float64.
func TestFloat32(t *testing.T) {
	x, y := point()
	for i := range x {
		x[i], y[i] = float64(float32(x[i])), float64(float32(y[i]))
	}
	for _, op := range ops {
		t.Run(op.name, func(t *testing.T) {
			want := fixture{f: op.f, from: fixed, rows: 11}.derivs(t)
			for _, from := range []source{batch, picked} {
				adtest.Compare(t, fixture{f: op.f, from: from, rows: 11, float32: true, tile: 4}.derivs(t),
					want, x, y, 1e-4)
			}
		})
	}
}
