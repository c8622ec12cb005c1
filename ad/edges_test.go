package ad

import (
	"errors"
	"math"
	"testing"

	"dsbo/internal/testkit"
)

// slopesAt returns the sum of a function's entries and of its first three derivatives at y, each
// along the vector of ones.
func slopesAt(t *testing.T, y []float64, f func(y *Node) *Node) (orders [4]float64) {
	t.Helper()
	p := testkit.Get(Compile(Func{Q: len(y), Build: func(_, y *Node, _ []*Node) (list []*Node) {
		n := SumAll(f(y))
		for range orders {
			list = append(list, n)
			if by := testkit.Get(Grad(n, y))[0]; by != nil {
				n = SumAll(by)
			} else {
				n = Uniform(0, n)
			}
		}
		return list
	}}))
	testkit.OK(p.Eval(orders[:], nil, y))
	return orders
}

// TestEdges: values and three derivatives where a formula would be 0·∞, ∞ − ∞ or a difference of
// numbers that are nearly equal. LogNormalCDF was found with 200 digits.
func TestEdges(t *testing.T) {
	inf := math.Inf(1)
	pair := func(y *Node) *Node { return Reshape(y, 1, 2) }
	three := func(y *Node) *Node { return NewConst(y, "three", 1, 0, []float64{3}) }
	two := func(y *Node) *Node { return NewConst(y, "two", 1, 0, []float64{2}) }
	for _, c := range []struct {
		name string
		y    []float64
		f    func(y *Node) *Node
		want [4]float64
	}{
		{"Power of a negative number", []float64{-2}, func(y *Node) *Node { return Power(y, three(y)) },
			[4]float64{-8, 12, -12, 6}},
		{"Power of 0", []float64{0}, func(y *Node) *Node { return Power(y, two(y)) }, [4]float64{0, 0, 2, 0}},
		{"Power of 0 by its exponent", []float64{2}, func(y *Node) *Node { return Power(Uniform(0, y), y) },
			[4]float64{}},
		{"Power with a constant", []float64{-2}, func(y *Node) *Node { return Power(y, Uniform(3, y)) },
			[4]float64{-8, 12, -12, 6}},
		{"RowLogSumExp of nothing", []float64{-inf, -inf}, func(y *Node) *Node { return RowLogSumExp(pair(y)) },
			[4]float64{-inf}},
		{"RowSoftmax of nothing", []float64{-inf, -inf}, func(y *Node) *Node { return RowSoftmax(pair(y)) },
			[4]float64{}},
		{"RowLogSumExp of less than all", []float64{-inf, 1}, func(y *Node) *Node { return RowLogSumExp(pair(y)) },
			[4]float64{1, 1}},
		{"RowMax of nothing", []float64{-inf, -inf}, func(y *Node) *Node { return RowMax(pair(y)) },
			[4]float64{-inf, 1}},
		{"a norm at 0", []float64{0, 0}, func(y *Node) *Node { return Sqrt(Dot(y, y)) }, [4]float64{}},
		{"a norm at 0, by squares", []float64{0, 0}, func(y *Node) *Node { return Sqrt(SumAll(Scale(2, Square(y)))) },
			[4]float64{}},
		{"norms of rows", []float64{0, 0}, func(y *Node) *Node { return Sqrt(SumCols(Square(pair(y)))) }, [4]float64{}},
		{"a hypotenuse at 0", []float64{0, 0},
			func(y *Node) *Node { return Sqrt(Add(Square(y), Square(Sin(y)))) }, [4]float64{}},
		{"Sqrt at 0", []float64{0}, Sqrt, [4]float64{0, inf, -inf, inf}},
		{"Digamma at its pole", []float64{0}, Digamma, [4]float64{-inf, inf, -inf, inf}},
		{"LogNormalCDF at −700", []float64{-700}, LogNormalCDF,
			[4]float64{-245007.470020909070, 700.001428565597674, -.99999795920866276, 5.8307609960863190e-09}},
		{"LogNormalCDF at −10⁴", []float64{-1e4}, LogNormalCDF,
			[4]float64{-50000010.129278919, 10000.0000999999980, -.99999999000000060, 1.99999976000003e-12}},
		{"LogNormalCDF at 8", []float64{8}, LogNormalCDF,
			[4]float64{-6.2209605742717860e-16, 5.0522710835368954e-15, -4.0418168668295189e-14,
				3.1829307826282492e-13}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := slopesAt(t, c.y, c.f)
			for i, want := range c.want {
				if !(got[i] == want || math.Abs(got[i]-want) <= 1e-13*math.Abs(want)) {
					t.Errorf("order %d is %v; it must be %v", i, got[i], want)
				}
			}
		})
	}
}

// TestConstantNaN: constants of the same bits are one, NaN too, and others differ.
func TestConstantNaN(t *testing.T) {
	build := func(second float64) error {
		_, err := Differentiate(Loss{Q: 1, Build: func(_, y *Node, _ []*Node) *Node {
			for _, v := range []float64{math.NaN(), second} {
				y = Add(y, NewConst(y, "missing", 1, 0, []float64{v}))
			}
			return SumAll(y)
		}})
		return err
	}
	if err := build(math.NaN()); err != nil {
		t.Errorf("two constants of NaN: %v", err)
	}
	if build(0) == nil {
		t.Error("a constant of NaN and one of 0 must not be one")
	}
}

// TestPanicsOfBuild: what a model panics with is an error, unless the Go runtime has found it.
func TestPanicsOfBuild(t *testing.T) {
	build := func(f func()) error {
		_, err := Differentiate(Loss{Q: 1, Build: func(_, y *Node, _ []*Node) *Node { f(); return SumAll(y) }})
		return err
	}
	for _, what := range []any{"a text", 3, errors.New("an error")} {
		wantError(t, build(func() { panic(what) }), ErrGraph, "in Build: ")
	}
	defer func() {
		if recover() == nil {
			t.Error("a panic of the runtime must go on")
		}
	}()
	_ = build(func() { var list []int; list[len(list)] = 1 })
}
