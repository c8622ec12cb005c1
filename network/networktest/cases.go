package networktest

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"

	"dsbo"
	"dsbo/network"
)

// testConsensus mixes until the agents agree. Each exchange keeps the mean and brings the
// agents closer to it by ρ, up to rounding.
func testConsensus(t *testing.T, x *exchange) {
	const length, precision = 5, 1e-9
	n, rho := x.w.N(), x.w.Rho()
	rounds := 2
	if rho > 1e-3 { // else two do
		rounds += int(math.Ceil(math.Log(precision) / math.Log(rho)))
	}
	history := x.history(t, vectors(n, length, 1), rounds)
	if slices.Contains(x.mixers, nil) {
		t.Skip("some agents live in another process: there is no mean to look at")
	}
	if t.Failed() {
		return
	}
	scale := 0.0
	for _, v := range history[0] {
		for _, e := range v {
			scale = max(scale, math.Abs(e))
		}
	}
	// A sum of at most n+1 products of weights that sum to 1 is off by (n+1)·2⁻⁵³ of the
	// largest number, and W itself, with its rounded rows and columns, by as much.
	entry := 2 * float64(n+1) * 0x1p-53 * scale
	all := 2 * entry * math.Sqrt(float64(n*length)) // of all entries, and of the means that spread takes
	for r := range rounds {
		before, mean := spread(history[r])
		after, next := spread(history[r+1])
		for e := range mean {
			if d := math.Abs(next[e] - mean[e]); d > 2*entry {
				t.Errorf("exchange %d: the mean of entry %d moved by %g; it must be at most %g", r, e, d, 2*entry)
			}
		}
		if bound := rho*before + all; after > bound {
			t.Errorf("exchange %d: the distance from the mean went from %g to %g; it must be at most ρ of it, %g", r,
				before, after, bound)
		}
	}
	// Later exchanges shrink the rounding of earlier ones too: in all it is 1/(1−ρ) of one.
	start, _ := spread(history[0])
	end, _ := spread(history[rounds])
	if bound := precision*start + all/(1-rho); end > bound {
		t.Errorf("after %d exchanges the distance from the mean is %g; it must be at most %g", rounds, end, bound)
	}
}

// history returns the agents' vectors before the first exchange, start, and after each.
func (x *exchange) history(t *testing.T, start [][]float64, rounds int) [][][]float64 {
	t.Helper()
	h := [][][]float64{start}
	for range rounds {
		h = append(h, make([][]float64, len(start)))
	}
	x.mustSucceed(t, func(ctx context.Context, i int, m dsbo.Mixer) error {
		for r := range rounds {
			h[r+1][i] = make([]float64, len(start[i]))
			if err := m.Mix(ctx, h[r+1][i], h[r][i]); err != nil {
				return err
			}
		}
		return nil
	})
	return h
}

// spread returns ‖X − 1·x̄'‖ in the Frobenius norm and x̄.
func spread(x [][]float64) (float64, []float64) {
	mean := make([]float64, len(x[0]))
	for _, v := range x {
		for e := range mean {
			mean[e] += v[e] / float64(len(x))
		}
	}
	s := 0.0
	for _, v := range x {
		for e := range mean {
			s = math.Hypot(s, v[e]-mean[e])
		}
	}
	return s, mean
}

// A step is what an agent does together with the others: an exchange, or a reduction.
type step func(ctx context.Context, m dsbo.Mixer) error

// mixStep mixes vectors of these lengths.
func mixStep(dst, src int) step {
	return func(ctx context.Context, m dsbo.Mixer) error {
		return m.Mix(ctx, make([]float64, dst), make([]float64, src))
	}
}

// allStep has each agent of this process take a step, and returns their errors.
func (x *exchange) allStep(ctx context.Context, s step) []error {
	return x.onAgents(func(_ int, m dsbo.Mixer) error { return s(ctx, m) })
}

// untilError takes a step until an error comes.
func (s step) untilError(ctx context.Context, m dsbo.Mixer) error {
	for {
		if err := s(ctx, m); err != nil {
			return err
		}
	}
}

// withhold lets all agents take a few steps, after which the last one stops. Once the
// others are past that point, and soon wait or wait already, it calls interrupt.
func (x *exchange) withhold(ctx context.Context, interrupt func(), s step) []error {
	last := x.w.N() - 1
	var started sync.WaitGroup
	for _, m := range x.mixers {
		if m != nil {
			started.Add(1)
		}
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		started.Wait()
		interrupt()
	})
	return x.onAgents(func(i int, m dsbo.Mixer) error {
		for range 5 {
			if err := s(ctx, m); err != nil {
				started.Done()
				return err
			}
		}
		started.Done()
		if i == last {
			return nil
		}
		return s.untilError(ctx, m)
	})
}

// wantEnds checks that all agents but the last ended with an error that is target, after withhold.
func (x *exchange) wantEnds(t *testing.T, errs []error, target error) {
	t.Helper()
	errs[len(errs)-1] = target
	x.wantAll(t, errs, target)
}

func testCancel(t *testing.T, x *exchange) {
	ctx, cancel := context.WithCancel(Context(t))
	errs := x.withhold(ctx, cancel, mixStep(3, 3))
	if last := len(errs) - 1; errs[last] != nil {
		t.Errorf("agent %d: %v", last, errs[last])
	}
	// One that was released by a neighbour's end is as good as one that saw its own.
	x.wantEnds(t, errs, context.Canceled)
}

// testCancelledBefore returns the test of a step whose context has ended before.
func testCancelledBefore(s step) func(*testing.T, *exchange) {
	return func(t *testing.T, x *exchange) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		x.wantAll(t, x.allStep(ctx, s), context.Canceled)
	}
}

// testClose closes while agents wait, and a second time.
func testClose(t *testing.T, x *exchange) {
	ctx := Context(t)
	x.wantEnds(t, x.withhold(ctx, x.closeAll, mixStep(3, 3)), network.ErrClosed)
	x.closeAll()
	x.wantAll(t, x.allStep(ctx, mixStep(3, 3)), network.ErrClosed)
}

func testLengthOfDst(t *testing.T, x *exchange) {
	x.wantAll(t, x.allStep(Context(t), mixStep(3, 4)), dsbo.ErrShape)
}

// testLengthOfNeighbour has agent 0 mix one number more than the others.
func testLengthOfNeighbour(t *testing.T, x *exchange) {
	x.wantMismatch(t, mixStep(4, 4), mixStep(3, 3))
}

// wantMismatch has agent 0 take a step of its own, and the others another one that does not fit to
// it, for ever. All must end, and those that saw it say so.
func (x *exchange) wantMismatch(t *testing.T, first, others step) {
	t.Helper()
	if x.w.N() == 1 {
		t.Skip("one agent has nobody to be unlike")
	}
	if !slices.ContainsFunc(x.mixers, func(m dsbo.Mixer) bool { return m != nil }) {
		t.Skip("all agents live in other processes: there is nobody to look at")
	}
	ctx := Context(t)
	errs := x.onAgents(func(i int, m dsbo.Mixer) error {
		if i == 0 {
			return first.untilError(ctx, m)
		}
		return others.untilError(ctx, m)
	})
	if err := errors.Join(errs...); !errors.Is(err, dsbo.ErrShape) {
		t.Errorf("the agents ended with %v; it must match %q", err, dsbo.ErrShape)
	}
	for i, err := range errs {
		if x.mixers[i] != nil && (err == nil || errors.Is(err, context.DeadlineExceeded)) {
			t.Errorf("agent %d ended with %v; it must be an error of the exchange", i, err)
		}
	}
}
