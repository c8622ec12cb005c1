package ad

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
)

// wantError fails t unless an error is of a kind and has a text.
func wantError(t *testing.T, err, kind error, want string) {
	t.Helper()
	if !errors.Is(err, kind) || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one that matches %v and says %q", err, kind, want)
	}
}

func TestFuncErrors(t *testing.T) {
	build := func(x, y *Node, in []*Node) []*Node { return []*Node{SumAll(y)} }
	many := make([]Input, 64)
	for i := range many {
		many[i].Name = strings.Repeat("i", i+1)
	}
	for _, c := range []struct {
		want string
		kind error
		f    Func
	}{
		{"it has -1, 2 and 0", dsbo.ErrShape, Func{P: -1, Q: 2, Build: build}},
		{"it has 1, 2 and -1", dsbo.ErrShape, Func{P: 1, Q: 2, Rows: -1, Build: build}},
		{"needs Build", ErrGraph, Func{P: 1, Q: 2}},
		{`one is ""`, dsbo.ErrShape, Func{P: 1, Q: 2, Build: build, Inputs: []Input{{}}}},
		{`one is "a"`, dsbo.ErrShape, Func{P: 1, Q: 2, Build: build, Inputs: []Input{{Name: "a"}, {Name: "a"}}}},
		{`Rows must be positive for input "a", which is a batch; it is 0`, dsbo.ErrShape,
			Func{P: 1, Q: 2, Build: build, Inputs: []Input{{Name: "a", Batch: true}}}},
		{"shape is [2 2 2]", dsbo.ErrShape,
			Func{P: 1, Q: 2, Build: build, Inputs: []Input{{Name: "a", Shape: []int{2, 2, 2}}}}},
		{"shape is [2 2]", dsbo.ErrShape,
			Func{P: 1, Q: 2, Rows: 3, Build: build, Inputs: []Input{{Name: "a", Shape: []int{2, 2}, Batch: true}}}},
		{"shape is [0]", dsbo.ErrShape, Func{P: 1, Q: 2, Build: build, Inputs: []Input{{Name: "a", Shape: []int{0}}}}},
		{"at most 64 inputs", ErrGraph, Func{P: 1, Q: 2, Build: build, Inputs: many}},
	} {
		_, err := Compile(c.f)
		wantError(t, err, c.kind, c.want)
	}
	// x, y and 62 inputs leave no room for v, however often one asks.
	d := testkit.Get(Differentiate(
		Loss{P: 1, Q: 2, Inputs: many[:64-2], Build: func(_, y *Node, in []*Node) *Node {
			return Mul(in[0], SumAll(Square(y)))
		}}))
	for _, in := range d.f.Inputs {
		testkit.OK(d.Bind(in.Name, table(1, 1), nil))
	}
	for range 2 {
		if err := d.HVP(make([]float64, 2), []float64{0}, []float64{1, 2}, []float64{1, 0}); !errors.Is(err, ErrGraph) {
			t.Errorf("HVP with one input too many: error %v, want ErrGraph", err)
		}
	}
	if _, err := Differentiate(Loss{P: 1, Q: 1}); !errors.Is(err, ErrGraph) {
		t.Errorf("a loss without Build: error %v, want ErrGraph", err)
	}
}

func table(rows, cols int) *Table {
	data := make([]float64, rows*cols)
	for i := range data {
		data[i] = float64(i % 5)
	}
	return testkit.Get(FloatTable(rows, cols, data))
}

func TestBindErrors(t *testing.T) {
	d := testkit.Get(Differentiate(
		Loss{P: 1, Q: 2, Rows: 3,
			Inputs: []Input{{Name: "a", Shape: []int{2}, Batch: true}, {Name: "w", Shape: []int{2}},
				{Name: "idx", Batch: true}},
			Build: func(x, y *Node, in []*Node) *Node {
				return SumAll(Mul(Gather(Mul(y, in[1]), in[2]), MatVec(in[0], y, false)))
			}}))
	x, y := []float64{0}, []float64{1, 2}
	says := func(err error, want string) {
		t.Helper()
		wantError(t, err, dsbo.ErrShape, want)
	}
	_, err := d.Value(x, y)
	says(err, `input "a" must be bound to a table`)
	says(d.Bind("b", table(3, 2), nil), `no input "b"`)
	says(d.Bind("a", nil, nil), `input "a": the table must not be nil`)
	says(d.Bind("a", table(4, 2), nil), "the input has 3 rows and 2 columns; the table has 4 and 2")
	says(d.Bind("a", table(3, 3), nil), "the table has 3 and 3")
	says(d.Bind("a", table(4, 2), []int{0, 1}), "the table has 2 and 2")
	says(d.Bind("a", table(4, 2), []int{0, 4, 1}), "rows of a batch must be from 0 to 3; at place 1 is 4")
	says(d.Bind("a", table(4, 2), []int{0, 1, -1}), "at place 2 is -1")
	says(d.Bind("a", table(3, 2), []int{}), "the table has 0 and 2")
	for name, tab := range map[string]*Table{"a": table(3, 2), "w": table(2, 1), "idx": table(3, 1)} {
		testkit.OK(d.Bind(name, tab, nil))
	}
	_, err = d.Value(x, y)
	says(err, "Gather: indices must be whole numbers from 0 to 1; that of row 2 is 2")
	says(d.Grad(nil, y, x, []float64{1, 2}), "Gather: indices must be whole numbers from 0 to 1; that of row 2 is 2")
	half := testkit.Get(FloatTable(3, 1, []float64{0, .5, 1}))
	testkit.OK(d.Bind("idx", half, nil))
	_, err = d.Value(x, y)
	says(err, "Gather: indices must be whole numbers from 0 to 1; that of row 1 is 0.5")
	good := testkit.Get(FloatTable(3, 1, []float64{0, 1, 1}))
	// An error leaves the program usable: a = [0 1; 2 3; 4 0], w = [0 1], y = [1 2].
	testkit.OK(d.Bind("idx", good, nil))
	if v, err := d.Value(x, y); err != nil || v != 2*8+2*4 {
		t.Errorf("value %v, %v; want 24", v, err)
	}
}

// The gradient of what is linear runs the adjoint alone, whose error names the model's op.
func TestIndexErrorsNameTheModelsOp(t *testing.T) {
	for want, build := range map[string]func(y, idx *Node) *Node{
		"SegmentSum(2) in the derivative of Gather: indices": Gather,
		"Gather in the derivative of SegmentSum: indices":    func(y, idx *Node) *Node { return SegmentSum(y, idx, 2) },
	} {
		d := testkit.Get(Differentiate(Loss{P: 1, Q: 2, Rows: 2, Inputs: []Input{{Name: "idx", Batch: true}},
			Build: func(x, y *Node, in []*Node) *Node { return SumAll(build(y, in[0])) }}))
		testkit.OK(d.Bind("idx", testkit.Get(FloatTable(2, 1, []float64{0, 2})), nil))
		wantError(t, d.Grad(nil, make([]float64, 2), []float64{0}, []float64{1, 2}), dsbo.ErrShape, want)
	}
}

// TestZeros: a derivative that is 0 by the shape of the loss is written like any other.
func TestZeros(t *testing.T) {
	d := testkit.Get(Differentiate(Loss{P: 2, Q: 1, Build: func(x, y *Node, _ []*Node) *Node { return SumAll(y) }}))
	x, y := []float64{1, 2}, []float64{3}
	dx, dy, hv, jv := []float64{7, 7}, []float64{7}, []float64{7}, []float64{7, 7}
	testkit.OK(errors.Join(d.Grad(dx, dy, x, y), d.HVP(hv, x, y, y), d.JVP(jv, x, y, y)))
	sameBits(t, "derivatives", slices.Concat(dx, dy, hv, jv), []float64{0, 0, 1, 0, 0, 0})
}

// TestNegativeZero: -0 in place of 0 is another input.
func TestNegativeZero(t *testing.T) {
	d := testkit.Get(Differentiate(
		Loss{P: 1, Q: 1, Build: func(x, y *Node, _ []*Node) *Node { return SumAll(Square(y)) }}))
	hv := make([]float64, 1)
	for _, v := range []float64{0, math.Copysign(0, -1), 0} {
		testkit.OK(d.HVP(hv, []float64{0}, []float64{1}, []float64{v}))
		sameBits(t, "HVP", hv, []float64{2 * v})
	}
}

// TestWholeInputs: an input that is no batch may be a number, a vector or a matrix, and is read
// again when bound again.
func TestWholeInputs(t *testing.T) {
	p := testkit.Get(Compile(
		Func{P: 1, Q: 2, Inputs: []Input{{Name: "s"}, {Name: "v", Shape: []int{2}}, {Name: "m", Shape: []int{2, 2}}},
			Build: func(x, y *Node, in []*Node) []*Node {
				return []*Node{Mul(in[0], Dot(in[1], MatVec(in[2], y, false))), in[0], SumAll(x)}
			}}))
	bind := func(name string, tab *Table, idx []int) {
		t.Helper()
		testkit.OK(p.Bind(name, tab, idx))
	}
	eval := func(want ...float64) {
		t.Helper()
		got := []float64{0, 0, 0, -7}
		testkit.OK(p.Eval(got, []float64{5}, []float64{1, 10}))
		sameBits(t, "values", got, append(want, -7))
	}
	all := table(4, 2) // 0 1, 2 3, 4 0, 1 2
	bind("s", table(2, 1), []int{1})
	bind("v", table(2, 1), nil)
	bind("m", all, []int{0, 1})
	eval(32, 1, 5)
	bind("m", all, []int{0, 3})
	eval(21, 1, 5)
	square := table(2, 2) // 0 1, 2 3
	bind("m", square, []int{1, 0})
	eval(10, 1, 5)
	bind("m", square, nil)
	eval(32, 1, 5)
	bind("m", all, []int{0, 3})
	bind("v", table(2, 1), []int{1, 1})
	eval(31, 1, 5)
}

// TestVectorValues: values of more than one number come one after another, matrices row by row; so
// do inputs and what is cut by rows.
func TestVectorValues(t *testing.T) {
	p := testkit.Get(Compile(Func{P: 1, Q: 2, Rows: 4, Inputs: []Input{{Name: "X", Shape: []int{2}, Batch: true}},
		Build: func(x, y *Node, in []*Node) []*Node {
			return []*Node{MatVec(in[0], y, false), SumAll(y), Outer(y, y), in[0]}
		}}))
	testkit.OK(p.Bind("X", table(4, 2), nil)) // 0 1, 2 3, 4 0, 1 2
	got := make([]float64, 4+1+4+8)
	testkit.OK(p.Eval(got, []float64{0}, []float64{1, 10}))
	sameBits(t, "values", got, []float64{10, 32, 4, 21, 11, 1, 10, 10, 100, 0, 1, 2, 3, 4, 0, 1, 2})
	if err := p.Eval(got[1:], []float64{0}, []float64{1, 10}); !errors.Is(err, dsbo.ErrShape) {
		t.Errorf("error for 16 numbers where there are 17: %v, want one that matches ErrShape", err)
	}
}

// TestBadIndexes: a bad index is found in the row of its table, whatever the tiles and the
// minibatch, also of several indices in a row; and one that is in no table by its place.
func TestBadIndexes(t *testing.T) {
	pairs := make([]float64, 2*9)
	pairs[2*7+1] = 4
	for _, c := range []struct {
		name, want string
		shape      []int
		data       []float64
		idx        []int
		build      func(y, idx *Node) *Node
	}{
		{"one index a row", "that of row 7 is 4", nil, []float64{0, 1, 2, 3, 0, 1, 2, 4, 0}, []int{8, 6, 5, 7, 0},
			func(y, idx *Node) *Node { return Gather(y, idx) }},
		{"two indices a row", "entry 1 of row 7 is 4", []int{2}, pairs, []int{8, 6, 5, 7, 0},
			func(y, idx *Node) *Node { return Gather(y, Flatten(idx)) }},
		{"an index made of others", "that of row 3 is -1", nil, []float64{1, 1, 2, 0, 3, 1, 2, 4, 1},
			[]int{1, 2, 3, 0, 8},
			func(y, idx *Node) *Node { return Gather(y, Offset(-1, idx)) }},
		{"an index of a table, all of whose rows are read", "that of row 3 is 4", nil, []float64{0, 1, 2, 4, 0}, nil,
			func(y, idx *Node) *Node { return Gather(y, idx) }},
		{"a constant", "entry 1 is 9", nil, make([]float64, 9), []int{1, 2, 3, 4, 5},
			func(y, idx *Node) *Node { return Gather(y, NewConst(y, "constant", 2, 0, []float64{0, 9})) }},
	} {
		for _, tile := range []int{1, 2, 5} {
			d := testkit.Get(Differentiate(
				Loss{P: 1, Q: 4, Rows: 5, Inputs: []Input{{Name: "idx", Shape: c.shape, Batch: true}},
					Build: func(_, y *Node, in []*Node) *Node {
						return Add(SumAll(Square(c.build(y, in[0]))), SumAll(in[0]))
					}}))
			setTile(d.Program, tile)
			testkit.OK(d.Bind("idx",
				testkit.Get(FloatTable(len(c.data)/max(1, len(c.shape)*2), max(1, len(c.shape)*2), c.data)), c.idx))
			dst := make([]float64, 4)
			for what, err := range map[string]error{"HVP": d.HVP(dst, []float64{0}, dst, dst),
				"gradient": d.Grad(nil, dst, []float64{0}, dst)} {
				t.Run(fmt.Sprintf("%s, %s in tiles of %d", c.name, what, tile),
					func(t *testing.T) { wantError(t, err, dsbo.ErrShape, c.want) })
			}
		}
	}
}
