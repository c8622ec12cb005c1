package linalg

import "dsbo"

// A NarrowOracle answers by vectors of float32 for any oracle: what it gives is rounded once. It is what [NarrowOracle.Of] returns; its
// memory grows with the first questions.
type NarrowOracle struct {
	oracle               dsbo.Oracle
	x, y, v, first, next []float64
}

// Of sets the oracle that n answers for, and returns n or, where the oracle has vectors of float32 itself, those.
func (n *NarrowOracle) Of(o dsbo.Oracle) dsbo.OracleIn[float32] {
	if own, ok := o.(dsbo.Float32Oracle); ok {
		return own.Float32()
	}
	n.oracle = o
	return n
}

// Dims implements [dsbo.OracleIn].
func (n *NarrowOracle) Dims() (p, q int) { return n.oracle.Dims() }

// UpperGrad implements [dsbo.OracleIn].
func (n *NarrowOracle) UpperGrad(dx, dy, x, y []float32, s dsbo.Sample) error {
	wideX, wideY := result(&n.first, dx), result(&n.next, dy)
	if err := n.oracle.UpperGrad(wideX, wideY, Widened(&n.x, x), Widened(&n.y, y), s); err != nil {
		return err
	}
	Convert(dx, wideX)
	Convert(dy, wideY)
	return nil
}

// LowerGrad implements [dsbo.OracleIn].
func (n *NarrowOracle) LowerGrad(dst, x, y []float32, s dsbo.Sample) error {
	return n.ask(dst, func(wide []float64) error { return n.oracle.LowerGrad(wide, Widened(&n.x, x), Widened(&n.y, y), s) })
}

// HVP implements [dsbo.OracleIn].
func (n *NarrowOracle) HVP(dst, x, y, v []float32, s dsbo.Sample) error {
	return n.product(n.oracle.HVP, dst, x, y, v, s)
}

// JVP implements [dsbo.OracleIn].
func (n *NarrowOracle) JVP(dst, x, y, v []float32, s dsbo.Sample) error {
	return n.product(n.oracle.JVP, dst, x, y, v, s)
}

// GaussNewton implements [dsbo.GaussNewtonOracleIn].
func (n *NarrowOracle) GaussNewton(dst, x, y, v []float32, s dsbo.Sample) error {
	o, err := dsbo.OracleAs[dsbo.GaussNewtonOracle](n.oracle, "Gauss-Newton products")
	if err != nil {
		return err
	}
	return n.product(o.GaussNewton, dst, x, y, v, s)
}

// product asks for a product with v.
func (n *NarrowOracle) product(ask func(dst, x, y, v []float64, s dsbo.Sample) error, dst, x, y, v []float32, s dsbo.Sample) error {
	return n.ask(dst, func(wide []float64) error { return ask(wide, Widened(&n.x, x), Widened(&n.y, y), Widened(&n.v, v), s) })
}

// ask makes a question whose answer goes to dst.
func (n *NarrowOracle) ask(dst []float32, question func(wide []float64) error) error {
	wide := result(&n.first, dst)
	err := question(wide)
	if err == nil {
		Convert(dst, wide)
	}
	return err
}

// result returns memory for what goes to dst, nil for nil.
func result(memory *[]float64, dst []float32) []float64 {
	if dst == nil {
		return nil
	}
	*memory = grown(*memory, len(dst))
	return *memory
}
