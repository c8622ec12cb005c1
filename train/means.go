package train

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
