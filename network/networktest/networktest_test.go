package networktest_test

import (
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/network"
	"dsbo/network/networktest"
)

// TestProcessesConform: several processes, of one or more agents each, are a good exchange.
func TestProcessesConform(t *testing.T) {
	most := 9
	if testing.Short() {
		most = 5
	}
	networktest.TestTeam(t, 1, most, func(w *network.Matrix) ([]network.Team, func()) {
		return networktest.Processes(w, slices.Collect(slices.Chunk(network.NewLocal(w).Local(), 3))...)
	})
}

// A fault breaks the contract in agent 0's end of a good exchange, or in its team.
type fault struct {
	mix    func(ctx context.Context, m network.Reducer, dst, src []float64) error
	gather func(ctx context.Context, team network.Team, rows [][]float64) error
	reduce func(ctx context.Context, r network.Reducer, all []network.Reduction) error
}

// A faultyTeam has the fault.
type faultyTeam struct {
	network.Team
	fault
}

func (f faultyTeam) Mixer(i int) network.Reducer {
	if i != 0 {
		return f.Team.Mixer(i)
	}
	return faultyMixer{f.Team.Mixer(i), f.fault}
}

func (f faultyTeam) Gather(ctx context.Context, rows [][]float64) error {
	if f.gather == nil {
		return f.Team.Gather(ctx, rows)
	}
	return f.gather(ctx, f.Team, rows)
}

type faultyMixer struct {
	network.Reducer
	fault
}

func (f faultyMixer) Mix(ctx context.Context, dst, src []float64) error {
	if f.mix == nil {
		return f.Reducer.Mix(ctx, dst, src)
	}
	return f.mix(ctx, f.Reducer, dst, src)
}

func (f faultyMixer) Reduce(ctx context.Context, all ...network.Reduction) error {
	if f.reduce == nil {
		return f.Reducer.Reduce(ctx, all...)
	}
	return f.reduce(ctx, f.Reducer, all)
}

// after returns a mix that changes the numbers of a good one.
func after(change func(dst, src []float64)) fault {
	return fault{mix: func(ctx context.Context, m network.Reducer, dst, src []float64) error {
		err := m.Mix(ctx, dst, src)
		if len(dst) > 0 && len(src) > 0 {
			change(dst, src)
		}
		return err
	}}
}

// renamed returns a mix that hides the kind of an error.
func renamed(kind error) fault {
	return fault{mix: func(ctx context.Context, m network.Reducer, dst, src []float64) error {
		err := m.Mix(ctx, dst, src)
		if errors.Is(err, kind) {
			return errors.New("gone")
		}
		return err
	}}
}

// faults are by the subtest that must find them.
var faults = map[string]fault{
	"ring3/Product: W·X: ": after(func(dst, _ []float64) { // one unit of rounding, as another order of the sum makes
		dst[0] = math.Nextafter(dst[0], 0)
	}),
	"ring3/Product: Mix changed src": after(func(dst, src []float64) {
		if &src[0] != &dst[0] {
			src[0]++
		}
	}),
	"ring3/Cancel: agent 0 ended with gone": renamed(context.Canceled),
	"ring3/Close: agent 0 ended with gone":  renamed(network.ErrClosed),
	"ring3/Shapes: agent 0 ended with gone": renamed(dsbo.ErrShape),
	"ring3/Reduce: row 1": {gather: func(ctx context.Context, team network.Team, rows [][]float64) error {
		if len(rows[1]) > 0 {
			rows[1][0] = math.Nextafter(rows[1][0], 0)
		}
		return team.Gather(ctx, rows)
	}},
	"ring3/Reduce: they must be": {
		reduce: func(ctx context.Context, r network.Reducer, all []network.Reduction) error {
			err := r.Reduce(ctx, all...)
			if words := all[0].Words; len(words) > 100 {
				words[100] ^= 1
			}
			return err
		}},
	"ring3/Average: not what agents of one process get": {
		reduce: func(ctx context.Context, r network.Reducer, all []network.Reduction) error {
			if words := all[0].Words; all[0].Op == network.Sum && len(words) > 0 {
				words[0] += 1 << 20
			}
			return r.Reduce(ctx, all...)
		}},
	"server4/Shapes: agent 0 ended with gone": {
		reduce: func(ctx context.Context, r network.Reducer, all []network.Reduction) error {
			_ = r.Reduce(ctx, all...)
			return errors.New("gone")
		}},
	"ring2/Shapes: team 0": {gather: func(ctx context.Context, team network.Team, _ [][]float64) error {
		return team.Gather(ctx, make([][]float64, len(team.Local())))
	}},
	"ring2/CancelledBefore: team 0": {gather: func(_ context.Context, team network.Team, rows [][]float64) error {
		return team.Gather(context.Background(), rows)
	}},
	"ring3/Fail: team 0": {gather: func(ctx context.Context, team network.Team, rows [][]float64) error {
		if err := team.Gather(ctx, rows); err != nil {
			return errors.New("gone")
		}
		return nil
	}},
}

const faultEnv = "NETWORKTEST_FAULT"

const leak = "ring3/Product: found unexpected goroutines"

// TestFaulty is the suite on the fault that the environment names, for TestSuiteFinds.
func TestFaulty(t *testing.T) {
	name := os.Getenv(faultEnv)
	if name == "" {
		t.Skip("run by TestSuiteFinds")
	}
	networktest.TestTeam(t, 1, 16, func(w *network.Matrix) ([]network.Team, func()) {
		l := network.NewLocal(w)
		if name == leak {
			forgotten := make(chan struct{})
			t.Cleanup(func() { close(forgotten) })
			go func() { <-forgotten }()
		}
		return []network.Team{faultyTeam{l, faults[name]}}, l.Close
	})
}

// TestSuiteFinds runs the suite on each fault in a process of its own: it must fail, and
// for the reason that the fault's name gives.
func TestSuiteFinds(t *testing.T) {
	names := []string{leak}
	for name := range faults {
		names = append(names, name)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			subtest, message, _ := strings.Cut(name, ": ")
			pattern := "-test.run=^TestFaulty$/^" + strings.Replace(subtest, "/", "$/^", 1) + "$"
			cmd := exec.CommandContext(t.Context(), os.Args[0], pattern)
			cmd.Env = append(os.Environ(), faultEnv+"="+name)
			out, err := cmd.CombinedOutput()
			if _, failed := errors.AsType[*exec.ExitError](err); !failed {
				t.Errorf("the suite ended with %v; it must be a failure:\n%s", err, out)
			}
			if !strings.Contains(string(out), message) {
				t.Errorf("%q is not in the suite's output:\n%s", message, out)
			}
		})
	}
}
