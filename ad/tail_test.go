package ad

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"dsbo/internal/testkit"
)

// TestTail: what is computed entry by entry at the end of a plan has the bits of the same steps
// one after the other, on lengths around those of a block and on such as a crew shares; and there
// is a tail, of the steps that are meant to be in it.
func TestTail(t *testing.T) {
	part := func(y *Node, off int) *Node { return Sin(PartVec(y, off, 700)) }
	for turn, c := range []struct {
		name  string
		steps int
		build func(x, y *Node) []*Node
	}{
		{"a penalty and parts", 4, func(x, y *Node) []*Node {
			q := y.Shape()[0]
			return []*Node{Sum(ScaleBy(Item(x, 0), y), Place(part(y, 0), 0, q), Place(part(y, 500), 2000, q),
				Place(part(y, 9), q-700, q))}
		}},
		{"parts alone, some of them zeros of both signs", 2, func(x, y *Node) []*Node {
			q := y.Shape()[0]
			return []*Node{Add(Place(Scale(0, part(y, 0)), 1000, q), Place(part(y, 3), 1500, q))}
		}},
		{"parts that have whole blocks", 3, func(x, y *Node) []*Node {
			q := y.Shape()[0]
			long := Sin(PartVec(y, 0, 2500))
			return []*Node{Sum(Place(Scale(0, long), 0, q), Place(part(y, 3), 2500, q), Place(long, q-2500, q))}
		}},
		{"parts that are read twice", 6, func(x, y *Node) []*Node {
			q := y.Shape()[0]
			a := Place(Sin(PartVec(y, 0, 2500)), 700, q)
			b := Add(Mul(y, a), Place(part(y, 3), 3000, q))
			return []*Node{Sub(Mul(a, b), Add(b, Place(part(y, 9), 0, q)))}
		}},
		{"two outputs", 5, func(x, y *Node) []*Node {
			a := Mul(Offset(.1, y), ScaleBy(Item(x, 0), y))
			return []*Node{Sub(a, y), Exp(x), Square(a)}
		}},
		{"read elsewhere", 1, func(x, y *Node) []*Node {
			a := ScaleBy(Item(x, 0), y)
			return []*Node{Add(a, y), Reshape(SumAll(a), 1, 1)}
		}},
		{"too many at a time", 0, func(x, y *Node) []*Node {
			var all []*Node
			for i := range 4 + 1 {
				all = append(all, Offset(float64(i), y))
			}
			return all
		}},
	} {
		for _, q := range []int{4096, 4097, 8191, 270_001} {
			for _, single := range []bool{true, false} {
				// A crew shares entries, whatever is done to each: long ones are of one type.
				if q < 10_000 || single == (turn%2 == 0) && (turn == 0 || !testing.Short()) {
					t.Run(fmt.Sprintf("%s, %d, float32=%t", c.name, q, single),
						func(t *testing.T) { testTail(t, single, q, c.steps, c.build) })
				}
			}
		}
	}
}

func testTail(t *testing.T, single bool, q, steps int, build func(x, y *Node) []*Node) {
	p := testkit.Get(Compile(
		Func{P: 1, Q: q, Float32: single, Build: func(x, y *Node, _ []*Node) []*Node { return build(x, y) }}))
	x, y := []float64{.7}, make([]float64, q)
	for i := range y {
		y[i] = math.Sin(float64(i)) * float64(i%3-1)
	}
	got := make([]float64, p.size)
	testkit.OK(p.Eval(got, x, y))
	if have := p.template.Report(p.values).TailSteps; have != steps {
		t.Errorf("the tail has %d steps, want %d", have, steps)
	}
	plain := testkit.Get(p.plan(true, p.outs))
	want := make([][]float64, len(p.sizes))
	for i, n := range p.sizes {
		want[i] = make([]float64, n)
	}
	testkit.OK(p.m.Float64().Run(plain, want))
	sameBits(t, "values", got, slices.Concat(want...))
	narrow := make([][]float32, len(p.sizes))
	for i, n := range p.sizes {
		narrow[i] = make([]float32, n)
	}
	testkit.OK(p.m.Float32().Run(p.values, narrow))
	sameBits(t, "values in float32", convertTo[float64](slices.Concat(narrow...)),
		convertTo[float64](convertTo[float32](got)))
}
