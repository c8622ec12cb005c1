package network

import (
	"strings"

	"dsbo"
	"dsbo/internal/wording"
)

// A Mixing is how an agent combines its own vector with the vectors of its neighbours in an
// exchange: [Plain], or by weights that change from iteration to iteration, [Failing], [Matchings]
// or [Listed]. All agents of a run have the same.
type Mixing interface {
	// String returns the form that [ParseMixing] reads, such as "failing:0.1"; of lists of weights,
	// which a graph file has, what they are.
	String() string
	// check returns an error if the agents of a matrix cannot mix so.
	check(m *Matrix) error
}

// Plain mixing sums with the weights of W. It is what the theory of all methods asks for.
type Plain struct{}

func (Plain) String() string { return "plain" }

func (Plain) check(*Matrix) error { return nil }

// ParseMixing returns the mixing of a text: plain, matchings, or failing:p with the probability p
// that an edge fails. Errors match dsbo.ErrConfig.
func ParseMixing(text string) (Mixing, error) {
	name, value, _ := strings.Cut(text, ":")
	switch {
	case text == (Plain{}).String():
		return Plain{}, nil
	case text == (Matchings{}).String():
		return Matchings{}, nil
	case name == "failing":
		return parseFailing(value)
	}
	if instead, is := wording.Struck(name); is {
		return nil, dsbo.ConfigErrorf("mixing %s is gone: %s; it is %q", name, instead, text)
	}
	return nil, dsbo.ConfigErrorf(
		"mixing must be plain, matchings, or failing:p, with the probability p that an edge fails; it is %q", text)
}

// WithMixing returns the matrix with another mixing. Weights cannot change on a server, and lists
// of weights are for their own number of agents: such errors match dsbo.ErrConfig.
func (m *Matrix) WithMixing(x Mixing) (*Matrix, error) {
	if x == m.Mixing() {
		return m, nil
	}
	if err := x.check(m); err != nil {
		return nil, err
	}
	other := newMatrix(m.rows)
	other.server, other.mixing = m.server, x
	return other, nil
}

// Mixing returns how agents mix over the matrix; [Plain] unless WithMixing chose another.
func (m *Matrix) Mixing() Mixing {
	if m.mixing == nil {
		return Plain{}
	}
	return m.mixing
}
