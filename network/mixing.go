package network

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
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

// changing mixing has other weights in each iteration, over the edges of the matrix.
type changing interface {
	Mixing
	// weights appends the weights with which agent i of m combines what it and its neighbours send
	// in iteration k, in the order of its row, to pull or to push.
	weights(dst []Weight, m *Matrix, i int, seed uint64, k int, push bool) []Weight
}

// IsChanging reports whether the weights of a mixing change from iteration to iteration.
func IsChanging(x Mixing) bool {
	_, ok := x.(changing)
	return ok
}

// weightStream keeps the draws of weights apart from other uses of the same seed.
const weightStream = 0x77656967687473

// edgeDraw returns the draw of an edge in iteration k: random bits by name.
func edgeDraw(seed uint64, k, i, j int) uint64 {
	return newDraws(seed, weightStream, uint64(k), uint64(min(i, j))).bits(max(i, j))
}

// Failing mixing loses each edge in each iteration with a probability, by draws that have names.
// The weight of an edge that fails stays with its two ends, so that weights are doubly stochastic
// still. Messages travel all the same, and are left aside.
type Failing struct {
	changingEdges
	Probability float64
}

func (x Failing) String() string { return fmt.Sprintf("failing:%v", x.Probability) }

// weights gives agent i's own weight the weights of the edges that fail in iteration k, so rows sum
// to 1. A matrix has all diagonal entries, so row i has that weight. Both ends draw the same number
// for an edge, in [0, 1) with the 53 bits of a float64. Weights are symmetric, and the same to pull
// and to push.
func (x Failing) weights(dst []Weight, m *Matrix, i int, seed uint64, k int, _ bool) []Weight {
	self, lost := len(dst), 0.0
	for _, w := range m.rows[i] {
		if w.Agent == i {
			self = len(dst)
		} else if draw := float64(edgeDraw(seed, k, i, w.Agent)>>11) * 0x1p-53; draw < x.Probability {
			lost += w.Weight
			w.Weight = 0
		}
		dst = append(dst, w)
	}
	dst[self].Weight += lost
	return dst
}

// Matchings mixing takes pairs of neighbours in each iteration, as many as fit, by draws that have
// names, and averages each pair; who finds no neighbour free keeps its vector. Messages travel over
// all edges, and are left aside but for the pair's.
type Matchings struct{ changingEdges }

func (Matchings) String() string { return "matchings" }

// weights pairs agents by edges in the order of iteration k's draws, skipping those with a paired
// end. All agents compute the same pairs: of equal draws the lower edge comes first.
func (Matchings) weights(dst []Weight, m *Matrix, i int, seed uint64, k int, _ bool) []Weight {
	type edge struct {
		draw uint64
		ends [2]int
	}
	var edges []edge
	for _, e := range m.Edges() {
		edges = append(edges, edge{edgeDraw(seed, k, e[0], e[1]), e})
	}
	slices.SortStableFunc(edges, func(a, b edge) int { return cmp.Compare(a.draw, b.draw) })
	partner, taken := i, make([]bool, m.N())
	for _, e := range edges {
		a, b := e.ends[0], e.ends[1]
		if taken[a] || taken[b] {
			continue
		}
		taken[a], taken[b] = true, true
		if a == i || b == i {
			partner = a + b - i // the other end
		}
	}
	for _, w := range m.rows[i] {
		w.Weight = 0
		switch {
		case w.Agent == i && partner == i:
			w.Weight = 1
		case w.Agent == i || w.Agent == partner:
			w.Weight = 0.5
		}
		dst = append(dst, w)
	}
	return dst
}

// changingEdges are what mixings with weights that are drawn have alike.
type changingEdges struct{}

// check refuses a server, which has no edges that could change.
func (changingEdges) check(m *Matrix) error {
	if m.server {
		return dsbo.ConfigErrorf("weights cannot change on graph server, where a server sums; take graph complete")
	}
	return nil
}

func parseFailing(text string) (Mixing, error) {
	p, err := strconv.ParseFloat(text, 64)
	if err != nil || !(p > 0 && p < 1) {
		return nil, dsbo.ConfigErrorf(
			"mixing failing:p must have the probability p with which an edge fails, between 0 and 1; it is %q", text)
	}
	return Failing{Probability: p}, nil
}

// Listed mixing has lists of weights, used in turn, one an iteration. See [Sequence]
// and [NewDirected].
type Listed struct {
	directed   bool
	pull, push []*Matrix // the same where edges have no direction
}

// Directed reports whether edges have a direction: Mix, whose weights are doubly stochastic, is not
// for such a graph, but Pull and Push ([dsbo.MixerCapabilities]).
func (l *Listed) Directed() bool { return l.directed }

// String returns the kind of the lists with a digest of their numbers: settings that agents compare
// have it, so that lists that differ are found.
func (l *Listed) String() string {
	var all [][][]float64
	for _, m := range slices.Concat(l.pull, l.push) {
		all = append(all, m.Dense())
	}
	text, _ := json.Marshal(all) // finite numbers
	kind := "sequence"
	if l.directed {
		kind = "directed"
	}
	return fmt.Sprintf("%s:%.8x", kind, sha256.Sum256(text))
}

// check refuses members that change: the lists are of all agents.
func (l *Listed) check(m *Matrix) error {
	if m.N() != l.pull[0].N() {
		return dsbo.ConfigErrorf("a graph whose weights are lists has the same %d agents always; it has %d",
			l.pull[0].N(), m.N())
	}
	return nil
}

// weights returns row i of iteration k's matrix, one after the other from the lists, which repeat,
// and 0 for agents that have no edge then: m has the edges of all iterations.
func (l *Listed) weights(dst []Weight, m *Matrix, i int, _ uint64, k int, push bool) []Weight {
	list := l.pull
	if push {
		list = l.push
	}
	at := list[k%len(list)]
	for _, w := range m.rows[i] {
		dst = append(dst, Weight{w.Agent, at.At(i, w.Agent)})
	}
	return dst
}

// A line is what sums to 1 in weights: rows, columns, or both.
type line struct{ rows, columns bool }

// NewDirected returns a graph of edges of one direction that may change: the weights of pull, whose
// rows sum to 1, and of push, whose columns do, one of each in an iteration, over and over. An
// entry ij that is not 0 is an edge from j to i. Weights must be finite, not negative and positive
// on the diagonal, and the edges of all iterations together must lead from every agent to every
// other. Errors match dsbo.ErrConfig and name the first entry, row or column that is wrong.
//
// Messages travel over all these edges, in both directions, in each exchange; who has no edge at
// the time leaves them aside. At and Row give the weights of averages, Metropolis'.
func NewDirected(pull, push [][][]float64) (*Matrix, error) {
	if len(pull) == 0 || len(push) == 0 {
		return nil, dsbo.ConfigErrorf(
			"a directed graph must have weights to pull and to push; it has %d and %d", len(pull), len(push))
	}
	l := &Listed{directed: true}
	var err error
	if l.pull, err = checkedList("pull", pull, len(pull[0]), line{rows: true}); err == nil {
		l.push, err = checkedList("push", push, len(pull[0]), line{columns: true})
	}
	if err != nil {
		return nil, err
	}
	return l.union()
}

// Sequence returns a graph whose weights change: one matrix of a list in each iteration, over and
// over. Each must be symmetric and doubly stochastic, as in [Matrix.Validate], but only the union
// of them connected. Messages travel as in [NewDirected].
func Sequence(list [][][]float64) (*Matrix, error) {
	if len(list) == 0 {
		return nil, dsbo.ConfigErrorf("a sequence must have one matrix at least")
	}
	ms, err := checkedList("sequence", list, len(list[0]), line{true, true})
	if err != nil {
		return nil, err
	}
	return (&Listed{pull: ms, push: ms}).union()
}

// checkedList returns the matrices of a list. Each must be for n agents and have the given sums,
// and all edges together must connect the agents.
func checkedList(name string, list [][][]float64, n int, sums line) (all []*Matrix, err error) {
	for k, rows := range list {
		at := fmt.Sprintf("%s[%d]", name, k)
		m, err := NewMatrix(rows)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", at, err)
		case len(rows) != n:
			return nil, dsbo.ConfigErrorf("%s must have %d agents, as the first has; it has %d", at, n,
				len(rows))
		}
		if err := checkWeights(at, rows, sums); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, checkUnion(name, list)
}

// checkWeights requires weights of which rows, or columns, sum to 1, and that are symmetric
// if both do.
func checkWeights(name string, rows [][]float64, sums line) error {
	for i := range rows {
		row, column := 0.0, 0.0
		for j, w := range rows[i] {
			switch {
			case !(w >= 0) || math.IsInf(w, 0) || i == j && w == 0: // NaN is not at least 0
				return dsbo.ConfigErrorf(
					"%s[%d][%d] must be finite, at least 0, and positive on the diagonal; it is %v", name, i, j, w)
			case sums.rows && sums.columns && w != rows[j][i]:
				return dsbo.ConfigErrorf(
					"%s must be symmetric; [%d][%d] and [%[3]d][%[2]d] are %v and %v", name, i, j, w, rows[j][i])
			}
			row, column = row+w, column+rows[j][i]
		}
		if sums.rows && math.Abs(row-1) > stochasticTol {
			return dsbo.ConfigErrorf("row %d of %s must sum to 1; it sums to %v", i, name, row)
		}
		if sums.columns && math.Abs(column-1) > stochasticTol {
			return dsbo.ConfigErrorf("column %d of %s must sum to 1; it sums to %v", i, name, column)
		}
	}
	return nil
}

// checkUnion requires that the edges of all weights together lead from every agent to every other:
// from agent 0 to all, and from all to agent 0, which is where the reversed edges lead to.
func checkUnion(name string, list [][][]float64) error {
	isEdge := func(from, to int) bool {
		return slices.ContainsFunc(list, func(rows [][]float64) bool { return rows[to][from] != 0 })
	}
	from, to := 0, firstUnreached(len(list[0]), isEdge)
	if to < 0 {
		from, to = firstUnreached(len(list[0]), func(i, j int) bool { return isEdge(j, i) }), 0
	}
	if from < 0 {
		return nil
	}
	return dsbo.ConfigErrorf(
		"the edges of all of %s must be strongly connected; no path leads from agent %d to agent %d", name, from, to)
}

// firstUnreached returns the first of n agents to which no edges lead from agent 0; -1: there is
// none.
func firstUnreached(n int, isEdge func(from, to int) bool) int {
	var s search
	s.visit(n, func(i int) (next []int) {
		for j := range n {
			if isEdge(i, j) {
				next = append(next, j)
			}
		}
		return next
	}, n, 0)
	return slices.Index(s.depth, -1)
}

// union returns the matrix that mixes by the lists: with an edge, in both directions, wherever one
// of them has one, over which messages travel, and Metropolis weights, of averages alone.
func (l *Listed) union() (*Matrix, error) {
	n := l.pull[0].N()
	all := slices.Concat(l.pull, l.push)
	g, err := edgesWhere(n, func(i, j int) bool {
		return slices.ContainsFunc(all, func(m *Matrix) bool { return m.At(i, j) != 0 || m.At(j, i) != 0 })
	}).graph("listed", 0)
	if err != nil {
		return nil, err
	}
	return g.W.WithMixing(l)
}
