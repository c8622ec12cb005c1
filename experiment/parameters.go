package experiment

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"dsbo"
	"dsbo/algo"
)

// parameters are a method's parameters by their names, as JSON. A text c/L, c*L or auto stands for a number that follows L, the
// largest curvature of an agent at the start.
type parameters struct {
	algorithm string
	known     []string // the names of all that the method has
	values    map[string]json.RawMessage
	unknown   []string // the names of flags that were given for parameters that the method lacks
}

// auto is the text of a parameter that follows the curvature by itself.
const auto = "auto"

// A curvature is the largest curvature at the start, with the bounds of steps that follow from it.
type curvature struct {
	L           float64 // largest curvature of an agent, to about one percent
	gamma, beta float64 // bounds of the steps of z and y
}

// autoValues returns the numbers that auto stands for, by the names of the parameters that may be auto, and are when they are left open.
func (c curvature) autoValues() map[string]float64 {
	return map[string]float64{"beta": c.beta / 2, "gamma": 0.8 * c.gamma, "lg": 1.05 * c.L} // lg is a bound of L
}

// presetParameters returns the parameters of a preset's method that the named method has too.
func presetParameters(preset algo.Method, algorithm string) (parameters, error) {
	m, err := algo.New(algorithm)
	if err != nil {
		return parameters{}, fmt.Errorf("-algorithm: %w", err)
	}
	p := parameters{algorithm: algorithm, known: algo.Parameters(m)}
	text, err := json.Marshal(preset)
	if err == nil {
		err = json.Unmarshal(text, &p.values)
	}
	maps.DeleteFunc(p.values, func(name string, _ json.RawMessage) bool { return !slices.Contains(p.known, name) })
	for name := range (curvature{}).autoValues() {
		if p.values[name] == nil {
			p.set(name, strconv.Quote(auto))
		}
	}
	return p, err
}

// set sets a parameter, if the method has it, to a value in JSON, and reports whether it does.
func (p parameters) set(name, value string) bool {
	has := slices.Contains(p.known, name)
	if has {
		p.values[name] = json.RawMessage(value)
	}
	return has
}

// setGiven sets a parameter to the value of its flag, in JSON.
func (p *parameters) setGiven(flag, value string) {
	if !p.set(flag, value) {
		p.unknown = append(p.unknown, flag)
	}
}

// method returns the method with these parameters, those that follow the curvature computed from l.
func (p parameters) method(l curvature) (algo.Method, error) {
	m, err := algo.New(p.algorithm)
	if err != nil {
		return nil, err
	}
	values := map[string]json.RawMessage{}
	for name, value := range p.values {
		var text string
		if json.Unmarshal(value, &text) == nil {
			c, follows, err := curvatureNumber(name, text, l)
			if err != nil {
				return nil, err
			}
			if follows {
				value = strconv.AppendFloat(nil, c, 'g', -1, 64)
			}
		}
		values[name] = value
	}
	object, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	return m, algo.Decode(m, object)
}

// curvatureNumber returns the number of a text that follows the curvature; follows is false for any other text.
func curvatureNumber(name, text string, l curvature) (number float64, follows bool, err error) {
	if text == auto {
		number, follows = l.autoValues()[name]
		return number, follows, nil
	}
	c, times := strings.CutSuffix(text, "*L")
	if !times {
		if c, follows = strings.CutSuffix(text, "/L"); !follows {
			return 0, false, nil
		}
	}
	number, err = strconv.ParseFloat(c, 64)
	switch {
	case err != nil || !(number > 0) || math.IsInf(number, 0):
		return 0, false, dsbo.Errorf(dsbo.ErrConfig, "%s must have a positive number before /L or *L; it is %s", name, text)
	case times:
		return number * l.L, true, nil
	}
	return number / l.L, true, nil
}
