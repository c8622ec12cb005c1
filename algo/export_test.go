package algo

// Letters gives a method's vectors by the letters of the golden files.
func Letters(m Method) map[string][]float64 {
	letters := map[string]string{
		"momentum_x": "MX", "momentum_y": "MY", "momentum_z": "MZ", "estimate_x": "HX", "estimate_y": "HY",
		"estimate_z": "HZ", "direction_x": "DX", "direction_y": "DY", "direction_z": "DZ",
		"u": "U", "x_tracker": "SX", "y_sent": "YH", "y_tracker": "SY", "y_tracker_sent": "SYH",
		"z_sent": "ZH", "z_tracker": "SZ", "z_tracker_sent": "SZH",
		"tracker_x": "TX", "tracker_y": "TY", "tracker_z": "TZ", "z": "Z", "lam": "L",
		"x": "X", "y": "Y", "r": "R", "v": "V", "mu": "Mu", "inner": "G", "u_tracker": "ZF", "v_tracker": "ZG",
		"lower_y_mean": "AG", "hz_mean": "AH", "jz_mean": "AJ", "upper_y_mean": "AB", "upper_x_mean": "AF",
	}
	found := map[string][]float64{}
	found["Z"], found["U"] = TraitsOf(m).Z, TraitsOf(m).U
	for _, s := range m.State() {
		if l := letters[s.Name]; l != "" {
			found[l] = s.Value
		}
	}
	switch a := m.(type) {
	case *JHIP: // the files have ∇_y f for z and the direction for r
		found["Z"], found["R"] = a.b, a.u
	case *FedBiOAcc:
		found["VX"], found["VY"], found["VZ"] = a.v.x, a.v.y, a.v.z
	case *AdaSDBO:
		found["MX"], found["MY"], found["MZ"] = a.sums[:1], a.sums[1:2], a.sums[2:]
	case *GBDSBO:
		found["Z"], found["R"] = a.h, a.u
	}
	return found
}

// R gives the moving average r.
func (a *MADSBO) R() []float64 { return a.r }

// Rules of the damped method, and of what auto stands for.
var (
	DampedStep = dampedStep
	Settling   = settling
	Settled    = settled
	AutoOf     = Curvature.auto
)

// Damped returns P(x) + μ diag |dg| of a penalty's part and a diagonal.
func Damped(e, dg []float64, mu float64) []float64 {
	a := &NewtonCG{e: e, dg: dg, mu: []float64{mu}, damped: make([]float64, len(e))}
	a.damp()
	return a.damped
}

// Overshoot is the record of gains of steps of y.
type Overshoot = overshoot

// Found is the rule that finds a step that was too long.
func (o overshoot) Found(gain float64) bool { return o.found(gain) }

// ShareOfX is the rule by which x waits for y.
func (o overshoot) ShareOfX(gain, share float64) float64 { return o.shareOfX(gain, share) }
