package exact

import "dsbo/network"

// gradientWire is the wire of gradients: float32, or bf16 where the problem's own is narrower and
// the solve ends by PhiTol.
func (w *solve) gradientWire() network.Wire {
	if w.Agents.Wire() > network.Float32 && !w.endsByResidual() {
		return network.BF16
	}
	return w.Agents.FineWire()
}

// changeWire is the wire of changes of a gradient or a residual from one step to the next: the
// smaller they are, the less it loses.
func (w *solve) changeWire() network.Wire {
	if w.gradientWire() == network.Float64 || w.endsByResidual() {
		return w.gradientWire()
	}
	return network.BF16
}

// endsByResidual reports whether residuals have bounds of their own, which rounding may be above.
func (s *Solver) endsByResidual() bool { return s.Tol > 0 || s.AdjointTol > 0 }

// distrustRounding reports whether a direction without positive curvature, or a solve that leads
// away, may come of rounded products, which from then on travel as gradients do, and in float32
// where they did already.
func (w *solve) distrustRounding() bool {
	if w.wire == network.Int8 {
		w.wire = w.gradientWire()
		return true
	}
	rounded := w.wire != w.Agents.FineWire()
	w.wire = w.Agents.FineWire()
	return rounded
}

// newLost returns room for the wire's rounding errors of local agents' vectors; nil if they are
// negligible.
func (w *solve) newLost(length int) [][]float64 {
	if w.gradientWire() == network.Float64 {
		return nil
	}
	lost := make([][]float64, len(w.Agents.Local()))
	for k := range lost {
		lost[k] = make([]float64, length)
	}
	return lost
}
