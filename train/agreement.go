package train

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"dsbo/network"
)

// disagreement returns the error of agents whose copies of a variable differ although they must be
// the same. All agents call it, since it gathers their digests. If more than half agree, it names
// the others, probably on a faulty machine; without a majority it names none.
func (e *evaluator) disagreement(ctx context.Context, name string, of func(i int) []float64) error {
	digests := make([]string, e.N())
	for _, i := range e.Local() {
		digests[i] = strconv.FormatUint(network.Digest(of(i)), 16)
	}
	if err := e.GatherTexts(ctx, network.Fingerprints, digests); err != nil {
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
			others = append(others, e.Number(position))
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

// findMeans finds the averages of the agents' x, y, z and u. A variable whose bits are the same at
// all agents is its own average and is not exchanged. Bits that must agree but differ are an error:
// of x and y for methods that have the same state on all agents, and, for all methods, of the
// number of iterations done and the best iterate (common).
func (e *evaluator) findMeans(ctx context.Context) error {
	one, m := e.agents[e.Local()[0]], &e.means
	if one.z() == nil {
		m.z = nil
	}
	if one.u() == nil {
		m.u = nil
	}
	common := []float64{float64(e.done)}
	for _, s := range e.bestState.state() {
		common = append(common, s.Value...)
	}
	variables := []func(i int) []float64{
		func(i int) []float64 { return e.agents[i].x() }, func(i int) []float64 { return e.agents[i].y() },
		func(i int) []float64 { return e.agents[i].z() }, func(i int) []float64 { return e.agents[i].u() },
		func(int) []float64 { return common },
	}
	same, err := e.SameBits(ctx, variables...)
	if err != nil {
		return err
	}
	names := []string{"x", "y", "z", "u", "iteration or best iterate"}
	for v, name := range names {
		isXOrY, isCommon := v < 2, v == len(names)-1
		mustAgree := e.alike && isXOrY || isCommon
		if mustAgree && !same[v] {
			return e.disagreement(ctx, name, variables[v])
		}
	}
	for v, mean := range [][]float64{m.x, m.y, m.z, m.u} {
		if mean == nil { // of a method without
			continue
		}
		if m.spreads[v], err = e.MeanAndSpread(ctx, names[v], mean, variables[v], same[v]); err != nil {
			return err
		}
	}
	return nil
}

// means are averages over all agents.
type means struct {
	x, y    []float64
	z, u    []float64  // nil of methods without
	spreads [4]float64 // (1/n) Σ_i ‖x_i − x̄‖², and so for y, z and u
}

// fit returns x̄ and ȳ.
func (m *means) fit() Fit { return Fit{X: m.x, Y: m.y} }
