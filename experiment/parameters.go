package experiment

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"dsbo"
	"dsbo/algo"
	"dsbo/network"
	"dsbo/train"
)

// parameters are a method with its parameters, in which steps may follow the curvature.
type parameters struct {
	method  algo.Method // before Init and [algo.Bind]
	unknown []string    // the names of flags that were given for parameters that the method lacks
}

// parameters returns the method of -algorithm. Its parameters are, in increasing priority:
// defaults, where steps of y and z follow the curvature; those that the preset's method has too;
// -T, -N, -alpha, -beta and -gamma; and -set. Flags for parameters that the method lacks are in
// unknown, for a warning.
func (s *Settings) parameters(preset algo.Method) (p parameters, err error) {
	if p.method, err = algo.New(s.Algorithm); err != nil {
		return p, fmt.Errorf("-algorithm: %w", err)
	}
	algo.Inherit(p.method, preset)
	algo.SetAuto(p.method)
	for _, v := range []struct {
		flag  string
		value any
	}{{"T", s.T}, {"N", s.N}, {"alpha", s.Alpha}, {"beta", s.Beta}, {"gamma", s.Gamma}} {
		if !s.given[v.flag] {
			continue
		}
		if steps, ok := v.value.(int); ok && steps < 1 {
			return p, dsbo.ConfigErrorf("-%s must be at least 1; it is %d", v.flag, steps)
		}
		// Steps of y and z that follow the curvature are checked when it is known; a step of x
		// cannot.
		if step, ok := v.value.(algo.Schedule); ok && (v.flag == "alpha" || !step.OfCurvature()) {
			if _, err := step.For(s.Iterations); err != nil {
				return p, fmt.Errorf("-%s: %w", v.flag, err)
			}
		}
		if !algo.Set(p.method, v.flag, v.value) {
			p.unknown = append(p.unknown, v.flag)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Set)) {
		if err := algo.Decode(p.method, fmt.Appendf(nil, "{%q:%s}", name, s.Set[name])); err != nil {
			return p, fmt.Errorf("-set %s=%s: %w", name, s.Set[name], err)
		}
	}
	return p, nil
}

// mixing returns a graph's matrix with the mixing of -mix, which must suit the method and the
// graph. If a graph file lists weights for each iteration, these are the mixing, and -mix must be
// left open.
func (s *Settings) mixing(m algo.Method, w *network.Matrix) (*network.Matrix, error) {
	x, err := network.ParseMixing(cmp.Or(s.Mix, network.Plain{}.String()))
	fromFile := network.IsChanging(w.Mixing())
	switch {
	case err != nil:
	case !fromFile:
		w, err = w.WithMixing(x)
	case x != network.Plain{}:
		err = dsbo.ConfigErrorf("it must be plain where file %s has the weights of each iteration; it is %v",
			s.Graph, x)
	}
	if err != nil {
		return nil, fmt.Errorf("-mix: %w", err)
	}
	err = train.CheckMixing(m, w)
	if s.Mix = x.String(); x == (network.Plain{}) {
		s.Mix = "" // which is left out of config.json
	}
	return w, err
}
