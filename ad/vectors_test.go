package ad

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"dsbo"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
)

// A vectorPoint is where derivatives are asked for, of numbers that float32 has.
type vectorPoint[V Float] struct{ x, y, v []V }

func newVectorPoint(p, q int) vectorPoint[float64] {
	r := rand.New(rand.NewPCG(7, uint64(q)))
	normal := func(n int) []float64 { return convertTo[float64](convertTo[float32](normals(r, n))) }
	at := vectorPoint[float64]{normal(p), normal(q), normal(q)}
	at.y[0] = 0 // moves to −0
	return at
}

// move changes the point in numbers of any type.
func (at vectorPoint[V]) move() {
	at.y[0], at.y[len(at.y)-1], at.v[1] = -at.y[0], -at.y[len(at.y)-1], -at.v[1]
}

func (at vectorPoint[V]) in32() vectorPoint[float32] {
	return vectorPoint[float32]{convertTo[float32](at.x), convertTo[float32](at.y), convertTo[float32](at.v)}
}

// answers writes all that d answers to results.
func (at vectorPoint[V]) answers(d *DerivsIn[V], results *[7][]V) error {
	err := errors.Join(d.Grad(results[0], results[1], at.x, at.y), d.Grad(nil, results[2], at.x, at.y),
		d.Grad(results[3], nil, at.x, at.y),
		d.HVP(results[4], at.x, at.y, at.v), d.JVP(results[5], at.x, at.y, at.v))
	if gn := d.GaussNewton(results[6], at.x, at.y, at.v); !errors.Is(gn, dsbo.ErrCapability) {
		err = errors.Join(err, gn)
	}
	return err
}

// places returns memory for answers, with what an answer must overwrite.
func (at vectorPoint[V]) places() (results [7][]V) {
	p, q := len(at.x), len(at.y)
	for i, n := range [7]int{p, q, q, p, q, p, q} {
		results[i] = make([]V, n)
		linalg.Fill(results[i], 7)
	}
	return results
}

// TestVectors: vectors of float32 have the answers of vectors of float64 of the same numbers,
// rounded, and where the loss is computed in float32 not even rounded, asked in turn and of forks;
// and nothing is allocated.
func TestVectors(t *testing.T) {
	parts := func(q int) Loss {
		return Loss{P: 2, Q: q, Build: func(x, y *Node, _ []*Node) *Node {
			return Sum(SumAll(Square(Outputs(Sin(PartVec(y, 0, 700))))),
				Dot(Sin(PartVec(y, 500, 900)), PartVec(y, 9, 900)), ScaleBy(Exp(Item(x, 1)), Dot(y, y)))
		}}
	}
	k := newTask(150, 16, 5, 1)
	losses := map[string]Loss{
		"examples": k.softmaxLoss(),
		"no x":     {P: 2, Q: 3, Build: func(_, y *Node, _ []*Node) *Node { return SumAll(Sin(y)) }},
		"parts":    parts(1500), "parts at the end": parts(8193), "parts, shared": parts(270_001),
	}
	if testing.Short() {
		delete(losses, "parts, shared")
	}
	for name, l := range losses {
		for _, l.Float32 = range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, float32=%v", name, l.Float32), func(t *testing.T) {
				bound := func(d *Derivs) *Derivs {
					for _, in := range l.Inputs {
						testkit.OK(d.Bind(in.Name, k.tables[in.Name], nil))
					}
					return d
				}
				testVectors(t, bound(testkit.Get(Differentiate(l))), bound)
			})
		}
	}
}

func testVectors(t *testing.T, d *Derivs, bound func(*Derivs) *Derivs) {
	at := newVectorPoint(d.f.P, d.f.Q)
	at32 := at.in32()
	got, got32 := at.places(), at32.places()
	same := func(what string, got32 [7][]float32, got [7][]float64) {
		t.Helper()
		for i := range got {
			rounded := convertTo[float64](convertTo[float32](got[i]))
			sameBits(t, fmt.Sprintf("%s, answer %d", what, i), convertTo[float64](got32[i]), rounded)
			if d.f.Float32 {
				sameBits(t, fmt.Sprintf("%s, answer %d before it is rounded", what, i), got[i], rounded)
			}
		}
	}
	narrow := d.Float32()
	for turn := range 3 {
		testkit.OK(errors.Join(at.answers(&d.DerivsIn, &got), at32.answers(narrow, &got32)))
		same(fmt.Sprint("turn ", turn), got32, got)
		alone := at32.places()
		testkit.OK(at32.answers(bound(d.Fork(nil)).Float32(), &alone))
		same("alone", alone, got)
		at.move()
		at32.move()
	}
	if narrow != d.Float32() {
		t.Error("the derivatives by vectors of float32 must be the same in each call")
	}
	// A failed GaussNewton makes an error: it is asked for above alone.
	allocs := testing.AllocsPerRun(3, func() {
		at32.move()
		testkit.OK(errors.Join(narrow.Grad(got32[0], got32[1], at32.x, at32.y),
			narrow.HVP(got32[4], at32.x, at32.y, at32.v), narrow.JVP(got32[5], at32.x, at32.y, at32.v)))
	})
	if allocs != 0 {
		t.Errorf("%v allocations a round, want none", allocs)
	}
}

// TestVectorLengths: vectors of a wrong length are errors, the same ones in float32 as in float64.
func TestVectorLengths(t *testing.T) {
	d := testkit.Get(Differentiate(
		Loss{P: 2, Q: 3, Build: func(x, y *Node, _ []*Node) *Node { return Add(SumAll(x), SumAll(Square(y))) }}))
	wide, narrow := vectorErrors(&d.DerivsIn), vectorErrors(d.Float32())
	for i, err := range narrow {
		if err == nil || err.Error() != wide[i].Error() {
			t.Errorf("case %d: error %q by vectors of float32, %q by vectors of float64, want the same", i, err,
				wide[i])
		}
	}
	x, y := make([]float64, 2), make([]float64, 3)
	wide = append(wide, d.Hessian(y, x, y), d.Jacobian(y, x, y), d.Eval(nil, x, y))
	for i, err := range slices.Concat(wide, narrow) {
		if !errors.Is(err, dsbo.ErrShape) {
			t.Errorf("case %d: error %v, want ErrShape", i, err)
		}
	}
	testkit.OK(errors.Join(d.Grad(nil, nil, x, y), d.Float32().Grad(nil, nil, []float32{0, 0}, []float32{0, 0, 0})))
}

func vectorErrors[V Float](d *DerivsIn[V]) []error {
	x, y, two, three := make([]V, 2), make([]V, 3), make([]V, 2), make([]V, 3)
	_, value := d.Value(y, y)
	return []error{value,
		d.Grad(nil, nil, x, x), d.Grad(three, nil, x, y), d.Grad(nil, two, x, y), d.Grad(two, three, y, y),
		d.HVP(two, x, y, y), d.HVP(nil, x, y, y), d.HVP(three, x, y, x), d.HVP(three, y, y, y),
		d.JVP(three, x, y, y), d.JVP(nil, x, y, y), d.JVP(two, x, y, x), d.GaussNewton(two, x, y, y),
		d.GaussNewton(three, x, y, x),
	}
}
