package algo

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"dsbo"
)

// A checker fills in a method's defaults and records the first parameter that cannot work.
type checker struct {
	method string
	K      int
	err    error
}

// require records the error that a parameter must be as the text must says, unless ok.
func (c *checker) require(ok bool, name, must string, value any) {
	if !ok && c.err == nil {
		c.err = dsbo.ConfigErrorf("%s: %s must be %s; it is %v", c.method, name, must, value)
	}
}

// mostIterations bounds K of methods whose state has a number for each iteration, as each
// checkpoint then has.
const mostIterations = 1_000_000

// countable requires that the state can have a number for each iteration.
func (c *checker) countable() {
	c.require(c.K <= mostIterations, "K",
		fmt.Sprintf("at most %d, as the state has a number for each iteration", mostIterations), c.K)
}

// step compiles a schedule of positive numbers, by default 0.1.
func (c *checker) step(name string, s *Schedule) func(k int) float64 {
	return c.schedule(name, s, 0.1, math.MaxFloat64, "positive")
}

// penaltyStep compiles a step that has to fall with the weight of a penalty, by default 0.01.
func (c *checker) penaltyStep(name string, s *Schedule) func(k int) float64 {
	return c.schedule(name, s, 0.01, math.MaxFloat64, "positive")
}

// growth compiles a schedule of numbers of at least 0, by default 0.
func (c *checker) growth(name string, s *Schedule) func(k int) float64 {
	return c.scheduleWhere(name, s, 0, func(v float64) bool { return v >= 0 }, "at least 0")
}

// weight compiles a schedule of averaging weights, which are at most 1.
func (c *checker) weight(name string, s *Schedule, byDefault float64) func(k int) float64 {
	return c.schedule(name, s, byDefault, 1, "in (0, 1]")
}

// schedule compiles a schedule whose numbers are above 0 and at most a bound. A falling one is
// largest at its start.
func (c *checker) schedule(name string, s *Schedule, byDefault, bound float64, must string) func(k int) float64 {
	return c.scheduleWhere(name, s, byDefault, func(v float64) bool { return v > 0 && v <= bound }, must)
}

// scheduleWhere compiles a schedule whose numbers are what ok says.
func (c *checker) scheduleWhere(name string, s *Schedule, byDefault float64, ok func(v float64) bool,
	must string) func(k int) float64 {
	if *s == "" {
		*s = Constant(byDefault)
	}
	if s.OfCurvature() {
		if _, err := s.at(name, Curvature{Alpha: 1}); err != nil && c.err == nil {
			c.err = fmt.Errorf("%s: %w", c.method, err)
		}
		return constant(math.NaN())
	}
	value, err := s.For(c.K)
	if err != nil {
		if c.err == nil {
			c.err = dsbo.ConfigErrorf("%s: %s: %w", c.method, name, err)
		}
		return constant(math.NaN())
	}
	for k := range 1 + strings.Count(string(*s), ",") {
		v := value(k)
		c.require(ok(v), name, must, v)
	}
	return value
}

// requireCount sets a requireCount's default and requires that it is at least 1.
func (c *checker) requireCount(name string, n *int, byDefault int) {
	if *n == 0 {
		*n = byDefault
	}
	c.require(*n >= 1, name, "at least 1", *n)
}

// positive sets a number's default and requires that it is positive and at most a bound.
func (c *checker) positive(name string, v *float64, byDefault, bound float64, must string) {
	if *v == 0 {
		*v = byDefault
	}
	c.require(*v > 0 && *v <= bound, name, must, *v)
}

// fraction sets a share's default and requires that it is in (0, 1].
func (c *checker) fraction(name string, v *float64, byDefault float64) {
	c.positive(name, v, byDefault, 1, "in (0, 1]")
}

// curvature compiles a bound of the curvature, which the user has to know: no default is safe.
func (c *checker) curvature(name string, l *Schedule) float64 {
	const must = "given, at least the largest eigenvalue of any agent's Hessian of g"
	if *l == "" {
		c.require(false, name, must, 0)
		return 0
	}
	return c.schedule(name, l, 0, math.MaxFloat64, must)(0)
}

// momentum requires a momentum in [0, 1).
func (c *checker) momentum(name string, v float64) { c.require(v >= 0 && v < 1, name, "in [0, 1)", v) }

// box requires two numbers, the lower one first.
func (c *checker) box(name string, v []float64) {
	c.require(len(v) == 2 && v[0] < v[1], name, "two numbers, the lower one first", v)
}

// draws requires that the numbers of a list of draws are at least 0.
func (c *checker) draws(name string, draws []int) {
	for _, n := range draws {
		c.require(n >= 0, name, "a list of numbers of at least 0", draws)
	}
}

// choice sets the default, which is the first of the choices, and requires one of them.
func (c *checker) choice(name string, v *string, choices ...string) {
	if *v == "" {
		*v = choices[0]
	}
	c.require(slices.Contains(choices, *v), name, "one of "+strings.Join(choices, ", "), fmt.Sprintf("%q", *v))
}
