package algo

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"dsbo"
	"dsbo/internal/linalg"
)

// A checker fills in a method's defaults and records the first parameter that cannot work.
//
// A field's tag default is what it is where it is unset, and its tag must what it has to be, both
// as a user writes them. Without must, a step and a number are positive, and a count is at least 1.
type checker struct {
	method    string
	K         int
	schedules map[string]func(k int) float64 // bound to K, by their parameters' names
	err       error
}

// meets reports whether v meets a condition, one of those that a tag must may name. v is one number
// or a list, not empty. NaN meets no condition on one number, and infinity none without an upper
// bound.
func meets(must string, v ...float64) bool {
	first := v[0]
	switch must {
	case "positive":
		return first > 0 && first <= math.MaxFloat64
	case "1 or 2":
		return first == 1 || first == 2
	case "at least 0":
		return first >= 0 && first <= math.MaxFloat64
	case "at least 1":
		return first >= 1
	case "in (0, 1)":
		return first > 0 && first < 1
	case "in (0, 1]":
		return first > 0 && first <= 1
	case "in [0, 1)":
		return first >= 0 && first < 1
	case "from 1 to 120":
		return first >= 1 && first <= linalg.MostPairs
	case "two numbers, the lower one first":
		return len(v) == 2 && first < v[1]
	case "three positive numbers":
		return len(v) == 3 && slices.Min(v) > 0
	}
	panic("algo: no such condition: " + must)
}

// newChecker checks all parameters of a method for a run of K iterations.
func newChecker(m Method, K int) *checker {
	c := &checker{method: NameOf(m), K: K, schedules: map[string]func(k int) float64{}}
	for _, p := range parametersOf(m) {
		p.fillIn()
		c.check(p)
	}
	return c
}

// fillIn sets an unset parameter, one with the zero value, to its default, if it has one. An empty
// list is unset too, whether it is nil or [] in JSON. It panics if the tag cannot be parsed.
func (p parameter) fillIn() {
	text, hasDefault := p.tag.Lookup("default")
	isEmptyList := p.value.Kind() == reflect.Slice && p.value.Len() == 0
	if !hasDefault || !p.value.IsZero() && !isEmptyList {
		return
	}
	if p.value.Kind() == reflect.String {
		p.value.SetString(text)
	} else if err := json.Unmarshal([]byte(text), p.value.Addr().Interface()); err != nil {
		panic(fmt.Sprintf("algo: the default of %s: %v", p.name, err))
	}
}

// check records an error if a parameter does not satisfy its tag must, or its type's default
// condition. Empty lists are allowed.
func (c *checker) check(p parameter) {
	must := p.tag.Get("must")
	switch v := p.value.Addr().Interface().(type) {
	case *Schedule:
		must = cmp.Or(must, "positive")
		c.schedule(p.name, *v, must, func(v float64) bool { return meets(must, v) })
	case *float64:
		must = cmp.Or(must, "positive")
		c.require(meets(must, *v), p.name, must, *v)
	case *int:
		must = cmp.Or(must, "at least 1")
		c.require(meets(must, float64(*v)), p.name, must, *v)
	case *string:
		c.choice(p.name, v, strings.Split(strings.TrimPrefix(must, "one of "), ", ")...)
	case *[]float64:
		must = cmp.Or(must, "two numbers, the lower one first")
		c.require(len(*v) == 0 || meets(must, *v...), p.name, must, *v)
	case *[]int:
		c.require(len(*v) == 0 || slices.Min(*v) >= 0, p.name, "a list of numbers of at least 0", *v)
	case *[][]int:
		c.clients(p.name, *v)
	case interface{ check(c *checker, name string) }:
		v.check(c, p.name)
	}
}

// require records the error that parameter name must be must, unless ok.
func (c *checker) require(ok bool, name, must string, value any) {
	if !ok && c.err == nil {
		c.err = dsbo.ConfigErrorf("%s: %s must be %s; it is %v", c.method, name, must, value)
	}
}

// mostIterations bounds K of methods whose state has a number for each iteration, as each
// checkpoint then has.
const mostIterations = 1_000_000

// countable requires that the state can have a number for each iteration.
func (c *checker) countable() bool {
	c.require(c.K <= mostIterations, "K",
		fmt.Sprintf("at most %d, as the state has a number for each iteration", mostIterations), c.K)
	return c.err == nil
}

// schedule binds schedule s of parameter name to K, and records an error if one of its numbers does
// not satisfy ok. An unset one is an error: the only parameter without a default is lg, the bound
// of the curvature, for which no default is safe. A schedule that follows the curvature returns NaN
// until [Bind] replaces it. Of such a one only the form can be checked; Alpha: 1 stands for a
// method that allows auto for alpha, as Bind returns the error if it does not.
func (c *checker) schedule(name string, s Schedule, must string, ok func(v float64) bool) {
	c.schedules[name] = constant(math.NaN())
	if s == "" {
		c.require(false, name, "given, at least the largest eigenvalue of any agent's Hessian of g", 0)
		return
	}
	if s.OfCurvature() {
		if _, err := s.at(name, Curvature{Alpha: 1}); err != nil && c.err == nil {
			c.err = fmt.Errorf("%s: %w", c.method, err)
		}
		return
	}
	value, err := s.For(c.K)
	if err != nil {
		if c.err == nil {
			c.err = dsbo.ConfigErrorf("%s: %s: %w", c.method, name, err)
		}
		return
	}
	inList := 1 + strings.Count(string(s), ",") // 1 for other forms, whose first number is the largest
	for k := range inList {
		v := value(k)
		c.require(ok(v), name, must, v)
	}
	c.schedules[name] = value
}

// choice sets the default, which is the first of the choices, and requires one of them.
func (c *checker) choice(name string, v *string, choices ...string) {
	if *v == "" {
		*v = choices[0]
	}
	c.require(slices.Contains(choices, *v), name, "one of "+strings.Join(choices, ", "), fmt.Sprintf("%q", *v))
}
