package train

import (
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

// StepWarnings returns a warning for each step of c.Method that is not stable at iteration k where
// the largest curvature of an agent is lmax. A step of z with momentum may be half as large again
// as its bound, which takes the worst agent's curvature for all.
func StepWarnings(c Config, lmax float64, k int) []string {
	var warnings []string
	p := c.stepParameters()
	gamma, beta := StableBounds(c.W, lmax)
	if p.MomZ > 0 {
		gamma = 1.5 * trackedBound(c.W, lmax, p.MomZ)
	}
	for _, step := range c.boundedSteps(p, algo.Curvature{L: lmax, Y: beta, Z: gamma}) {
		if v, ok := c.stepAt(step.schedule, k); ok && v >= step.bound {
			warnings = append(warnings,
				fmt.Sprintf("%s = %.3g, the step of %s, is not below %.3g (L_max = %.3g): %s may diverge",
					step.name, v, step.of, step.bound, lmax, step.of))
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
	name, of string
	schedule algo.Schedule
	bound    float64
}

// boundedSteps returns the steps of y and z with their bounds: at's, or the method's own from it.
func (c Config) boundedSteps(p stepParameters, at algo.Curvature) []boundedStep {
	own := algo.BoundsOf(c.Method, at)
	return []boundedStep{{"beta", "y", p.Beta, own.Y}, {"gamma", "z", p.Gamma, own.Z}}
}

// stepAt returns a step at iteration k; false if the method has none.
func (c Config) stepAt(s algo.Schedule, k int) (float64, bool) {
	at, err := s.For(c.WithDefaults().K)
	if err != nil {
		return 0, false
	}
	return at(k), true
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
	for _, v := range c.boundedSteps(p, algo.Curvature{L: l, Y: beta, Z: gamma}) {
		s, ok := c.stepAt(v.schedule, k)
		switch {
		case !ok || s <= margin*v.bound:
		case v.bound <= 0:
			settings = append(settings, "mom_"+v.of+"=0")
		default:
			// below the margin once rounded
			settings = append(settings, fmt.Sprintf("%s=%.2g", v.name, 0.95*margin*v.bound))
		}
	}
	return settings
}

// advice returns settings that would have kept a run stable that diverged at iteration k: steps of
// y and z that fit the largest curvature at the agents' x and, as far as x may go, at the corners
// of its box; or, for steps that are stable at the start, a box in which the curvature stays near
// the start's. Without the present curvature it uses the start's.
func (r *runner) advice(ctx context.Context, k int) string {
	if !r.HasSteps() {
		return ""
	}
	start, _ := r.start()
	diverged := r.curvatureAt(ctx, func(i int) []float64 {
		if a := r.agents[i]; a != nil && linalg.AllFinite(a.x()) {
			return a.x()
		}
		return start
	})
	first := r.Start.Curvature
	where, highest, clip := "where it diverged", diverged, r.Box()
	switch {
	case diverged == 0 && first == 0:
		return ""
	case diverged == 0:
		where, highest, clip = "at the start", first, nil
	case len(clip) == 2:
		if first == 0 {
			first = r.curvatureAt(ctx, func(int) []float64 { return start })
		}
		where, highest = "in the box of x", max(diverged, r.cornerCurvature(ctx, clip, 1))
	}
	settings := r.stableSettings(highest, k)
	if len(settings) == 0 {
		return fmt.Sprintf("the steps of y and z are stable %s, with L_max = %.3g: %s, the step of x, must be smaller",
			where, highest, r.xStepName())
	}
	advice := fmt.Sprintf("stable with L_max = %.3g %s: %s", highest, where, strings.Join(settings, " "))
	if len(clip) == 2 && len(StepWarnings(r.Config, first, k)) == 0 {
		advice += boxAdvice(r.boxShare(ctx, clip, (first+diverged)/2), clip)
	}
	return advice
}

// boxAdvice advises a share of a box of x, in place of it; "" for none of it and for all.
func boxAdvice(share float64, clip []float64) string {
	if 0 < share && share < 1 {
		return fmt.Sprintf(", or clip=[%g,%g]", share*clip[0], share*clip[1])
	}
	return ""
}

// curvatureAt returns the largest curvature of an agent where each has its own x; 0 where it is not
// found.
func (r *runner) curvatureAt(ctx context.Context, x func(i int) []float64) float64 {
	_, y := r.start()
	l, err := r.Problem.curvature(r.collectiveContext(ctx), x, y)
	if err != nil {
		return 0
	}
	return l
}

// cornerCurvature returns the larger curvature at the two corners of a share of the box of x where
// all entries are one number.
func (r *runner) cornerCurvature(ctx context.Context, box []float64, share float64) (largest float64) {
	for _, v := range box {
		x := make([]float64, r.p)
		linalg.Fill(x, share*v)
		largest = max(largest, r.curvatureAt(ctx, func(int) []float64 { return x }))
	}
	return largest
}

// boxShare returns the largest share of the box of x, in eighths, at whose corners no curvature is
// above a bound.
func (r *runner) boxShare(ctx context.Context, box []float64, bound float64) float64 {
	const parts = 8
	return float64(sort.Search(parts,
		func(i int) bool { return r.cornerCurvature(ctx, box, float64(i+1)/parts) > bound })) / parts
}

// xStepName names the parameter that scales the step of x.
func (c Config) xStepName() string {
	switch c.stepParameters().XStep {
	case "adam":
		return "lr"
	case "sgd":
		return "eta"
	}
	return "alpha"
}
