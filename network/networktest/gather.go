package networktest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"dsbo"
	"dsbo/network"
)

// onTeams calls body for each team at the same time and returns their errors.
func (x *exchange) onTeams(body func(team network.Team) error) []error {
	return RunAll(len(x.teams), func(k int) error { return body(x.teams[k]) })
}

// gather has all teams gather given vectors and checks what they get. What is not local is
// NaN before.
func (x *exchange) gather(ctx context.Context, all [][]float64) []error {
	n := x.w.N()
	return x.onTeams(func(team network.Team) error {
		rows := make([][]float64, n)
		for i := range rows {
			rows[i] = slices.Repeat([]float64{math.NaN()}, len(all[i]))
		}
		for _, i := range team.Local() {
			copy(rows[i], all[i])
		}
		if err := team.Gather(ctx, rows); err != nil {
			return err
		}
		for i, row := range rows {
			if err := sameBits(row, all[i]); err != nil {
				return fmt.Errorf("gathering with agents %v here: row %d: %w", team.Local(), i, err)
			}
		}
		return nil
	})
}

// gatherLengths holds 0, 1 and others around them, and one that fills many packets.
var gatherLengths = []int{3, 0, 1, 1, 0, 4099, 2}

// testGather gathers several times in a row, and after each mixes once or not at all: the vectors
// of both have different lengths.
func testGather(t *testing.T, x *exchange) {
	n := x.w.N()
	ctx := Context(t)
	for round, length := range gatherLengths {
		if err := errors.Join(x.gather(ctx, vectors(n, length, round))...); err != nil {
			t.Fatalf("gathering %d: %v", round, err)
		}
		if round%3 == 0 {
			continue
		}
		src := vectors(n, 5, round)
		want := Product(x.w, src)
		x.mustSucceed(t, func(ctx context.Context, i int, m dsbo.Mixer) error {
			if err := m.Mix(ctx, src[i], src[i]); err != nil {
				return err
			}
			return sameBits(src[i], want[i])
		})
		if t.Failed() {
			return
		}
	}
}

// testGatherRefuses: rows of a wrong shape are an error for all, and the end.
func testGatherRefuses(t *testing.T, x *exchange) {
	ctx := Context(t)
	rows := vectors(x.w.N(), 3, 0)
	if n := x.w.N(); n%2 == 0 {
		rows[n-1] = rows[n-1][:2]
	} else {
		rows = append(rows, rows[0])
	}
	x.wantEnd(ctx, t, x.onTeams(func(team network.Team) error { return team.Gather(ctx, rows) }), dsbo.ErrShape)
}

func testGatherCancelledBefore(t *testing.T, x *exchange) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantTeams(t, "gathering", x.gather(ctx, vectors(x.w.N(), 3, 0)), context.Canceled)
}

// testFail: the reason of the process that has agent 0 is the reason of all others, for what they
// do next.
func testFail(t *testing.T, x *exchange) {
	ctx := Context(t)
	if err := errors.Join(x.gather(ctx, vectors(x.w.N(), 2, 0))...); err != nil {
		t.Fatal(err)
	}
	errs := x.onTeams(func(team network.Team) error {
		if slices.Contains(team.Local(), 0) {
			team.Fail(&dsbo.DivergedError{Quantity: "x", Value: math.Inf(1)})
			team.Fail(errors.New("a later one does not count"))
		}
		return team.Gather(ctx, vectors(x.w.N(), 2, 1))
	})
	x.wantEnd(ctx, t, errs, dsbo.ErrDiverged)
}

// wantEnd checks that the teams ended with an error that is target, and that so does what
// comes after.
func (x *exchange) wantEnd(ctx context.Context, t *testing.T, errs []error, target error) {
	t.Helper()
	wantTeams(t, "gathering", errs, target)
	wantTeams(t, "gathering again", x.gather(ctx, vectors(x.w.N(), 2, 2)), target)
	x.wantAll(t, x.allStep(ctx, mixStep(3, 3)), target)
}

// wantTeams checks that each team's gathering ended with an error that is target.
func wantTeams(t *testing.T, what string, errs []error, target error) {
	t.Helper()
	for k, err := range errs {
		if !errors.Is(err, target) {
			t.Errorf("team %d: %s ended with %v; it must match %q", k, what, err, target)
		}
	}
}
