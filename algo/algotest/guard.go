package algotest

import (
	"math"
	"testing"
	"unsafe"

	"dsbo"
)

// A guard checks how an oracle is called: lengths, and that destinations overlap no input. It fills
// destinations with NaN first, so that a method that counts on what stood there is found out. With
// nan it answers NaN.
type guard struct {
	dsbo.Oracle
	t   *testing.T
	nan bool
}

type vector struct {
	name string
	v    []float64
	n    int
}

// call checks and then asks.
func (g *guard) call(kind string, dst, in []vector, ask func() error) error {
	for _, v := range append(append([]vector(nil), dst...), in...) {
		if len(v.v) != v.n {
			g.t.Errorf("%s: %s has %d entries, want %d", kind, v.name, len(v.v), v.n)
			return dsbo.Errorf(dsbo.ErrShape, "%s", kind)
		}
	}
	for i, d := range dst {
		for _, v := range append(append([]vector(nil), in...), dst[:i]...) {
			if overlap(d.v, v.v) {
				g.t.Errorf("%s: %s overlaps %s", kind, d.name, v.name)
			}
		}
		for j := range d.v {
			d.v[j] = math.NaN()
		}
	}
	if g.nan {
		return nil
	}
	return ask()
}

// overlap reports whether two slices share memory.
func overlap(a, b []float64) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	const size = unsafe.Sizeof(float64(0))
	pa, pb := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0]))
	return pa < pb+uintptr(len(b))*size && pb < pa+uintptr(len(a))*size
}

func (g *guard) at(x, y []float64) []vector {
	p, q := g.Dims()
	return []vector{{"x", x, p}, {"y", y, q}}
}

func (g *guard) UpperGrad(dx, dy, x, y []float64, s dsbo.Sample) error {
	var dst []vector
	p, q := g.Dims()
	if dx != nil {
		dst = append(dst, vector{"dx", dx, p})
	}
	if dy != nil {
		dst = append(dst, vector{"dy", dy, q})
	}
	return g.call("UpperGrad", dst, g.at(x, y), func() error { return g.Oracle.UpperGrad(dx, dy, x, y, s) })
}

func (g *guard) LowerGrad(dst, x, y []float64, s dsbo.Sample) error {
	return g.call("LowerGrad", []vector{{"dst", dst, len(y)}}, g.at(x, y), func() error { return g.Oracle.LowerGrad(dst, x, y, s) })
}

func (g *guard) HVP(dst, x, y, v []float64, s dsbo.Sample) error {
	in := append(g.at(x, y), vector{"v", v, len(y)})
	return g.call("HVP", []vector{{"dst", dst, len(y)}}, in, func() error { return g.Oracle.HVP(dst, x, y, v, s) })
}

func (g *guard) JVP(dst, x, y, v []float64, s dsbo.Sample) error {
	in := append(g.at(x, y), vector{"v", v, len(y)})
	return g.call("JVP", []vector{{"dst", dst, len(x)}}, in, func() error { return g.Oracle.JVP(dst, x, y, v, s) })
}

func (g *guard) Hessian(dst, x, y []float64, s dsbo.Sample) error {
	return g.call("Hessian", []vector{{"dst", dst, len(y) * len(y)}}, g.at(x, y), func() error {
		return NewRecorder(g.Oracle).Hessian(dst, x, y, s)
	})
}

func (g *guard) Jacobian(dst, x, y []float64, s dsbo.Sample) error {
	return g.call("Jacobian", []vector{{"dst", dst, len(x) * len(y)}}, g.at(x, y), func() error {
		return NewRecorder(g.Oracle).Jacobian(dst, x, y, s)
	})
}
