package train

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"dsbo/algo"
	"dsbo/internal/linalg"
	"dsbo/network"
)

// StableBounds returns the bounds that the step γ of z and the step β of y must stay below on a
// graph with mixing matrix w where no agent's curvature is above lmax. The bound of γ is gradient
// tracking's, (1+λ_min(W))²/(2 lmax): 0.5/lmax on the ring with weight 1/2, 2/lmax for one agent.
// The bound of β is gradient descent's, 2/lmax.
func StableBounds(w *network.Matrix, lmax float64) (gamma, beta float64) {
	return trackedBound(w, lmax, 0), 2 / lmax
}

// trackedBound returns the largest step of gradient descent with gradient tracking and heavy-ball
// momentum m for which a swing from iteration to iteration dies out, the first thing to grow:
// (1+λ)(1+λ(1+2m))/(2 lmax), where λ is the least eigenvalue of w. It is not positive where there
// is none.
func trackedBound(w *network.Matrix, lmax, m float64) float64 {
	least := w.LambdaMin()
	return (1 + least) * (1 + float64(least*(1+2*m))) / (2 * lmax)
}

// HasSteps reports whether the method has a step of y or of z, which has to follow the curvature,
// or one of x that does.
func (c Config) HasSteps() bool {
	p := c.stepParameters()
	return p.Beta != "" || p.Gamma != "" || p.Alpha.OfCurvature()
}

// StepWarnings returns a warning for each step of c.Method that is not stable at iteration k if the
// largest curvature of an agent is lmax. With momentum a step of z may exceed its bound by half,
// since the bound assumes the worst agent's curvature for all.
func StepWarnings(c Config, lmax float64, k int) []string {
	var warnings []string
	p := c.stepParameters()
	gamma, beta := StableBounds(c.W, lmax)
	if p.MomZ > 0 {
		gamma = 1.5 * trackedBound(c.W, lmax, p.MomZ)
	}
	for _, s := range c.boundedSteps(p, algo.Curvature{L: lmax, Y: beta, Z: gamma}, k) {
		if s.value >= s.bound {
			warnings = append(warnings,
				fmt.Sprintf("%s = %.3g, the step of %s, is not below %.3g (L_max = %.3g): %[3]s may diverge",
					s.name, s.value, s.of, s.bound, lmax))
		}
	}
	return warnings
}

// stepParameters are a method's parameters that steps depend on, by their names in JSON, defaults
// filled in; zero where the method has none of that name.
type stepParameters struct {
	Alpha, Beta, Gamma algo.Schedule
	MomY               float64 `json:"mom_y"`
	MomZ               float64 `json:"mom_z"`
	TrackY             bool    `json:"track_y"`
	XStep              string
	Clip               []float64
}

// stepParameters returns the method's parameters that bound its steps, read from its JSON; zero
// where it has none.
func (c Config) stepParameters() (p stepParameters) {
	c = c.WithDefaults()
	m := algo.Clone(c.Method)
	if m.Init(1, 1, c.K) != nil {
		return p
	}
	text, _ := json.Marshal(m)
	json.Unmarshal(text, &p) // not an object: no parameters
	return p
}

// Box returns lo and hi of the box that the method keeps entries of x in; nil where it has none.
func (c Config) Box() []float64 { return c.stepParameters().Clip }

// A boundedStep is a step of y or z, which its bound must stay above.
type boundedStep struct {
	name, of     string
	value, bound float64
}

// boundedSteps returns the steps of y and z that the method has, at iteration k, with their bounds:
// at's, or the method's own from it.
func (c Config) boundedSteps(p stepParameters, at algo.Curvature, k int) (steps []boundedStep) {
	own := algo.BoundsOf(c.Method, at)
	bounds := []boundedStep{{name: "beta", of: "y", bound: own.Y}, {name: "gamma", of: "z", bound: own.Z}}
	for i, schedule := range []algo.Schedule{p.Beta, p.Gamma} {
		if step, err := schedule.For(c.WithDefaults().K); err == nil {
			bounds[i].value = step(k)
			steps = append(steps, bounds[i])
		}
	}
	return steps
}

// stableSettings returns the settings, as name=value, that would make the steps of y and z stable
// at iteration k for a curvature l; none if they are stable.
func (c Config) stableSettings(l float64, k int) (settings []string) {
	const margin = 0.8 // share of the bounds that counts as stable
	p := c.stepParameters()
	gamma, beta := trackedBound(c.W, l, p.MomZ), 2/l
	if p.TrackY {
		beta = trackedBound(c.W, l, p.MomY)
	}
	for _, s := range c.boundedSteps(p, algo.Curvature{L: l, Y: beta, Z: gamma}, k) {
		switch {
		case s.value <= margin*s.bound:
		case s.bound <= 0: // no step is stable with this momentum
			settings = append(settings, "mom_"+s.of+"=0")
		default:
			// below the margin once rounded
			settings = append(settings, fmt.Sprintf("%s=%.2g", s.name, 0.95*margin*s.bound))
		}
	}
	return settings
}

// advice is [Config.advise] on a run that diverged at iteration k, by its agents' last x. A
// curvature that is not found is 0.
func (r *runner) advice(ctx context.Context, k int) string {
	start, y := r.start()
	last := func(i int) []float64 {
		if x := r.agents[i].x(); linalg.AllFinite(x) {
			return x
		}
		return start
	}
	return r.advise(k, last, func(x func(i int) []float64) float64 {
		l, err := r.Problem.curvature(r.collectiveContext(ctx), x, y)
		if err != nil {
			return 0
		}
		return l
	})
}

// advise returns settings with which a run that diverged at iteration k would have been stable.
// They are steps of y and z for the largest curvature at the agents' last x and at the corners of
// the box of x, or, if the steps are stable at the start, a smaller box in which the curvature
// stays near the start's. If these steps are stable already, x's step is to blame. curvature(x)
// returns the largest curvature of an agent i at x(i), or 0 if unknown; then the start's is used.
func (c *Config) advise(k int, last func(i int) []float64, curvature func(x func(i int) []float64) float64) string {
	if !c.HasSteps() {
		return ""
	}
	at := func(x []float64) float64 { return curvature(func(int) []float64 { return x }) }
	// corners returns the largest curvature at two corners of the box times share, where all
	// entries of x are equal.
	corners := func(box []float64, share float64) (largest float64) {
		for _, v := range box {
			x := make([]float64, c.p)
			linalg.Fill(x, share*v)
			largest = max(largest, at(x))
		}
		return largest
	}
	diverged, first := curvature(last), c.Start.Curvature
	where, highest, box := "where it diverged", diverged, c.Box()
	switch {
	case diverged == 0 && first == 0:
		return ""
	case diverged == 0:
		where, highest, box = "at the start", first, nil
	case len(box) == 2:
		if first == 0 {
			start, _ := c.start()
			first = at(start)
		}
		where, highest = "in the box of x", max(diverged, corners(box, 1))
	}
	settings := c.stableSettings(highest, k)
	if len(settings) == 0 { // it was x
		return fmt.Sprintf("the steps of y and z are stable %s, with L_max = %.3g: %s, the step of x, must be smaller",
			where, highest, cmp.Or(map[string]string{"adam": "lr", "sgd": "eta"}[c.stepParameters().XStep], "alpha"))
	}
	advice := fmt.Sprintf("stable with L_max = %.3g %s: %s", highest, where, strings.Join(settings, " "))
	if len(box) != 2 || len(StepWarnings(*c, first, k)) > 0 {
		return advice
	}
	// The largest share of the box, in eighths, at whose corners the curvature is at most the mean
	// of the start's and the last one.
	const parts = 8
	share := float64(sort.Search(parts, func(i int) bool {
		return corners(box, float64(i+1)/parts) > (first+diverged)/2
	})) / parts
	if share == 0 || share == 1 { // no smaller box helps, or the whole one is fine
		return advice
	}
	return fmt.Sprintf("%s, or clip=[%g,%g]", advice, share*box[0], share*box[1])
}
