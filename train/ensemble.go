package train

import (
	"context"
	"errors"
	"fmt"

	"dsbo"
	"dsbo/internal/vec"
	"dsbo/network"
)

// allExamples is the draw of all examples of an agent, which evaluation uses.
var allExamples = dsbo.Sample{Set: dsbo.Whole}

// An ensemble averages the answers of all agents' oracles. Those of this process are asked in parallel, and all answers are summed
// in the order of the agents, so that the result depends neither on the number of processors nor on where the agents are.
type ensemble struct {
	group
	oracles []dsbo.ValueOracle
	p, q    int
}

func newEnsemble(oracles []dsbo.ValueOracle, team network.Team) (*ensemble, error) {
	prob := Problem{Oracles: make([]dsbo.Oracle, len(oracles)), Team: team}
	for i, o := range oracles {
		if o != nil {
			prob.Oracles[i] = o
		}
	}
	g, err := prob.group()
	if err != nil {
		return nil, err
	}
	e := &ensemble{group: g, oracles: oracles}
	e.p, e.q, err = prob.Dims()
	return e, err
}

// mean sets dst to the average over the agents of what ask writes.
func (e *ensemble) mean(ctx context.Context, dst []float64, ask func(o dsbo.ValueOracle, part []float64) error) error {
	parts, err := e.collect(ctx, len(dst), func(i int, part []float64) error {
		if err := ask(e.oracles[i], part); err != nil {
			return fmt.Errorf("agent %d: %w", i, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	vec.Mean(dst, parts...)
	return nil
}

func (e *ensemble) lowerGrad(ctx context.Context, dst, x, y []float64) error {
	return e.mean(ctx, dst, func(o dsbo.ValueOracle, part []float64) error { return o.LowerGrad(part, x, y, allExamples) })
}

func (e *ensemble) upperGradY(ctx context.Context, dst, x, y []float64) error {
	return e.mean(ctx, dst, func(o dsbo.ValueOracle, part []float64) error { return o.UpperGrad(nil, part, x, y, allExamples) })
}

func (e *ensemble) upperGradX(ctx context.Context, dst, x, y []float64) error {
	return e.mean(ctx, dst, func(o dsbo.ValueOracle, part []float64) error { return o.UpperGrad(part, nil, x, y, allExamples) })
}

func (e *ensemble) hvp(ctx context.Context, dst, x, y, v []float64) error {
	return e.mean(ctx, dst, func(o dsbo.ValueOracle, part []float64) error { return o.HVP(part, x, y, v, allExamples) })
}

func (e *ensemble) jvp(ctx context.Context, dst, x, y, v []float64) error {
	return e.mean(ctx, dst, func(o dsbo.ValueOracle, part []float64) error { return o.JVP(part, x, y, v, allExamples) })
}

// values returns the average upper and lower losses.
func (e *ensemble) values(ctx context.Context, x, y []float64) (upper, lower float64, err error) {
	var both [2]float64
	err = e.mean(ctx, both[:], func(o dsbo.ValueOracle, part []float64) (err error) {
		part[0], part[1], err = o.Values(x, y, allExamples)
		return err
	})
	return both[0], both[1], err
}

var errNotFinite = errors.New("the numbers are no longer finite")
