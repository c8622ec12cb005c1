package algo

import "dsbo"

// Letters gives a method's vectors by the letters of the golden files, beside X and Y.
func Letters(a dsbo.Algorithm) map[string][]float64 {
	m := map[string][]float64{"X": a.X(), "Y": a.Y()}
	if e, ok := a.(interface{ Z() []float64 }); ok {
		m["Z"] = e.Z()
	}
	if e, ok := a.(interface{ U() []float64 }); ok {
		m["U"] = e.U()
	}
	switch a := a.(type) {
	case *MADSBO:
		m["R"] = a.r
	case *Tuned:
		m["R"], m["V"] = a.r, a.v
	case *JHIP: // the files have ∇_y f for z and the direction for r
		m["Z"], m["R"] = a.b, a.u
	case *GBDSBO:
		m["Z"], m["R"] = a.h, a.u
	case *MDBO:
		m["V"], m["ZF"], m["ZG"] = a.v, a.trF, a.trG
	case *Lagrangian:
		m["Mu"] = a.mu
	case *DASCGD:
		m["G"] = a.g
	case *DSOBA:
		m["R"] = a.r
	case *Sparkle:
		m["R"] = a.r
	}
	return m
}

// Tracking gives the residual s and its tracker d of Algorithm 1 after N steps.
func (h *HIGP) Tracking() (s, d []float64) { return h.s, h.d }

// HIGP gives the solver inside a method.
func (a *MADSBO) HIGP() *HIGP { return a.hyper.higp }

// R gives the moving average r.
func (a *MADSBO) R() []float64 { return a.r }
