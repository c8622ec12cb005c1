package experiment

import (
	"encoding/json"
	"fmt"
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
	values    map[string]json.RawMessage
}

// auto is the text of a parameter that follows the curvature by itself.
const auto = "auto"

// A curvature is what steps are chosen by.
type curvature struct {
	L           float64 // of the worst agent, right to a percent or so
	gamma, beta float64 // bounds of the steps of z and y
}

// autoNames are the parameters that have an auto, which they are when they are left open.
var autoNames = []string{"beta", "gamma", "lg"}

// auto returns what auto stands for, by the parameter's name; false if it has none.
func (c curvature) auto(name string) (float64, bool) {
	switch name {
	case "beta":
		return c.beta / 2, true
	case "gamma":
		return 0.8 * c.gamma, true
	case "lg":
		return 1.05 * c.L, true // a bound of it
	}
	return 0, false
}

// presetParameters returns those of a preset's method which the named method has too.
func presetParameters(preset algo.Method, algorithm string) (parameters, error) {
	p := parameters{algorithm: algorithm}
	m, err := algo.New(algorithm)
	if err != nil {
		return p, fmt.Errorf("-algorithm: %w", err)
	}
	text, err := json.Marshal(preset)
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(text, &p.values); err != nil {
		return p, err
	}
	known := algo.Parameters(m)
	for name := range p.values {
		if !slices.Contains(known, name) {
			delete(p.values, name)
		}
	}
	for _, name := range autoNames {
		if p.values[name] == nil && slices.Contains(known, name) {
			p.set(name, auto)
		}
	}
	return p, nil
}

// set sets a parameter, if the method has it, to a value for JSON.
func (p parameters) set(name string, value any) {
	m, err := algo.New(p.algorithm)
	if err != nil || !slices.Contains(algo.Parameters(m), name) {
		return
	}
	if text, err := json.Marshal(value); err == nil {
		p.values[name] = text
	}
}

// method returns the method for a curvature.
func (p parameters) method(at curvature) (algo.Method, error) {
	m, err := algo.New(p.algorithm)
	if err != nil {
		return nil, err
	}
	values := map[string]json.RawMessage{}
	for name, value := range p.values {
		var text string
		if json.Unmarshal(value, &text) == nil {
			c, follows, err := byCurvature(name, text, at)
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

// byCurvature returns the number of a text that follows the curvature; follows is false for any other text.
func byCurvature(name, text string, at curvature) (number float64, follows bool, err error) {
	if text == auto {
		number, follows = at.auto(name)
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
		return number * at.L, true, nil
	}
	return number / at.L, true, nil
}
