package ad

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"dsbo/internal/kernel"
	"dsbo/internal/testkit"
)

// bytesTask is a task whose X is bytes, and the same numbers as a table of floats.
func bytesTask(d int) (k *task, asBytes, asFloats *Table) {
	k = newTask(90, d, 5, 1)
	r := rand.New(rand.NewPCG(8, 9))
	b := make([]uint8, len(k.data))
	for i := range b {
		if row, column := i/d, i%d; column >= row%4*8 && column < d-row%3*9 { // zeros at the ends are left out
			b[i] = uint8(r.Uint32())
		}
		k.data[i] = float64(b[i]) / 128
	}
	asBytes = testkit.Get(ByteTable(k.m, k.d, b, 1./128))
	return k, asBytes, k.tables["X"] // which is k.data
}

// TestBytesAfterGradient: a gradient that takes all rows as numbers, here as a part of itself,
// leaves the bits of the value alone, whose narrow product reads bytes.
func TestBytesAfterGradient(t *testing.T) {
	const rows, cols = 30, 16
	const p, q = rows * cols, (rows + 2) * cols
	r := rand.New(rand.NewPCG(3, 4))
	x, y, b := []float64{1}, normals(r, q), make([]uint8, p)
	for i := range b {
		b[i] = uint8(r.Uint32())
	}
	table := testkit.Get(ByteTable(rows, cols, b, 1./255)) // a scale that rounds
	value := func(before func(d *Derivs)) float64 {
		d := testkit.Get(Differentiate(
			Loss{P: 1, Q: q, Rows: rows, Inputs: []Input{{Name: "X", Shape: []int{cols}, Batch: true}},
				Build: func(x, y *Node, in []*Node) *Node {
					return Add(Dot(in[0], Part(y, 0, rows, cols)),
						SumAll(Tanh(MatMul(in[0], Part(y, p, 2, cols), false, true))))
				}}))
		testkit.OK(d.Bind("X", table, nil))
		before(d)
		return testkit.Get(d.Value(x, y))
	}
	alone := value(func(*Derivs) {})
	after := value(func(d *Derivs) { testkit.OK(d.Grad(nil, make([]float64, q), x, make([]float64, q))) })
	if alone != after {
		t.Errorf("the value is %v, and %v after a gradient", alone, after)
	}
}

// TestBytesNotFinite: zeros of all rows, with which products are left out, give NaN with infinity
// as other zeros do.
func TestBytesNotFinite(t *testing.T) {
	const rows, cols, outs = 30, 48, 2
	b := make([]uint8, rows*cols)
	for i := range b {
		if i%cols >= cols/2 {
			b[i] = uint8(1 + i%7)
		}
	}
	all := testkit.Get(ByteTable(rows, cols, b, 1))
	derivs := func(entry func(*Node) *Node) *Derivs {
		d := testkit.Get(Differentiate(
			Loss{P: 1, Q: outs * cols, Rows: rows, Inputs: []Input{{Name: "X", Shape: []int{cols}, Batch: true}},
				Build: func(x, y *Node, in []*Node) *Node {
					return SumAll(entry(MatMul(in[0], Part(y, 0, outs, cols), false, true)))
				}}))
		testkit.OK(d.Bind("X", testkit.Get(all.Pick(rand.New(rand.NewPCG(1, 1)).Perm(rows))), nil))
		return d
	}
	y, gradient := make([]float64, outs*cols), make([]float64, outs*cols)
	y[0] = math.Inf(1) // beside zeros
	if v := testkit.Get(derivs(Tanh).Value([]float64{1}, y)); v == v {
		t.Errorf("0·∞ adds nothing: the value is %g", v)
	}
	y[0], y[cols-1] = 0, math.Inf(1)
	testkit.OK(derivs(Square).Grad(nil, gradient, []float64{1}, y))
	if g := gradient[0]; g == g {
		t.Errorf("0·∞ adds nothing: an entry of the gradient is %g", g)
	}
}

// TestBytesInPlace: products that read bytes where they lie are those of the numbers, in either
// float type, for all rows and for a minibatch, alone and beside an op that reads the numbers; and
// tiles leave their bits alone.
func TestBytesInPlace(t *testing.T) {
	type kind struct {
		d, rows int
		single  bool
		also    bool // another op reads X
	}
	kinds := []kind{{48, 90, false, false}, {48, 90, true, true}, {32, 37, true, false}, {32, 37, false, true},
		{21, 37, true, false}}
	for path := kernel.Generic; kernel.Supported(path); path++ {
		for _, c := range kinds {
			t.Run(fmt.Sprintf("%v %+v", path, c), func(t *testing.T) {
				defer kernel.Use(path)()
				k, asBytes, asFloats := bytesTask(c.d)
				var idx []int
				if c.rows < k.m {
					idx = rand.New(rand.NewPCG(1, 1)).Perm(k.m)[:c.rows]
				}
				derivatives := func(x *Table, single bool, tile int) [4][]float64 {
					l := k.softmaxLoss()
					l.Rows, l.Float32 = c.rows, single
					if c.also {
						build := l.Build
						l.Build = func(x, y *Node, in []*Node) *Node {
							return Add(build(x, y, in), Mean(Square(MatVec(Square(in[0]), x, false))))
						}
					}
					d := testkit.Get(Differentiate(l))
					setTile(d.Program, tile)
					k.tables["X"] = x
					defer copy(k.y, slices.Clone(k.y)) // calls moves the point
					defer copy(k.v, slices.Clone(k.v))
					dst := [4][]float64{make([]float64, k.d), make([]float64, k.c*k.d), make([]float64, k.c*k.d),
						make([]float64, k.d)}
					testkit.OK(k.calls(d, 0, idx, &dst))
					return dst
				}
				want := derivatives(asFloats, false, 8)
				got, tiles := derivatives(asBytes, c.single, 64), derivatives(asBytes, c.single, 8)
				// Each entry is a sum over the rows of sums over the columns. Logits of about 10
				// have errors that the exponentials hand on.
				unit := math.Pow(2, -53)
				if c.single {
					unit = math.Pow(2, -24)
				}
				for i, name := range []string{"∇_x", "∇_y", "HVP", "JVP"} {
					size := 0.0
					for _, v := range want[i] {
						size = max(size, math.Abs(v))
					}
					for j, v := range want[i] {
						if e := math.Abs(got[i][j] - v); !(e <= 16*float64(c.d+c.rows)*unit*size) {
							t.Fatalf("%s[%d] is %g, want %g of floats", name, j, got[i][j], v)
						}
					}
					sameBits(t, name+" in other tiles", tiles[i], got[i])
				}
			})
		}
	}
}
