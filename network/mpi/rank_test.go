//go:build mpi && cgo

package mpi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/networktest"
)

// jobTime bounds each job: one that a rank has left must end by itself. It is far longer than any
// takes, as ranks that wait keep processors busy that others may need.
const jobTime = 4 * time.Minute

// TestJobs runs the tests of ranks, in this binary again, as jobs.
func TestJobs(t *testing.T) {
	if world != nil {
		t.Skip("this is one")
	}
	for _, c := range []struct {
		test  string
		ranks []int
		fails bool // as its launcher says by its exit status, with words or without
	}{
		{test: "Conforms", ranks: []int{1, 2, 4, 8}},
		{test: "Long", ranks: []int{2, 3}},
		{test: "Lengths", ranks: []int{2, 4}},
		{test: "Rounds", ranks: []int{4}},
		{test: "Silent", ranks: []int{3}},
		{test: "Signals", ranks: []int{2}},
		{test: "Killed", ranks: []int{4}, fails: true},
		{test: "Exits", ranks: []int{4}, fails: true},
		{test: "Aborts", ranks: []int{4}, fails: true},
	} {
		for _, n := range c.ranks {
			t.Run(fmt.Sprintf("%s/ranks=%d", c.test, n), func(t *testing.T) {
				out, err := runJob(t, n, "^TestRank"+c.test+"$")
				switch _, failed := errors.AsType[*exec.ExitError](err); {
				case c.fails && !failed:
					t.Errorf("%v; it must be a failure:\n%s", err, out)
				case c.fails:
				case err != nil:
					t.Errorf("%v:\n%s", err, out)
				case strings.Count(out, "PASS\n") != n:
					t.Errorf("%d ranks must say PASS:\n%s", n, out)
				}
			})
		}
	}
}

// TestAbsentRank: a job of which one process fails before it is a rank ends, with the status of
// that process or, where the launcher says so, of one which it has killed for it, with that.
func TestAbsentRank(t *testing.T) {
	if world != nil {
		t.Skip("this is a job's")
	}
	for _, rank := range []string{"0", "2"} {
		out, err := runJob(t, 3, "^TestRankRounds$", absentEnv+"="+rank)
		if exit, failed := errors.AsType[*exec.ExitError](err); !failed || exit.ExitCode() != absentStatus &&
			exit.ExitCode() != statusOfKilled {
			t.Errorf("rank %s: %v, want exit status %d:\n%s", rank, err, absentStatus, out)
		}
	}
}

// runJob runs this binary's tests of that name on n ranks.
func runJob(tb testing.TB, n int, tests string, env ...string) (string, error) {
	tb.Helper()
	return launch(tb, n, append(env, jobEnv+"=1"), os.Args[0], "-test.run="+tests,
		fmt.Sprintf("-test.timeout=%v", jobTime))
}

// launch runs a program on n ranks and returns what they wrote.
func launch(tb testing.TB, n int, env []string, program ...string) (string, error) {
	tb.Helper()
	var launcher string
	for _, name := range launchers {
		if path, err := exec.LookPath(name); launcher == "" && err == nil {
			launcher = path
		}
	}
	if launcher == "" {
		tb.Fatalf("none of %q found; there must be the launcher of the MPI that this binary was built with", launchers)
	}
	ctx, cancel := context.WithTimeout(tb.Context(), jobTime)
	defer cancel()
	args := slices.Concat([]string{"-n", fmt.Sprint(n)}, launcherFlags, program)
	cmd := exec.CommandContext(ctx, launcher, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.WaitDelay = time.Second // ranks that are left behind hold the output
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		tb.Fatalf("still there after %v:\n%s", jobTime, out)
	}
	return string(out), err
}

// onRank skips a test that is not part of a job.
func onRank(tb testing.TB) {
	tb.Helper()
	if world == nil {
		tb.Skip("a rank of a job, which TestJobs runs")
	}
}

// openRank opens an exchange of this rank. All ranks do so at the same time.
func openRank(tb testing.TB, w *network.Matrix, timeout time.Duration) *Exchange {
	return testkit.Get(world.exchange(tb.Context(), w, timeout))
}

// A meeting lets the ranks wait for each other.
type meeting struct{ *Exchange }

func newMeeting(t *testing.T) meeting {
	return meeting{openRank(t, mustRing(world.Size()), jobTime)}
}

func (m meeting) wait(t *testing.T) {
	t.Helper()
	if err := m.Gather(t.Context(), make([][]float64, world.Size())); err != nil {
		t.Error(err)
	}
}

func TestRankConforms(t *testing.T) {
	open := openTogether(t)
	networktest.TestTeam(t, world.Size(), 16, open)
}

// openTogether is openRank for the suites of teams, in which ranks wait for each other at the end.
func openTogether(t *testing.T) func(w *network.Matrix) (teams []network.Team, closeAll func()) {
	onRank(t)
	m := newMeeting(t)
	t.Cleanup(func() { m.Close() })
	return func(w *network.Matrix) (teams []network.Team, closeAll func()) {
		x := openRank(t, w, silentAfter)
		var once sync.Once
		return []network.Team{x}, func() {
			// The end of a rank that is ready early would be another reason to end than
			// the subtest's.
			once.Do(func() { m.wait(t) })
			x.Close()
		}
	}
}

// TestRankLong exchanges vectors that travel in pieces, of a length that changes.
func TestRankLong(t *testing.T) {
	onRank(t)
	w := mustRing(5)
	x := openRank(t, w, silentAfter)
	defer x.Close()
	for round, length := range []int{100_000, 1_000_000, 10, 300_000} {
		src := make([][]float64, w.N())
		for i := range src {
			src[i] = make([]float64, length)
			for e := range src[i] {
				src[i][e] = math.Sin(float64(round + i*length + e))
			}
		}
		want := networktest.Product(w, src)
		local := x.Local()
		testkit.OK(errors.Join(networktest.RunAll(len(local), func(k int) error {
			return x.Mixer(local[k]).Mix(t.Context(), src[local[k]], src[local[k]])
		})...))
		for _, i := range local {
			if !slices.Equal(src[i], want[i]) {
				t.Errorf("agent %d, exchange %d: not W·X", i, round)
			}
		}
	}
}

// TestRankLengths: vectors of other lengths are an error on all ranks, also of lengths that travel
// in pieces. What is left of them does not keep MPI from ending.
func TestRankLengths(t *testing.T) {
	onRank(t)
	m := newMeeting(t)
	defer m.Close()
	for _, length := range []int{3, 1 << 19} {
		for _, more := range []int{-1, 1, length} {
			x := openRank(t, mustRing(world.Size()), silentAfter)
			n := length
			if world.Rank() == 0 {
				n += more
			}
			if err := mixZeros(t.Context(), x.Mixer(world.Rank()), math.MaxInt, n); !errors.Is(err,
				dsbo.ErrShape) {
				t.Errorf("length %d%+d: %v; it must match dsbo.ErrShape", length, more, err)
			}
			x.Close()
			m.wait(t)
		}
	}
}

// TestRankRounds: rank 1 leaves while vectors for it are on their way.
func TestRankRounds(t *testing.T) {
	onRank(t)
	const rounds, length = 5, 1 << 17
	x := openRank(t, mustRing(world.Size()), silentAfter)
	defer x.Close()
	mixer := x.Mixer(world.Rank())
	if err := mixZeros(t.Context(), mixer, rounds, length); err != nil {
		t.Error(err)
	}
	if world.Rank() == 1 {
		return
	}
	err := mixZeros(t.Context(), mixer, math.MaxInt, length)
	if e, ok := errors.AsType[*network.EndedError](err); !ok || e.Number != 1 ||
		e.Process != fmt.Sprintf("rank 1 (agent 1) after %d exchanges", rounds) || !errors.Is(err, network.ErrClosed) {
		t.Errorf("%v; it must be the end of rank 1 after %d exchanges", err, rounds)
	}
}

// TestRankSilent: rank 1 of 3 is there but does not mix.
func TestRankSilent(t *testing.T) {
	onRank(t)
	m := newMeeting(t)
	defer m.Close()
	x := openRank(t, mustRing(world.Size()), silentAfter)
	x.timeout = 200 * time.Millisecond // when all are here
	if world.Rank() != 1 {
		err := mixZeros(t.Context(), x.Mixer(world.Rank()), 1, 1<<17)
		if !errors.Is(err, network.ErrSilent) {
			t.Errorf("%v; a rank must be silent", err)
		}
	}
	m.wait(t)
	x.Close()
}

// TestRankSignals: MPI leaves Go its signals, and starts once.
func TestRankSignals(t *testing.T) {
	onRank(t)
	defer func() {
		if r := fmt.Sprint(recover()); !strings.Contains(r, "nil pointer") {
			t.Errorf("recovered %q; it must be a nil pointer", r)
		}
		if _, err := Init(); !errors.Is(err, dsbo.ErrConfig) ||
			!strings.Contains(err.Error(), "started in this process before") {
			t.Errorf("a second Init returns %v; it must match dsbo.ErrConfig", err)
		}
	}()
	var nowhere *World
	t.Error(nowhere.Size())
}

// lose has rank 1 call end after some exchanges; the others mix on.
func endAfterExchanges(t *testing.T, end func()) {
	onRank(t)
	x := openRank(t, mustRing(2*world.Size()), silentAfter)
	defer x.Close()
	local := x.Local()
	networktest.RunAll(len(local), func(k int) error {
		rounds := math.MaxInt
		if local[k] == 2 {
			rounds = 20
		}
		err := mixZeros(t.Context(), x.Mixer(local[k]), rounds, 1000)
		if local[k] == 2 {
			end()
		}
		return err
	})
	select {} // the launcher ends this rank
}

func TestRankKilled(t *testing.T) {
	endAfterExchanges(t, func() {
		t.Error(testkit.Get(os.FindProcess(os.Getpid())).Kill())
	})
}

func TestRankExits(t *testing.T) { endAfterExchanges(t, func() { os.Exit(3) }) }

func TestRankAborts(t *testing.T) { endAfterExchanges(t, func() { world.Abort(3) }) }
