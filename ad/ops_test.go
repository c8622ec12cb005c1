package ad

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gorgonia.org/tensor"

	"dsbo/ad/adtest"
	"dsbo/ad/internal/engine"
	"dsbo/internal/testkit"
)

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

// source is the place of a loss's rows.
type source int

const (
	free   source = iota // rows are parameters
	fixed                // constants in the graph: nothing is tiled
	batch                // inputs: tiled
	bytes                // inputs kept as bytes, targets as labels
	picked               // a minibatch of a longer table
)

// A fixture is the making of a loss around one op.
type fixture struct {
	f       func(k *kit) *Node
	from    source
	rows    int
	third   bool // take a directional derivative of the loss as the loss: its second derivatives are f's third
	float32 bool
	tile    int // size of the tiles, 0 for the machine's own choice
}

// params is the number of parameters that the op's operands take, and one more, which none takes.
func (c fixture) params() int {
	leaves := newFamily()
	leaf := func(name string, shape ...int) *Node { return leaves.leaf(name, shape, tensor.Float64) }
	const most = 300 // that an op takes
	k := &kit{rows: c.rows, z: leaf("z", most), idx: leaf("idx", c.rows), hot: leaf("hot", c.rows, 3)}
	if c.from != free {
		k.data = leaf("data", c.rows, width)
	}
	c.f(k)
	return k.next + 1
}

// run makes the loss and runs f on its derivatives, and a point, as a part of t.
func (c fixture) run(t *testing.T, f func(t *testing.T, d *Derivs, x, y []float64)) {
	t.Run(fmt.Sprintf("from=%d,rows=%d,tile=%d,third=%t,float32=%t", c.from, c.rows, c.tile, c.third, c.float32),
		func(t *testing.T) {
			d := c.derivs(t)
			x, y := point(d.f.Q)
			f(t, d, x, y)
		})
}

func (c fixture) loss(t testing.TB, n numbers) Loss {
	params := c.params()
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
	dir := make([]float64, y.Shape()[0])
	for i := range dir {
		dir[i] = 1 - .3*float64(i%5)
	}
	return Dot(g[0], NewConst(x, "direction", len(dir), 0, dir))
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

// point returns n entries each of x and y at which no op of the table is near a kink, and which
// float32 has.
func point(n int) (x, y []float64) {
	r := rand.New(rand.NewPCG(3, 4))
	for range n {
		x, y = append(x, float64(float32(r.Float64()-.5))), append(y, float64(float32(r.NormFloat64()*.6)))
	}
	return x, y
}

// TestOps: each op in losses with rows of every kind and in both types. One that is made for one
// check serves others: what differs from op to op, in turn, is the same kind of evidence.
func TestOps(t *testing.T) {
	for turn, op := range ops {
		t.Run(op.name, func(t *testing.T) {
			full := testkit.Sized(false, turn%5 < 2, true) // whether it is tried in all ways
			testWhole(t, op.f, turn, full)
			testTiles(t, op.f, turn, full)
		})
	}
}

// testWhole holds what is not cut in tiles against finite differences, its derivative (third order)
// too, and whole matrices against products. Gorgonia's own machine has the same bits.
func testWhole(t *testing.T, f func(k *kit) *Node, turn int, full bool) {
	for _, c := range []fixture{{from: free}, {from: fixed}, {from: source(turn % 2), third: true}} {
		if !full && (c.third || c.from == fixed && turn%8 > 0) {
			continue
		}
		c.f, c.rows = f, 5
		c.run(t, func(t *testing.T, d *Derivs, x, y []float64) {
			adtest.Check(t, d, x, y)
			if c.from == fixed && !c.third && turn%2 == 0 {
				sameOnTape(t, c, d, x, y)
			}
			if int(c.from) == turn/2%2 {
				products(t, d, x, y, 5)
			}
		})
	}
	if single := (fixture{f: f, from: fixed, rows: 5, float32: true}); full && turn%2 == 1 {
		single.run(t, func(t *testing.T, d *Derivs, x, y []float64) { sameOnTape(t, single, d, x, y) })
	}
}

// testTiles: whatever the size of the tiles, the form of the data and the order of its rows, the
// numbers are those of a graph that holds the data as a constant. Sums over rows are added tile by
// tile: a few roundings. So it is in float32, to its rounding.
func testTiles(t *testing.T, f func(k *kit) *Node, turn int, full bool) {
	form := []source{bytes, picked}[turn%2]
	for i, same := range [][]fixture{ // the first of each is what the others must be
		{{from: fixed}, {from: batch, tile: 4}, {from: form, tile: 4},
			{from: []source{picked, batch}[turn%2], float32: true, tile: 4 + turn/2%2*4}},
		{{from: fixed}, {from: batch, tile: 1}, {from: picked, tile: 11}},
		{{from: fixed, rows: 1}, {from: batch, rows: 1, tile: 1}, {from: form, rows: 1, tile: 1}},
		{{from: fixed, third: true}, {from: batch, third: true, tile: 11}, {from: picked, third: true, tile: 4}},
	} {
		if i > 0 && (!full || i != 1+turn%3) {
			continue
		}
		var want *Derivs
		for k, c := range same {
			if !full && k == 2 {
				continue
			}
			c.f, c.rows = f, cmp.Or(c.rows, 11)
			c.run(t, func(t *testing.T, d *Derivs, x, y []float64) {
				switch {
				case k == 0:
					want = d
				case c.float32:
					adtest.Compare(t, d, want, x, y, 1e-4)
				default:
					adtest.Compare(t, d, want, x, y, 1e-13)
				}
				if i == 0 && k == 1+turn/2%2*2 || i > 1 && k == 1 {
					products(t, d, x, y, 5)
				}
			})
		}
	}
}

// TestManyRows: so it is with more rows than the machine's own tiles have.
func TestManyRows(t *testing.T) {
	some := []string{"ConcatCols", "MaxPool padded, of a rectangle", "Gather", "Cols", "Max", "Clip", "RowMax",
		"AvgPool", "BatchMatMul(Bᵀ)"}
	if testing.Short() {
		some = some[:3]
	}
	for _, op := range ops {
		if !slices.Contains(some, op.name) {
			continue
		}
		t.Run(op.name, func(t *testing.T) {
			const rows = 2*512 + 3 // more than a tile ever has
			want := fixture{f: op.f, from: fixed, rows: rows}.derivs(t)
			// Sums of a thousand numbers in another order: a few hundred roundings of 1e-16, and
			// cancellation.
			fixture{f: op.f, from: picked, rows: rows}.run(t, func(t *testing.T, d *Derivs, x, y []float64) {
				adtest.Compare(t, d, want, x, y, 1e-12)
			})
		})
	}
}
