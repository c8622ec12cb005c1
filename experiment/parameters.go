package experiment

import (
	"fmt"

	"dsbo/algo"
)

// parameters are a method with its parameters, in which steps may follow the curvature.
type parameters struct {
	method  algo.Method // before Init and [algo.Bind]
	unknown []string    // the names of flags that were given for parameters that the method lacks
}

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
