package main

import (
	"cmp"
	"context"
	"fmt"

	"dsbo"
	"dsbo/algo"
)

// oneLoop steps once in an iteration, after one exchange of x, y and z: x ← mix(x) − α (∇_x f −
// ∇²_xy g z), y ← mix(y) − β ∇_y g, z ← mix(z) − β (∇²_yy g z − ∇_y f).
type oneLoop struct {
	Alpha                float64   `json:"alpha,omitzero"` // α, step of x; default 0.1
	Beta                 float64   `json:"beta,omitzero"`  // β, step of y and z; default 0.1
	all, x, y, z         []float64 // x, y and z are views of all, which travels as one vector
	fx, fy, gy, gxyz, hz []float64 // ∇_x f, ∇_y f, ∇_y g, ∇²_xy g z and ∇²_yy g z
}

func (m *oneLoop) Init(p, q, _ int) error {
	if p < 1 || q < 1 {
		return dsbo.ShapeErrorf("x and y must not be empty; they have %d and %d numbers", p, q)
	}
	m.Alpha, m.Beta, m.all = cmp.Or(m.Alpha, 0.1), cmp.Or(m.Beta, 0.1), make([]float64, p+2*q)
	m.x, m.y, m.z = m.all[:p], m.all[p:p+q], m.all[p+q:]
	m.fx, m.gxyz = make([]float64, p), make([]float64, p)
	m.fy, m.gy, m.hz = make([]float64, q), make([]float64, q), make([]float64, q)
	return nil
}

func (m *oneLoop) X() []float64 { return m.x }
func (m *oneLoop) Y() []float64 { return m.y }
func (m *oneLoop) State() []dsbo.Named {
	return []dsbo.Named{{Name: "x", Value: m.x}, {Name: "y", Value: m.y}, {Name: "z", Value: m.z}}
}
func (m *oneLoop) Cost(int) algo.Cost {
	return algo.Cost{Floats: len(m.all), Messages: 1, Calls: dsbo.Calls{UpperGrad: 1, LowerGrad: 1, HVP: 1, JVP: 1}}
}

func (m *oneLoop) Step(ctx context.Context, k int, o dsbo.Oracle, mix dsbo.Mixer) error {
	for _, call := range [...]func() error{
		ctx.Err, func() error { return o.LowerGrad(m.gy, m.x, m.y, dsbo.Sample{Set: dsbo.Lower, K: k}) },
		func() error { return o.HVP(m.hz, m.x, m.y, m.z, dsbo.Sample{Set: dsbo.Curvature, K: k}) },
		func() error { return o.JVP(m.gxyz, m.x, m.y, m.z, dsbo.Sample{Set: dsbo.Curvature, K: k}) },
		func() error { return o.UpperGrad(m.fx, m.fy, m.x, m.y, dsbo.Sample{Set: dsbo.Upper, K: k}) },
		func() error { return mix.Mix(ctx, m.all, m.all) },
	} {
		if err := call(); err != nil {
			return fmt.Errorf("iteration %d: %w", k, err)
		}
	}
	for i := range m.x {
		m.x[i] -= m.Alpha * (m.fx[i] - m.gxyz[i])
	}
	for i := range m.y {
		m.y[i], m.z[i] = m.y[i]-m.Beta*m.gy[i], m.z[i]-m.Beta*(m.hz[i]-m.fy[i])
	}
	return nil
}
