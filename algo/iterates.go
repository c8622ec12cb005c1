package algo

import (
	"context"

	"dsbo"
)

// Iterates is the base of a method of another package: its x and y, and the parts common to all
// methods of this package. Only Init, Step and Cost are missing.
type Iterates struct {
	state
	turn Turn
}

// Prepare fills in and checks the parameters of m, the method that embeds s, by the tags of its
// fields, and makes x and y: Init begins with it. A field of type [Schedule] is a step: steps has
// its function of k by the parameter's name. A step left unset may follow the curvature. The tag
// default is the value of an unset parameter, and must its condition, such as "in (0, 1]".
func (s *Iterates) Prepare(m Method, p, q, K int) (steps map[string]func(k int) float64, err error) {
	c := s.prepare(m, p, q, K)
	s.z, s.u = nil, nil
	return c.schedules, c.err
}

// Carried makes a variable of length n, all 0, which checkpoints save under its name. Each Init
// must call it anew.
func (s *Iterates) Carried(name string, n int) []float64 { return s.carried(name, n) }

// Turn begins outer iteration k, and is the method's until the next one.
func (s *Iterates) Turn(ctx context.Context, k int, o dsbo.Oracle, m dsbo.Mixer) *Turn {
	s.turn = s.newTurn(ctx, k, o, m)
	return &s.turn
}
