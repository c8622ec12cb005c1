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

// parameters returns the named method with the parameters of a preset's method that it has too, and
// with the values of flags. Steps of y and z that stay open follow the curvature.
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
		// a step of y or z that follows the curvature is checked when it is bound; one of x cannot
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
// graph. A graph file may list weights that change from iteration to iteration, which no other
// mixing replaces.
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
