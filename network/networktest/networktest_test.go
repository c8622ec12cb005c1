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
	networktest.TestTeam(t, func(w *network.Matrix) ([]network.Team, func()) {
		return networktest.Processes(w, slices.Collect(slices.Chunk(network.NewLocal(w).Local(), 3))...)
	})
}

// A fault is agent 0's end of a good exchange, with something that breaks the contract.
type fault struct {
	dsbo.Mixer
	mix    func(m dsbo.Mixer, ctx context.Context, dst, src []float64) error
	gather func(team network.Team, ctx context.Context, rows [][]float64) error
}

func (f fault) Mix(ctx context.Context, dst, src []float64) error {
	if f.mix == nil {
		return f.Mixer.Mix(ctx, dst, src)
	}
	return f.mix(f.Mixer, ctx, dst, src)
}

// A faultyTeam has the fault in agent 0's end, or in itself.
type faultyTeam struct {
	network.Team
	fault fault
}

func (f faultyTeam) Mixer(i int) dsbo.Mixer {
	if i == 0 {
		return f.fault
	}
	return f.Team.Mixer(i)
}

func (f faultyTeam) Gather(ctx context.Context, rows [][]float64) error {
	if f.fault.gather == nil {
		return f.Team.Gather(ctx, rows)
	}
	return f.fault.gather(f.Team, ctx, rows)
}

// faults are by the subtest that must find them.
var faults = map[string]fault{
	"Product: W·X: ": {mix: func(m dsbo.Mixer, ctx context.Context, dst, src []float64) error {
		err := m.Mix(ctx, dst, src)
		if len(dst) > 0 { // one unit of rounding, as another order of the sum makes
			dst[0] = math.Nextafter(dst[0], 0)
		}
		return err
	}},
	"Product: Mix changed src": {mix: func(m dsbo.Mixer, ctx context.Context, dst, src []float64) error {
		err := m.Mix(ctx, dst, src)
		if len(src) > 0 && &src[0] != &dst[0] {
			src[0]++
		}
		return err
	}},
	"Consensus: the mean of entry": {mix: func(m dsbo.Mixer, ctx context.Context, dst, src []float64) error {
		err := m.Mix(ctx, dst, src)
		for e := range dst {
			dst[e] *= 1 + 1e-9
		}
		return err
	}},
	"Cancel: agent 0 ended with gone": {mix: renamed(context.Canceled)},
	"Close: agent 0 ended with gone":  {mix: renamed(network.ErrClosed)},
	"LengthOfDst: agent 0 ended with": {mix: renamed(dsbo.ErrShape)},
	"Gather: row 1": {gather: func(team network.Team, ctx context.Context, rows [][]float64) error {
		if len(rows[1]) > 0 {
			rows[1][0] = math.Nextafter(rows[1][0], 0)
		}
		return team.Gather(ctx, rows)
	}},
	"GatherRefuses: team 0": {gather: func(team network.Team, ctx context.Context, rows [][]float64) error {
		return team.Gather(ctx, make([][]float64, len(team.Local())))
	}},
	"GatherCancelledBefore: team 0": {gather: func(team network.Team, _ context.Context, rows [][]float64) error {
		return team.Gather(context.Background(), rows)
	}},
	"Fail: team 0": {gather: func(team network.Team, ctx context.Context, rows [][]float64) error {
		if err := team.Gather(ctx, rows); err != nil {
			return errors.New("gone")
		}
		return nil
	}},
}

// renamed returns a mix that hides the kind of an error.
func renamed(kind error) func(dsbo.Mixer, context.Context, []float64, []float64) error {
	return func(m dsbo.Mixer, ctx context.Context, dst, src []float64) error {
		err := m.Mix(ctx, dst, src)
		if errors.Is(err, kind) {
			return errors.New("gone")
		}
		return err
	}
}

const faultEnv = "NETWORKTEST_FAULT"

const leak = "Product: found unexpected goroutines"

// TestFaulty is the suite on the fault that the environment names, for TestSuiteFinds.
func TestFaulty(t *testing.T) {
	name := os.Getenv(faultEnv)
	if name == "" {
		t.Skip("run by TestSuiteFinds")
	}
	networktest.TestTeam(t, func(w *network.Matrix) ([]network.Team, func()) {
		l := network.NewLocal(w)
		team := faultyTeam{l, faults[name]}
		team.fault.Mixer = l.Mixer(0)
		if name == leak {
			forgotten := make(chan struct{})
			t.Cleanup(func() { close(forgotten) })
			go func() { <-forgotten }()
		}
		return []network.Team{team}, l.Close
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
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFaulty$/^ring3$/^"+subtest+"$")
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
