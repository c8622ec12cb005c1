package main

import (
	"context"

	"dsbo"
	"dsbo/algo"
)

// oneLoop steps once in an iteration, after an exchange of each variable: x ← mix(x) − α (∇_x f −
// ∇²_xy g z), y ← mix(y) − β ∇_y g, z ← mix(z) − β (∇²_yy g z − ∇_y f).
type oneLoop struct {
	Alpha algo.Schedule `json:"alpha,omitzero" default:"0.1"` // α, step of x
	Beta  algo.Schedule `json:"beta,omitzero" default:"0.1"`  // β, step of y and z

	algo.Iterates
	z                    []float64           // beside x and y
	fx, fy, gy, gxyz, hz []float64           // ∇_x f, ∇_y f, ∇_y g, ∇²_xy g z and ∇²_yy g z
	alpha, beta          func(k int) float64 // the steps, bound to K
}

// Init implements algo.Method: steps are parsed, z is in checkpoints, all else is scratch memory.
func (m *oneLoop) Init(p, q, K int) error {
	steps, err := m.Prepare(m, p, q, K)
	if err != nil {
		return err
	}
	m.alpha, m.beta, m.z = steps["alpha"], steps["beta"], m.Carried("z", q)
	m.fx, m.gxyz = make([]float64, p), make([]float64, p)
	m.fy, m.gy, m.hz = make([]float64, q), make([]float64, q), make([]float64, q)
	return nil
}

func (m *oneLoop) Cost(int) algo.Cost {
	return algo.Cost{Floats: len(m.X()) + 2*len(m.z), Messages: 3,
		Calls: dsbo.Calls{UpperGrad: 1, LowerGrad: 1, HVP: 1, JVP: 1}}
}

func (m *oneLoop) Step(ctx context.Context, k int, o dsbo.Oracle, mix dsbo.Mixer) error {
	w, x, y, z := m.Turn(ctx, k, o, mix), m.X(), m.Y(), m.z
	w.LowerGrad(m.gy, x, y, w.Draw(dsbo.Lower, 0))
	w.HVP(m.hz, x, y, z, w.Draw(dsbo.Curvature, 0))
	w.JVP(m.gxyz, x, y, z, w.Draw(dsbo.Curvature, 0))
	w.UpperGrad(m.fx, m.fy, x, y, w.Draw(dsbo.Upper, 0))
	for _, v := range [][]float64{x, y, z} {
		w.Mix(v, v)
	}
	alpha, beta := m.alpha(k), m.beta(k)
	for i := range x {
		x[i] -= alpha * (m.fx[i] - m.gxyz[i])
	}
	for i := range y {
		y[i], z[i] = y[i]-beta*m.gy[i], z[i]-beta*(m.hz[i]-m.fy[i])
	}
	return w.Err()
}
