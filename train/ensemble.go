package train

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"dsbo"
	"dsbo/internal/vec"
)

// whole is what evaluation asks for: all examples of an agent.
var whole = dsbo.Sample{Set: dsbo.Whole}

// An ensemble asks all agents' oracles and averages what they say. Agents are asked in parallel and
// summed in their order, so that the result does not depend on the number of processors.
type ensemble struct {
	oracles []dsbo.ValueOracle
	p, q    int
	parts   [][]float64 // one answer an agent, of the longer of p and q, and two more numbers
}

func newEnsemble(oracles []dsbo.ValueOracle) (*ensemble, error) {
	if len(oracles) == 0 {
		return nil, fmt.Errorf("%w: no oracles: want one for each agent", dsbo.ErrShape)
	}
	e := &ensemble{oracles: oracles, parts: make([][]float64, len(oracles))}
	e.p, e.q = oracles[0].Dims()
	for i, o := range oracles {
		if p, q := o.Dims(); p != e.p || q != e.q {
			return nil, fmt.Errorf("%w: agent %d has p=%d, q=%d, agent 0 has %d and %d: want the same", dsbo.ErrShape, i, p, q, e.p, e.q)
		}
		e.parts[i] = make([]float64, max(e.p, e.q, 2))
	}
	return e, nil
}

// mean sets dst to the average over the agents of what ask writes.
func (e *ensemble) mean(ctx context.Context, dst []float64, ask func(o dsbo.ValueOracle, part []float64) error) error {
	err := each(ctx, len(e.oracles), func(i int) error {
		if err := ask(e.oracles[i], e.parts[i][:len(dst)]); err != nil {
			return fmt.Errorf("agent %d: %w", i, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	vec.Fill(dst, 0)
	for _, part := range e.parts {
		vec.Add(dst, dst, part[:len(dst)])
	}
	vec.Scale(dst, 1/float64(len(e.parts)), dst)
	return nil
}

func (e *ensemble) lowerGrad(ctx context.Context, dst, x, y []float64) error {
	return e.mean(ctx, dst, func(o dsbo.ValueOracle, part []float64) error { return o.LowerGrad(part, x, y, whole) })
}

func (e *ensemble) upperGradY(ctx context.Context, dst, x, y []float64) error {
	return e.mean(ctx, dst, func(o dsbo.ValueOracle, part []float64) error { return o.UpperGrad(nil, part, x, y, whole) })
}

func (e *ensemble) upperGradX(ctx context.Context, dst, x, y []float64) error {
	return e.mean(ctx, dst, func(o dsbo.ValueOracle, part []float64) error { return o.UpperGrad(part, nil, x, y, whole) })
}

func (e *ensemble) hvp(ctx context.Context, dst, x, y, v []float64) error {
	return e.mean(ctx, dst, func(o dsbo.ValueOracle, part []float64) error { return o.HVP(part, x, y, v, whole) })
}

func (e *ensemble) jvp(ctx context.Context, dst, x, y, v []float64) error {
	return e.mean(ctx, dst, func(o dsbo.ValueOracle, part []float64) error { return o.JVP(part, x, y, v, whole) })
}

// values returns the average upper and lower losses.
func (e *ensemble) values(ctx context.Context, x, y []float64) (upper, lower float64, err error) {
	var both [2]float64
	err = e.mean(ctx, both[:], func(o dsbo.ValueOracle, part []float64) (err error) {
		part[0], part[1], err = o.Values(x, y, whole)
		return err
	})
	return both[0], both[1], err
}

// each calls f for 0..n-1, on as many goroutines as there are processors, and returns the error of
// the lowest i that failed. No new call starts once ctx is done.
func each(ctx context.Context, n int, f func(i int) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	workers := min(n, runtime.GOMAXPROCS(0))
	errs := make([]error, n)
	var next atomic.Int64
	var wg sync.WaitGroup
	work := func() {
		for {
			i := int(next.Add(1)) - 1
			if i >= n || ctx.Err() != nil {
				return
			}
			errs[i] = f(i)
		}
	}
	for range workers - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

var errNotFinite = errors.New("the numbers are no longer finite")
