package ad

import (
	"math"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// TestTapeMachine: Gorgonia's own machine gives the same bits on the same nodes. (Where nothing is
// tiled: sums over rows are added tile by tile otherwise.)
func TestTapeMachine(t *testing.T) {
	x, y := point()
	for _, op := range ops {
		t.Run(op.name, func(t *testing.T) {
			for _, float32 := range []bool{false, true} {
				d := fixture{f: op.f, from: fixed, rows: 5, float32: float32}.derivs(t)
				want := [][]float64{{0}, make([]float64, params), make([]float64, params), make([]float64, params), make([]float64, params)}
				v := make([]float64, params)
				for i := range v {
					v[i] = float64(i%9) - 4
				}
				var err error
				if want[0][0], err = d.Value(x, y); err != nil {
					t.Fatal(err)
				}
				for _, err := range []error{d.Grad(want[1], want[2], x, y), d.JVP(want[3], x, y, v), d.HVP(want[4], x, y, v)} {
					if err != nil {
						t.Fatal(err)
					}
				}
				got := runTape(t, d, x, y, v)
				for i, name := range []string{"value", "∇_x", "∇_y", "JVP", "HVP"} {
					sameBits(t, name, got[i], want[i])
				}
			}
		})
	}
}

// runTape returns the values of d's nodes as the TapeMachine computes them.
func runTape(t *testing.T, d *Derivs, x, y, v []float64) [][]float64 {
	t.Helper()
	let := func(n *Node, v []float64) {
		var backing any = v
		if d.f.Float32 {
			backing = rounded(v)
		}
		if err := gorgonia.Let(n, tensor.New(tensor.WithShape(len(v)), tensor.WithBacking(backing))); err != nil {
			t.Fatal(err)
		}
	}
	let(d.x, x)
	let(d.y, y)
	let(d.v, v)
	nodes := append([]*Node{d.outs[0]}, d.nodes[:]...)
	values := make([]gorgonia.Value, len(nodes))
	for i, n := range nodes {
		if n != nil {
			gorgonia.Read(n, &values[i])
		}
	}
	vm := gorgonia.NewTapeMachine(d.x.Graph())
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	out := make([][]float64, len(nodes))
	for i, v := range values {
		if nodes[i] == nil {
			out[i] = make([]float64, params)
			continue
		}
		if d.f.Float32 {
			data, err := valueData[float32](v)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range data {
				out[i] = append(out[i], float64(f))
			}
			continue
		}
		data, err := valueData[float64](v)
		if err != nil {
			t.Fatal(err)
		}
		out[i] = data
	}
	return out
}

func rounded(v []float64) []float32 {
	f := make([]float32, len(v))
	for i, a := range v {
		f[i] = float32(a)
	}
	return f
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
