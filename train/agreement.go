package train

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"dsbo/network"
)

// commonVector returns the state that all agents share for any method: the iterations done, and the
// best iterate so far.
func (e *evaluator) commonVector() func(i int) []float64 {
	v := []float64{float64(e.done)}
	for _, s := range e.bestState.state() {
		v = append(v, s.Value...)
	}
	return func(int) []float64 { return v }
}

// checkAgreement returns an error that names agents unless all have the same bits of the common
// state, the last of the variables, and of x and y of methods whose state is the same on all
// agents. It exchanges nothing if they agree.
func (e *evaluator) checkAgreement(ctx context.Context, same []bool, variables []func(i int) []float64) error {
	names := []string{"x", "y"}
	if !e.alike {
		names = nil
	}
	for v, name := range names {
		if !same[v] {
			return e.disagreement(ctx, name, variables[v])
		}
	}
	if last := len(variables) - 1; !same[last] {
		return e.disagreement(ctx, "iteration or best iterate", variables[last])
	}
	return nil
}

// disagreement is the error of agents that have not the same of a variable. All agents ask for it:
// it gathers the digests of each.
func (e *evaluator) disagreement(ctx context.Context, name string, of func(i int) []float64) error {
	digests := make([]string, e.N())
	for _, i := range e.Local() {
		digests[i] = strconv.FormatUint(network.Digest(of(i)), 16)
	}
	if err := e.GatherTexts(ctx, digests); err != nil {
		return err
	}
	count := map[string]int{}
	for _, d := range digests {
		count[d]++
	}
	most := slices.MaxFunc(digests, func(a, b string) int { return count[a] - count[b] })
	var others []int
	for position, d := range digests {
		if d != most {
			others = append(others, e.problem.agentNumber(position))
		}
	}
	text := fmt.Sprintf("after iteration %d agents %v have another %s than the others", e.done, others, name)
	if 2*count[most] <= e.N() {
		text = fmt.Sprintf(
			"after iteration %d agents have not the same %s, and fewer than half agree; their digests are %v",
			e.done, name, digests)
	}
	return fmt.Errorf(
		"%s: they must have the same bits; a machine that computes wrongly, or memory that failed, makes others", text)
}

// findMeans finds the averages of the agents' x, y, z and u. Those which all agents have with the
// same bits are not exchanged. What all agents must have with the same bits, and have not, is
// an error.
func (e *evaluator) findMeans(ctx context.Context) error {
	s, m := e.stepper, &e.means
	one := s.agents[s.Local()[0]]
	if one.z() == nil {
		m.z = nil
	}
	if one.u() == nil {
		m.u = nil
	}
	variables := []func(i int) []float64{
		func(i int) []float64 { return s.agents[i].x() }, func(i int) []float64 { return s.agents[i].y() },
		func(i int) []float64 { return s.agents[i].z() }, func(i int) []float64 { return s.agents[i].u() },
		e.commonVector(),
	}
	same, err := s.SameBits(ctx, variables...)
	if err == nil {
		err = e.checkAgreement(ctx, same, variables)
	}
	if err != nil {
		return err
	}
	for v, mean := range [][]float64{m.x, m.y, m.z, m.u} {
		if mean == nil {
			continue
		}
		if m.spreads[v], err = s.MeanAndSpread(ctx, mean, variables[v], same[v]); err != nil {
			return err
		}
	}
	return nil
}
