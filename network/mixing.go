package network

import (
	"slices"
	"strconv"
	"strings"

	"dsbo"
)

// A Mixing is how an agent combines its own vector with the vectors of its neighbours in an
// exchange: [Plain], or a robust one, [Clipped] or [Trimmed], against neighbours that send
// plausible but hostile numbers. All agents of a run have the same.
//
// # What robust mixing promises
//
// Up to b of an agent's neighbours may send it anything, to each agent something else: the agent's
// sum then stays among what honest agents have sent, or near to it. What is left is a bias in
// proportion to b and to how far honest agents are apart, which vanishes with their differences:
// honest agents whose losses are alike reach their common solution, those whose data differ one
// that is off by as much as b agents with admissible data could make it.
//
// It does not keep the sum over the agents, not even without liars, as W does. So it is for methods
// that mix copies of their variables and forget errors; those that keep sums (trackers,
// multipliers, exact averages) go astray by it, or are refused: see algo.Traits. Reductions and
// averages are not robust: what evaluations say, and models that all agents find together at the
// end, a liar can spoil.
type Mixing interface {
	// String returns the form that [ParseMixing] reads, such as "trimmed:2"; of lists of weights,
	// which a graph file has, what they are.
	String() string
	// liars returns b, the number of neighbours that may lie.
	liars() int
	// check returns an error if agents with enough neighbours still do not suit; name returns the
	// number of an agent for people.
	check(m *Matrix, name func(position int) int) error
	// combine sets dst to the agent's part of the exchange, for one part of its vectors:
	// see Combiner.Combine.
	combine(c *Combiner, dst []float64, in [][]float64)
}

// Plain mixing sums with the weights of W. It is what the theory of all methods asks for.
type Plain struct{ linear }

func (Plain) String() string { return "plain" }

func (Plain) check(*Matrix, func(int) int) error { return nil }

// linear mixing sums with weights, against no liars.
type linear struct{}

func (linear) liars() int { return 0 }

func (linear) combine(c *Combiner, dst []float64, in [][]float64) { Combine(dst, c.row, in) }

// mixings are the robust mixings by their names.
var mixings = []struct {
	name string
	with func(liars int) Mixing
}{
	{"clipped", func(b int) Mixing { return Clipped{b} }},
	{"trimmed", func(b int) Mixing { return Trimmed{b} }},
}

// ParseMixing returns the mixing of a text: plain, or clipped:b or trimmed:b with the number b ≥ 1
// of neighbours of an agent that may lie (without :b it is 1), matchings, or failing:p with the
// probability p that an edge fails. Errors match dsbo.ErrConfig.
func ParseMixing(text string) (Mixing, error) {
	if text == (Plain{}).String() {
		return Plain{}, nil
	}
	name, count, counted := strings.Cut(text, ":")
	switch {
	case text == (Matchings{}).String():
		return Matchings{}, nil
	case name == "failing":
		return parseFailing(count)
	}
	for _, m := range mixings {
		if m.name != name {
			continue
		}
		if !counted {
			return m.with(1), nil
		}
		b, err := strconv.Atoi(count)
		if err != nil || b < 1 || b > MaxAgents {
			return nil, dsbo.ConfigErrorf(
				"mixing %s:b must have the number b of neighbours that may lie, from 1 to %d; it is %q", name,
				MaxAgents, text)
		}
		return m.with(b), nil
	}
	return nil, dsbo.ConfigErrorf(
		"mixing must be plain, clipped:b or trimmed:b, with the number b of neighbours that may lie, matchings, or "+
			"failing:p, with the probability p that an edge fails; it is %q", text)
}

// WithMixing returns the matrix with another mixing. Robust mixing needs more honest neighbours
// than liars at every agent, 2b+1 neighbours at least; [Trimmed] also that no two groups of agents
// may stay apart for ever, which is looked for among up to 14 agents. Errors match dsbo.ErrConfig
// and name the first agent that has fewer, or the groups.
func (m *Matrix) WithMixing(x Mixing) (*Matrix, error) {
	return m.withMixing(x, func(position int) int { return position })
}

// withMixing is WithMixing with the numbers of agents for people.
func (m *Matrix) withMixing(x Mixing, name func(position int) int) (*Matrix, error) {
	if x != (Plain{}) && !IsChanging(x) {
		if x.liars() < 1 {
			return nil, dsbo.ConfigErrorf("mixing %v must be against 1 liar at least", x)
		}
		if i := slices.IndexFunc(m.neighbours, func(js []int) bool { return len(js) <= 2*x.liars() }); i >= 0 {
			return nil, dsbo.ConfigErrorf(
				"mixing %v needs at least %d neighbours at every agent, more honest ones than liars; agent %d has %d",
				x, 2*x.liars()+1, name(i), len(m.neighbours[i]))
		}
		if m.server {
			return nil, dsbo.ConfigErrorf(
				"mixing %v is among neighbours, and cannot be on graph server, where a server sums; take graph "+
					"complete", x)
		}
	}
	if x == m.Mixing() {
		return m, nil
	}
	if err := x.check(m, name); err != nil {
		return nil, err
	}
	return &Matrix{rows: m.rows, neighbours: m.neighbours, server: m.server, mixing: x}, nil
}

// Mixing returns how agents mix over the matrix; [Plain] unless WithMixing chose another.
func (m *Matrix) Mixing() Mixing {
	if m.mixing == nil {
		return Plain{}
	}
	return m.mixing
}
