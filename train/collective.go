package train

import (
	"context"
	"fmt"
	"math"
	"slices"

	"dsbo"
	"dsbo/network"
)

// NewCollective returns the way of n agents to what they find together while data are loaded, before there is a [Problem]. team and w are
// those of a Problem, whose place they take, and sent counts what all agents send. ctx bounds all calls.
func NewCollective(ctx context.Context, n int, team network.Team, w *network.Matrix, sent *dsbo.Traffic) network.Collective {
	return Problem{Oracles: make([]dsbo.Oracle, n), Team: team, W: w, Sent: sent}.Collective(ctx)
}

// Collective returns the way of a problem's agents to what they find together after a run. Agents are named by their numbers in the
// roster; there are no texts of those that are not there.
func (p Problem) Collective(ctx context.Context) network.Collective {
	return &problemCollective{ctx: ctx, group: p.groupOf(p.local()), problem: p}
}

// A problemCollective is a [network.Collective] by the averages of a group.
type problemCollective struct {
	ctx     context.Context // of the one time for which it is made
	group   *group
	problem Problem
}

// Sum implements [network.Collective]. An average of whole numbers is off by less than a millionth, and so their sum is rounded to
// what it was.
func (t *problemCollective) Sum(dst []float64, fill func(i int, part []float64) error) error {
	err := t.group.meanNumbers(t.ctx, dst, func(i int, part []float64) error {
		clear(part)
		return fill(t.problem.agentNumber(i), part)
	})
	if err != nil {
		return err
	}
	for k := range dst {
		dst[k] = roundToWhole(float64(dst[k] * float64(t.group.n)))
		if math.IsNaN(dst[k]) || math.IsInf(dst[k], 0) {
			return fmt.Errorf("sum %d of %d over all agents must be finite; it is %g", k, len(dst), dst[k])
		}
	}
	return nil
}

// roundToWhole returns the whole number that v is but for its last two bits, else v.
func roundToWhole(v float64) float64 {
	if whole := math.Round(v); math.Abs(v-whole) <= 0x1p-51*math.Abs(v) {
		return whole
	}
	return v
}

// Texts implements [network.Collective].
func (t *problemCollective) Texts(of func(i int) (string, error)) ([]string, error) {
	texts := make([]string, t.group.n)
	for _, i := range t.group.local {
		var err error
		if texts[i], err = of(t.problem.agentNumber(i)); err != nil {
			return nil, err
		}
	}
	if err := t.group.gatherTexts(t.ctx, texts); err != nil || t.problem.Numbers == nil {
		return texts, err
	}
	all := make([]string, 1+slices.Max(t.problem.Numbers))
	for i, text := range texts {
		all[t.problem.Numbers[i]] = text
	}
	return all, nil
}

// GatherRows lets each agent of this process fill in a row, several at the same time, and returns those of all agents, which every
// agent sees. Each counts as sent to each other agent.
func (p Problem) GatherRows(ctx context.Context, length int, fill func(i int, row []float64) error) ([][]float64, error) {
	g, err := p.group()
	if err != nil {
		return nil, err
	}
	rows, err := g.gatherRows(ctx, length, fill)
	if err != nil {
		return nil, err
	}
	g.count(func(int) dsbo.Traffic { return network.GatherCost(g.n, length) })
	return rows, nil
}
