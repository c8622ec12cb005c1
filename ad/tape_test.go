package ad

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
)

// sameOnTape: Gorgonia's own machine gives the same bits on a graph of the same ops. (Where
// nothing is tiled: sums over rows are added tile by tile otherwise.) Products with patches, which
// a program never has in memory, it sums in another order: there the results are the same to the
// rounding of sums of fewer than 100 terms, of which each may lose a unit roundoff of the largest.
func sameOnTape(t *testing.T, c fixture, d *Derivs, x, y []float64) {
	v := make([]float64, len(y))
	for i := range v {
		v[i] = float64(i%9) - 4
	}
	want := evaluate(d, x, y, v)
	got := runTape(t, c.loss(t, draw(c.rows)), x, y, v)
	for i, name := range []string{"value", "∇_x", "∇_y", "JVP", "HVP"} {
		if !hasPatches(d) {
			sameBits(t, name, got[i], want[i])
			continue
		}
		within(t, name, got[i], want[i], 100*roundoff(c.float32))
	}
}

// hasPatches reports whether d multiplies patches of images.
func hasPatches(d *Derivs) bool {
	for n := range d.slots {
		if isLeaf(n) {
			continue
		}
		if op, _ := lowered(n); op.Name == fusedName {
			return true
		}
	}
	return false
}

// roundoff returns the unit roundoff.
func roundoff(float32 bool) float64 {
	if float32 {
		return 0x1p-24
	}
	return 0x1p-53
}

// runTape returns the value and the derivatives of l as the TapeMachine computes them from a graph
// of Gorgonia's and [Grad].
func runTape(t *testing.T, l Loss, x, y, v []float64) [][]float64 {
	t.Helper()
	leaves := tapeLeaves(l.Float32, [][]float64{x, y, v})
	cost := l.Build(leaves[0], leaves[1], nil)
	first := testkit.Get(Grad(cost, leaves[0], leaves[1]))
	second := []*Node{nil, nil}
	if first[1] != nil {
		second = testkit.Get(Grad(Dot(first[1], leaves[2]), leaves[0], leaves[1]))
	}
	return tapeValues(t, leaves, [][]float64{x, y, v}, slices.Concat([]*Node{cost}, first, second))
}

// tapeLeaves returns leaves of a new graph, as long as the vectors.
func tapeLeaves(float32 bool, at [][]float64) []*Node {
	dt := tensor.Float64
	if float32 {
		dt = tensor.Float32
	}
	g := gorgonia.NewGraph()
	var leaves []*Node
	for i, a := range at {
		name := gorgonia.WithName(fmt.Sprint("leaf ", i))
		leaves = append(leaves, gorgonia.NewVector(g, dt, gorgonia.WithShape(len(a)), name))
	}
	return leaves
}

// tapeValues returns the values of nodes as the TapeMachine computes them; nil has zeros of the
// length of x.
func tapeValues(t *testing.T, leaves []*Node, at [][]float64, nodes []*Node) [][]float64 {
	t.Helper()
	return newTape(t, leaves, nodes)(at)
}

// newTape makes a TapeMachine and returns a function that runs it with values of the leaves.
func newTape(t *testing.T, leaves []*Node, nodes []*Node) func(at [][]float64) [][]float64 {
	values := make([]gorgonia.Value, len(nodes))
	for i, n := range nodes {
		if n != nil {
			gorgonia.Read(n, &values[i])
		}
	}
	vm := gorgonia.NewTapeMachine(leaves[0].Graph())
	t.Cleanup(func() { testkit.OK(vm.Close()) })
	return func(at [][]float64) [][]float64 {
		for i, n := range leaves {
			var backing any = at[i]
			if n.Dtype() == tensor.Float32 {
				backing = convertTo[float32](at[i])
			}
			testkit.OK(gorgonia.Let(n, tensor.New(tensor.WithShape(n.Shape()...), tensor.WithBacking(backing))))
		}
		testkit.OK(vm.RunAll())
		defer vm.Reset()
		out := make([][]float64, len(nodes))
		for i, v := range values {
			switch {
			case nodes[i] == nil:
				out[i] = make([]float64, len(at[0]))
			case v.Dtype() == tensor.Float32:
				out[i] = numbersOf[float32](t, v)
			default:
				out[i] = numbersOf[float64](t, v)
			}
		}
		return out
	}
}

func numbersOf[T Float](t *testing.T, v gorgonia.Value) []float64 {
	t.Helper()
	data := testkit.Get(valueData[T](v))
	return convertTo[float64](data)
}

func convertTo[T, S Float](v []S) []T {
	to := make([]T, len(v))
	linalg.Convert(to, v)
	return to
}

func sameBits(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i := range got {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
			t.Fatalf("%s[%d] = %v, want the bits of %v", what, i, got[i], want[i])
		}
	}
}
