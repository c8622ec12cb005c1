package algo

import (
	"cmp"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"dsbo"
)

// Auto is the schedule of a step that follows the curvature by itself: half the bound of the step
// of y ("beta"), 0.8 times the bound of the step of z ("gamma"), or a bound of L ("lg"). A method
// may choose others, and one of x ("alpha").
const Auto Schedule = "auto"

// A Curvature is what schedules may follow: the largest curvature of an agent at the start, and the
// bounds below which steps are stable.
type Curvature struct {
	L    float64 // largest eigenvalue of any agent's ∇²_yy g, to about one per cent
	Y, Z float64 // bounds of the steps of y and of z; infinite where any step will do

	Alpha, Beta, Gamma float64 // the method's own values of [Auto]; 0: Auto's
}

// BoundsOf returns the curvature with the bounds of a method's own steps, given the bounds of
// descent along ∇_y g and Hz − b.
func BoundsOf(m dsbo.Algorithm, c Curvature) Curvature {
	if own := TraitsOf(m).Bounds; own != nil {
		return own(c)
	}
	return c
}

// auto returns the value of [Auto] in a parameter. It returns false if the parameter has no such
// value, or if its bound is infinite, as any step is stable then. lg must be an upper bound of L,
// which is only known to about one per cent, so it is 5 % larger.
func (c Curvature) auto(parameter string) (float64, bool) {
	switch parameter {
	case "alpha":
		return c.Alpha, c.Alpha > 0
	case "beta":
		return cmp.Or(c.Beta, c.Y/2), !math.IsInf(c.Y, 1)
	case "gamma":
		return cmp.Or(c.Gamma, 0.8*c.Z), !math.IsInf(c.Z, 1)
	case "lg":
		return 1.05 * c.L, true
	}
	return 0, false
}

// OfCurvature reports whether a schedule is c/L, c*L or [Auto], which is a number once L is known:
// see [Bind].
func (s Schedule) OfCurvature() bool {
	return s == Auto || strings.HasSuffix(string(s), "/L") || strings.HasSuffix(string(s), "*L")
}

// at returns the number that a schedule c/L, c*L or [Auto] stands for in the named parameter. It
// returns an error if c is not a positive number, or if the parameter has no value of [Auto].
func (s Schedule) at(parameter string, c Curvature) (float64, error) {
	if s == Auto {
		if v, ok := c.auto(parameter); ok {
			return v, nil
		}
		return 0, dsbo.ConfigErrorf("%s must be a schedule; auto stands for beta, gamma and lg, and "+
			"for alpha where the method says so", parameter)
	}
	text := string(s)
	v, err := strconv.ParseFloat(text[:len(text)-2], 64) // before /L or *L
	if err != nil || !meets("positive", v) {
		return 0, dsbo.ConfigErrorf("%s must have a positive number before /L or *L; it is %s", parameter, s)
	}
	if strings.HasSuffix(text, "*L") {
		return v * c.L, nil
	}
	return v / c.L, nil
}

// A parameter is a field of a method.
type parameter struct {
	name  string // in JSON
	value reflect.Value
	tag   reflect.StructTag
}

var knownFields sync.Map // by type, what fieldsOf returns

// fieldsOf returns the visible fields of a type, listed once for all agents.
func fieldsOf(t reflect.Type) []reflect.StructField {
	known, ok := knownFields.Load(t)
	if !ok {
		known, _ = knownFields.LoadOrStore(t, reflect.VisibleFields(t))
	}
	return known.([]reflect.StructField)
}

// parametersOf returns a method's parameters, in the order of its fields.
func parametersOf(m Method) (all []parameter) {
	v := reflect.ValueOf(m).Elem()
	for _, f := range fieldsOf(v.Type()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && !f.Anonymous && name != "-" {
			if name == "" {
				name = f.Name
			}
			all = append(all, parameter{name, v.FieldByIndex(f.Index), f.Tag})
		}
	}
	return all
}

// Set sets the named parameter to a value of its type, and reports whether the method has it.
func Set(m Method, name string, value any) bool {
	for _, p := range parametersOf(m) {
		if p.name == name && p.value.Type() == reflect.TypeOf(value) {
			p.value.Set(reflect.ValueOf(value))
			return true
		}
	}
	return false
}

// Inherit sets the parameters of m that another method has too, and has set, to that method's. Of a
// method whose steps have bounds of their own, schedules stay, as other steps may not be stable
// there, but alpha where the method has no [Auto] for it: then it is a plain step of x.
func Inherit(m, from Method) {
	ownBounds, plainAlpha := TraitsOf(m).Bounds != nil, BoundsOf(m, Curvature{L: 1}).Alpha == 0
	for _, p := range parametersOf(from) {
		_, isSchedule := p.value.Interface().(Schedule)
		stays := ownBounds && isSchedule && !(plainAlpha && p.name == "alpha")
		if !stays && !p.value.IsZero() {
			Set(m, p.name, p.value.Interface())
		}
	}
}

// SetAuto sets the unset schedules that have an [Auto] value to Auto.
func SetAuto(m Method) {
	c := BoundsOf(m, Curvature{L: 1})
	for _, p := range parametersOf(m) {
		if _, ok := c.auto(p.name); ok && p.value.IsZero() {
			Set(m, p.name, Auto)
		}
	}
}

// Bind sets the schedules of a method that follow the curvature to their numbers, and returns their
// parameters' names, for [FollowCurvature]. Init takes a method that is not bound, too: such steps
// are then NaN.
func Bind(m Method, c Curvature) (names []string, err error) {
	c = BoundsOf(m, c)
	for _, p := range parametersOf(m) {
		if s, ok := p.value.Interface().(Schedule); ok && s.OfCurvature() {
			v, err := s.at(p.name, c)
			if err != nil {
				return nil, err
			}
			Set(m, p.name, Constant(v))
			names = append(names, p.name)
		}
	}
	return names, nil
}
