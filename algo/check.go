package algo

import (
	"fmt"
	"math"
	"strings"

	"dsbo"
)

// A checker keeps the first thing that is wrong with a method's parameters.
type checker struct {
	method string
	err    error
}

func (c *checker) fail(name string, value any, right string) {
	if c.err == nil {
		c.err = fmt.Errorf("%s: %s = %v: must be %s: %w", c.method, name, value, right, dsbo.ErrConfig)
	}
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// step wants positive numbers.
func (c *checker) step(name string, s Schedule) { c.schedule(name, s, math.Inf(1), "positive") }

// weight wants numbers that are steps and averaging weights at once.
func (c *checker) weight(name string, s Schedule) { c.schedule(name, s, 1, "in (0, 1]") }

func (c *checker) schedule(name string, s Schedule, most float64, right string) {
	if s.form == inverseRootOfRun {
		c.fail(name, s, "given with the number K of iterations")
		return
	}
	if v, bad := s.worst(func(v float64) bool { return v > 0 && v <= most && finite(v) }); bad {
		c.fail(name, v, right)
	}
}

// count wants a whole number of at least 1.
func (c *checker) count(name string, v int) {
	if v < 1 {
		c.fail(name, v, "at least 1")
	}
}

// positive wants a finite number above 0.
func (c *checker) positive(name string, v float64, right string) {
	if !(v > 0) || !finite(v) {
		c.fail(name, v, right)
	}
}

// fraction wants a number in (0, 1].
func (c *checker) fraction(name string, v float64) {
	if !(v > 0 && v <= 1) {
		c.fail(name, v, "in (0, 1]")
	}
}

// momentum wants a number in [0, 1).
func (c *checker) momentum(name string, v float64) {
	if !(v >= 0 && v < 1) {
		c.fail(name, v, "in [0, 1)")
	}
}

// start wants a finite number.
func (c *checker) start(v float64) {
	if !finite(v) {
		c.fail("x0", v, "a finite number")
	}
}

// terms wants draws of at least 0.
func (c *checker) terms(t Terms) {
	for _, n := range t.draws {
		if n < 0 {
			c.fail("nprime", n, "at least 0")
		}
	}
}

// word wants one of the choices.
func (c *checker) word(name, v string, choices ...string) {
	for _, w := range choices {
		if v == w {
			return
		}
	}
	c.fail(name, fmt.Sprintf("%q", v), "one of "+strings.Join(choices, ", "))
}

// sized refuses a method for no variables.
func sized(method string, p, q int) error {
	if p < 1 || q < 1 {
		return fmt.Errorf("%s: p = %d, q = %d: both must be at least 1: %w", method, p, q, dsbo.ErrShape)
	}
	return nil
}

// curvature wants a bound that the user has to know: no default is safe.
func (c *checker) curvature(l float64) {
	c.positive("lg", l, "given, at least the largest eigenvalue of any agent's Hessian of g")
}
