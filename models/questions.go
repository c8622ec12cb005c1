package models

import (
	"dsbo"
	"dsbo/ad"
)

// questions are those that an oracle answers by vectors of V: its own are of float64.
type questions[V dsbo.Float] struct {
	of *Oracle
	by func(*ad.Derivs) *ad.DerivsIn[V] // the derivatives of a loss by such vectors
}

// Dims implements [dsbo.Oracle].
func (o *questions[V]) Dims() (p, q int) { return o.of.p, o.of.q }

// UpperGrad implements [dsbo.Oracle].
func (o *questions[V]) UpperGrad(dx, dy, x, y []V, s dsbo.Sample) error {
	return o.of.up.ask(s, func(d *ad.Derivs) error { return o.by(d).Grad(dx, dy, x, y) })
}

// LowerGrad implements [dsbo.Oracle].
func (o *questions[V]) LowerGrad(dst, x, y []V, s dsbo.Sample) error {
	if q := o.of.q; len(dst) != q { // nil too, which Grad would skip
		return dsbo.Errorf(dsbo.ErrShape, "dst must have q = %d numbers, as ∇_y g has; it has %d", q, len(dst))
	}
	return o.of.low.ask(s, func(d *ad.Derivs) error { return o.by(d).Grad(nil, dst, x, y) })
}

// HVP implements [dsbo.Oracle].
func (o *questions[V]) HVP(dst, x, y, v []V, s dsbo.Sample) error {
	return o.of.low.ask(s, func(d *ad.Derivs) error { return o.by(d).HVP(dst, x, y, v) })
}

// GaussNewton implements [dsbo.GaussNewtonOracle], for models whose lower loss marks its outputs ([ad.Outputs]).
func (o *questions[V]) GaussNewton(dst, x, y, v []V, s dsbo.Sample) error {
	return o.of.low.ask(s, func(d *ad.Derivs) error { return o.by(d).GaussNewton(dst, x, y, v) })
}

// JVP implements [dsbo.Oracle].
func (o *questions[V]) JVP(dst, x, y, v []V, s dsbo.Sample) error {
	return o.of.low.ask(s, func(d *ad.Derivs) error { return o.by(d).JVP(dst, x, y, v) })
}
