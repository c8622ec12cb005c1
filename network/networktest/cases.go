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

// A step is what an agent does together with the others: an exchange, or a reduction.
type step func(ctx context.Context, m network.Reducer) error

// mixStep mixes vectors of these lengths.
func mixStep(dst, src int) step {
	return func(ctx context.Context, m network.Reducer) error {
		return m.Mix(ctx, make([]float64, dst), make([]float64, src))
	}
}

// step reduces zeros.
func (r reduction) step(ctx context.Context, m network.Reducer) error {
	return m.Reduce(ctx, network.Reduction{Op: r.op, Bits: r.bits, Words: make([]uint64, r.length)})
}

// step returns the step to test: a mix if the number of agents is even, else a mix and a reduction,
// so that both are covered.
func (x *exchange) step() step {
	if x.w.N()%2 == 0 {
		return mixStep(3, 3)
	}
	return func(ctx context.Context, m network.Reducer) error {
		if err := mixStep(3, 3)(ctx, m); err != nil {
			return err
		}
		return reduction{network.Sum, 8, 20}.step(ctx, m)
	}
}

// wantAll has each agent of this process take a step, which must end with an error that is target.
func (x *exchange) wantAll(ctx context.Context, t *testing.T, s step, target error) {
	t.Helper()
	x.wantErrors(t, x.onAgents(func(_ int, m network.Reducer) error { return s(ctx, m) }), target)
}

func (x *exchange) wantErrors(t *testing.T, errs []error, target error) {
	t.Helper()
	for i, err := range errs {
		if x.mixers[i] != nil && !errors.Is(err, target) {
			t.Errorf("agent %d ended with %v; it must match %q", i, err, target)
		}
	}
}

func wantTeams(t *testing.T, errs []error, target error) {
	t.Helper()
	for k, err := range errs {
		if !errors.Is(err, target) {
			t.Errorf("team %d: gathering ended with %v; it must match %q", k, err, target)
		}
	}
}

// inTurn does three things in an order that begins with another one on other graphs: the first is
// what ends the exchange.
func (x *exchange) inTurn(mix, reduce, gather func()) {
	do := []func(){mix, reduce, gather}
	for k := range do {
		do[(x.w.N()+k)%len(do)]()
	}
}

// testCancelledBefore: nothing begins when the context has ended before.
func testCancelledBefore(t *testing.T, x *exchange) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	x.inTurn(func() { x.wantAll(ctx, t, mixStep(3, 3), context.Canceled) },
		func() { x.wantAll(ctx, t, reduction{network.Sum, 8, 2}.step, context.Canceled) },
		func() { wantTeams(t, x.gather(ctx, vectors(x.w.N(), 3, 0)), context.Canceled) })
}

// testShapes: what no vector, no word and no row can be is an error for all, and the end.
func testShapes(t *testing.T, x *exchange) {
	ctx, n := Context(t), x.w.N()
	rows := vectors(n, 3, 0)
	if n%2 == 0 {
		rows[n-1] = rows[n-1][:2]
	} else {
		rows = append(rows, rows[0])
	}
	x.inTurn(func() { x.wantAll(ctx, t, mixStep(3, 4), dsbo.ErrShape) },
		func() { x.wantAll(ctx, t, reduction{network.Sum, 65 * (n % 2), 2}.step, dsbo.ErrShape) },
		func() {
			wantTeams(t, x.onTeams(func(team network.Team) error { return team.Gather(ctx, rows) }), dsbo.ErrShape)
		})
}

// testUnlike has agent 0 take a step of its own, and all other agents another step that does not
// match, for ever. All must end, with an error at those that met the mismatch.
func testUnlike(t *testing.T, x *exchange) {
	n := x.w.N()
	if n == 1 {
		t.Skip("one agent has nobody to be unlike")
	}
	if !slices.ContainsFunc(x.mixers, func(m network.Reducer) bool { return m != nil }) {
		t.Skip("all agents live in other processes: there is nobody to look at")
	}
	first, others := mixStep(4, 4), mixStep(3, 3)
	if k := n % 4; k > 0 {
		first = []reduction{{network.Max, 16, 5}, {network.Sum, 17, 5}, {network.Sum, 16, 6}}[k-1].step
		others = reduction{network.Sum, 16, 5}.step
	}
	ctx := Context(t)
	errs := x.onAgents(func(i int, m network.Reducer) error {
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

func (s step) untilError(ctx context.Context, m network.Reducer) error {
	for {
		if err := s(ctx, m); err != nil {
			return err
		}
	}
}

// testCancel: agents that wait for the last one are released by the end of their context.
func testCancel(t *testing.T, x *exchange) {
	ctx, cancel := context.WithCancel(Context(t))
	x.wantReleased(ctx, t, cancel, context.Canceled)
}

// testClose closes while agents wait, and a second time.
func testClose(t *testing.T, x *exchange) {
	ctx := Context(t)
	x.wantReleased(ctx, t, x.closeAll, network.ErrClosed)
	x.closeAll()
	x.wantAll(ctx, t, x.step(), network.ErrClosed)
}

// wantReleased lets all agents take a few steps, after which the last one stops. Once the other
// agents are past that point, and waiting or about to, it calls interrupt, which must end them:
// release by a neighbour's end counts as well as by their own.
func (x *exchange) wantReleased(ctx context.Context, t *testing.T, interrupt func(), target error) {
	t.Helper()
	last, s := x.w.N()-1, x.step()
	var started sync.WaitGroup
	for _, m := range x.mixers {
		if m != nil {
			started.Add(1)
		}
	}
	var interrupted sync.WaitGroup
	interrupted.Go(func() {
		started.Wait()
		interrupt()
	})
	errs := x.onAgents(func(i int, m network.Reducer) (err error) {
		for k := 0; k < 5 && err == nil; k++ {
			err = s(ctx, m)
		}
		started.Done()
		switch {
		case err != nil:
			return err
		case i == last:
			return target // it waits for nobody, and wantErrors expects the error of all
		}
		return s.untilError(ctx, m)
	})
	interrupted.Wait()
	x.wantErrors(t, errs, target)
}

// testFail: the reason of the process that has agent 0 is the reason of all others, also of those
// that wait, and for what they do next.
func testFail(t *testing.T, x *exchange) {
	ctx, s := Context(t), x.step()
	fail := func(team network.Team) {
		if slices.Contains(team.Local(), 0) {
			team.Fail(&dsbo.DivergedError{Quantity: "x", Value: math.Inf(1)})
			team.Fail(errors.New("a later one does not count"))
		}
	}
	if x.w.N()%2 == 0 {
		wantTeams(t, x.onTeams(func(team network.Team) error {
			fail(team)
			return team.Gather(ctx, vectors(x.w.N(), 2, 1))
		}), dsbo.ErrDiverged)
	}
	x.wantErrors(t, x.onAgents(func(i int, m network.Reducer) (err error) {
		for k := 0; i == 0 && k < 3 && err == nil; k++ {
			err = s(ctx, m)
		}
		if i == 0 {
			for _, team := range x.teams {
				fail(team)
			}
		}
		return s.untilError(ctx, m)
	}), dsbo.ErrDiverged)
	wantTeams(t, x.gather(ctx, vectors(x.w.N(), 2, 2)), dsbo.ErrDiverged)
}
