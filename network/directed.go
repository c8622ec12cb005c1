package network

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"dsbo"
)

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
	part := components(n, func(i int) (next []int) {
		for j := range n {
			if isEdge(i, j) {
				next = append(next, j)
			}
		}
		return next
	})
	return slices.IndexFunc(part, func(p int) bool { return p != 0 })
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
