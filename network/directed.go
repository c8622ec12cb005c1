package network

import (
	"context"
	"fmt"
	"math"

	"dsbo"
)

// A Directed graph is two sequences of weights over edges of one direction, used in turn, one of
// each an iteration: Pull, whose rows sum to 1, and Push, whose columns sum to 1. An entry ij that
// is not 0 is an edge from j to i.
type Directed struct{ pull, push []*Matrix }

// NewDirected returns the directed graph with these weights, row by row. Each must be finite, not
// negative and positive on its diagonal, and their edges together must lead from every agent to
// every other. Errors match dsbo.ErrConfig and name the first entry, row or column that is wrong.
func NewDirected(pull, push [][][]float64) (*Directed, error) {
	if len(pull) == 0 || len(push) == 0 {
		return nil, dsbo.Errorf(dsbo.ErrConfig,
			"a directed graph must have weights to pull and to push; it has %d and %d", len(pull), len(push))
	}
	d := &Directed{}
	for _, sequence := range []struct {
		name, line string
		rows       [][][]float64
		into       *[]*Matrix
	}{{"A", "row", pull, &d.pull}, {"B", "column", push, &d.push}} {
		for k, rows := range sequence.rows {
			name := fmt.Sprintf("%s[%d]", sequence.name, k)
			m, err := NewMatrix(rows)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if len(rows) != len(pull[0]) {
				return nil, dsbo.Errorf(dsbo.ErrConfig, "%s must have %d agents, as A[0] has; it has %d", name,
					len(pull[0]), len(rows))
			}
			if err := checkDirected(name, sequence.line, rows); err != nil {
				return nil, err
			}
			*sequence.into = append(*sequence.into, m)
		}
		if err := checkUnion(sequence.name, sequence.rows); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// checkDirected requires weights whose rows, or columns, sum to 1.
func checkDirected(name, line string, rows [][]float64) error {
	for i := range rows {
		sum := 0.0
		for j := range rows {
			w, at := rows[i][j], fmt.Sprintf("[%d][%d]", i, j)
			if line == "column" {
				w, at = rows[j][i], fmt.Sprintf("[%d][%d]", j, i)
			}
			if !(w >= 0) || math.IsInf(w, 0) || i == j && w == 0 {
				return dsbo.Errorf(dsbo.ErrConfig,
					"%s%s must be finite, at least 0, and positive on the diagonal; it is %v", name, at, w)
			}
			sum += w
		}
		if math.Abs(sum-1) > stochasticTol {
			return dsbo.Errorf(dsbo.ErrConfig, "%s %d of %s must sum to 1; it sums to %v", line, i, name, sum)
		}
	}
	return nil
}

// checkUnion requires that the edges of all weights together lead from every agent to every other:
// from agent 0 to all, and from all to agent 0.
func checkUnion(name string, sequence [][][]float64) error {
	n := len(sequence[0])
	for _, forward := range []bool{true, false} {
		reached, queue := make([]bool, n), []int{0}
		reached[0] = true
		for ; len(queue) > 0; queue = queue[1:] {
			for i := range n {
				for _, rows := range sequence {
					w := rows[i][queue[0]]
					if !forward {
						w = rows[queue[0]][i]
					}
					if w != 0 && !reached[i] {
						reached[i] = true
						queue = append(queue, i)
					}
				}
			}
		}
		for i, ok := range reached {
			if !ok {
				from, to := 0, i
				if !forward {
					from, to = i, 0
				}
				return dsbo.Errorf(dsbo.ErrConfig,
					"the edges of all %s together must be strongly connected; no path leads from agent %d to agent %d",
					name, from, to)
			}
		}
	}
	return nil
}

// At returns the weights of iteration k.
func (d *Directed) At(k int) (pull, push *Matrix) {
	return d.pull[k%len(d.pull)], d.push[k%len(d.push)]
}

// Mixers joins the agents of a directed graph, which are goroutines of one process: each returned
// end is for the agent of its number, belongs to one goroutine at a time, and mixes as the end of
// the same number in over does where edges have no direction.
func (d *Directed) Mixers(over []dsbo.Mixer) []dsbo.DirectedMixer {
	ends := make([]dsbo.DirectedMixer, len(over))
	pull, push := locals(d.pull), locals(d.push)
	for i, m := range over {
		ends[i] = &directedMixer{m, i, pull, push}
	}
	return ends
}

// locals returns an exchange for each of some weights. Agents wait for each other in both
// directions of an edge, so that none runs ahead of who reads its vector.
func locals(ms []*Matrix) (all []*Local) {
	for _, m := range ms {
		all = append(all, NewLocal(m))
	}
	return all
}

// A directedMixer is one agent's end of a directed graph.
type directedMixer struct {
	dsbo.Mixer
	agent      int
	pull, push []*Local
}

// Pull implements [dsbo.DirectedMixer].
func (m *directedMixer) Pull(ctx context.Context, k int, dst, src []float64) error {
	return m.pull[k%len(m.pull)].Mixer(m.agent).Mix(ctx, dst, src)
}

// Push implements [dsbo.DirectedMixer].
func (m *directedMixer) Push(ctx context.Context, k int, dst, src []float64) error {
	return m.push[k%len(m.push)].Mixer(m.agent).Mix(ctx, dst, src)
}
