package experiment

import (
	"cmp"
	"fmt"

	"dsbo"
	"dsbo/algo"
	"dsbo/network"
	"dsbo/train"
)

// presetParameters returns the named method with the parameters of a preset's method that it has
// too. Steps of y and z that stay open follow the curvature.
func presetParameters(preset algo.Method, algorithm string) (parameters, error) {
	m, err := algo.New(algorithm)
	if err != nil {
		return parameters{}, fmt.Errorf("-algorithm: %w", err)
	}
	algo.Inherit(m, preset)
	algo.SetAuto(m)
	return parameters{method: m}, nil
}

// set sets a parameter to the value of its flag, if the method has it.
func (p *parameters) set(flag string, value any) {
	if !algo.Set(p.method, flag, value) {
		p.unknown = append(p.unknown, flag)
	}
}

// mixing returns a graph's matrix with the mixing of -mix, which must suit the method and
// the graph.
func (s *Settings) mixing(m algo.Method, w *network.Matrix) (*network.Matrix, error) {
	x, err := network.ParseMixing(cmp.Or(s.Mix, network.Plain{}.String()))
	switch listed := w.Mixing(); {
	case err != nil:
	case !network.IsChanging(listed):
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
