package train

import (
	"context"
)

// means are averages over all agents.
type means struct {
	x, y    []float64
	z, u    []float64  // nil of methods without
	spreads [4]float64 // (1/n) Σ_i ‖x_i − x̄‖², and so for y, z and u
}

// fit returns x̄ and ȳ.
func (m *means) fit() Fit { return Fit{X: m.x, Y: m.y} }

// newMeans returns averages to be found.
func newMeans(p, q int) means {
	return means{x: make([]float64, p), y: make([]float64, q), z: make([]float64, q), u: make([]float64, p)}
}

// findMeans finds the averages of the agents' x, y, z and u. Those which all agents have with the
// same bits are not exchanged. What all agents must have with the same bits, and have not, is
// an error.
func (e *evaluator) findMeans(ctx context.Context) error {
	s, m := e.stepper, &e.means
	one := s.agents[s.Local()[0]]
	if one.z() == nil {
		m.z = nil
	}
	if one.u() == nil {
		m.u = nil
	}
	variables := []func(i int) []float64{
		func(i int) []float64 { return s.agents[i].x() }, func(i int) []float64 { return s.agents[i].y() },
		func(i int) []float64 { return s.agents[i].z() }, func(i int) []float64 { return s.agents[i].u() },
		e.commonVector(),
	}
	same, err := s.SameBits(ctx, variables...)
	if err == nil {
		err = e.checkAgreement(ctx, same, variables)
	}
	if err != nil {
		return err
	}
	for v, mean := range [][]float64{m.x, m.y, m.z, m.u} {
		if mean == nil {
			continue
		}
		if m.spreads[v], err = s.MeanAndSpread(ctx, mean, variables[v], same[v]); err != nil {
			return err
		}
	}
	return nil
}
