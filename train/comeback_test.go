package train_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"dsbo"
	"dsbo/internal/must"
	"dsbo/network"
	"dsbo/network/grpc"
	"dsbo/network/networktest"
	"dsbo/runs"
	"dsbo/train"
)

// A machine is one agent of a run over gRPC, with a folder of its own.
type machine struct {
	config  train.Config
	network grpc.Config
	results []*train.Result // of each time that it ran to the end
}

// machines returns those of a run.
func machines(t *testing.T, c train.Config) []*machine {
	t.Helper()
	addresses := make([]string, agents)
	var all []*machine
	for i := range agents {
		l := must.Get(net.Listen("tcp", "127.0.0.1:0"))
		addresses[i] = l.Addr().String()
		own := ofAgents(c, nil, i)
		own.Dir = t.TempDir()
		// Little is kept, so that who comes back makes others go back.
		all = append(all, &machine{config: own, network: grpc.Config{Agent: i, Matrix: c.W, Run: "test", Addresses: addresses, Listener: l, KeepFrames: 20,
			Secret: []byte{1, byte(i)}}})
	}
	return all
}

// newest returns the newest point that is not after an exchange, nil for the start.
func (m *machine) newest(limit int) (at *train.Point, round int, err error) {
	points, _, err := train.Points(runs.Folder(m.config.Dir), []int{m.network.Agent})
	for k, p := range points {
		if p.Round <= limit {
			return &points[k], p.Round, err
		}
	}
	return nil, 0, err
}

// live runs the agent until it has finished or ctx ends.
func (m *machine) live(ctx context.Context) (err error) {
	c, n := m.config, m.network
	if c.From, n.Round, err = m.newest(math.MaxInt); err != nil {
		return err
	}
	mixer, err := grpc.Open(n)
	if err != nil {
		return err
	}
	defer mixer.Close()
	c.Problem.Team, c.Resume = mixer, true
	for {
		res, err := train.Run(ctx, c)
		if err == nil {
			m.results = append(m.results, res)
			err = mixer.Drain(ctx)
		}
		back := (*network.RollbackError)(nil)
		if !errors.As(err, &back) {
			return err
		}
		round := 0
		if c.From, round, err = m.newest(back.Round); err != nil {
			return err
		}
		if err := mixer.Rewind(round); err != nil {
			return err
		}
	}
}

// stop runs the agent until what prepare changes stops it.
func (m *machine) stop(prepare func(c *train.Config, stop func())) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stopping := &machine{config: m.config, network: m.network}
	prepare(&stopping.config, cancel)
	if err := stopping.live(ctx); !errors.Is(err, train.ErrInterrupted) {
		return fmt.Errorf("agent %d: %w, want that it was interrupted", m.network.Agent, err)
	}
	m.network.Listener = nil // its address is free again
	return nil
}

// stopAt runs the agent, stops it after an iteration, and spoils its newest point.
func (m *machine) stopAt(k int) error {
	err := m.stop(func(c *train.Config, stop func()) {
		c.OnIteration = func(done int) {
			if done == k {
				stop()
			}
		}
	})
	if err != nil {
		return err
	}
	paths, err := filepath.Glob(filepath.Join(m.config.Dir, "checkpoint.agent*"))
	if err != nil || len(paths) < 2 {
		return err
	}
	return os.Truncate(paths[len(paths)-1], 100)
}

// TestComeBack: agents that are stopped at any moment, and lose their newest points, come back, and all end with the bits of
// a run without that, their records too.
func TestComeBack(t *testing.T) {
	c, _ := config(t)
	c.Method = method(t, "madsbo_tuned", "warm_z=true", "track_y=true", "mom_y=0.5")
	want := run(t, c)
	all := machines(t, c)
	must.OK(errors.Join(networktest.AtOnce(agents, func(i int) error {
		for _, stop := range []int{11 - 2*i, 20 + 4*i} {
			if err := all[i].stopAt(stop); err != nil {
				return err
			}
		}
		return all[i].live(context.Background())
	})...))
	for _, m := range all {
		sameRun(t, want, m.results[len(m.results)-1])
		for i, r := range records(t, m.config.Dir) {
			if r.Iteration != want.Records[i].Iteration || r.Phi != want.Records[i].Phi {
				t.Errorf("agent %d wrote record %d as %+v", m.network.Agent, i, r)
			}
		}
	}
}

// TestComeBackToAnEvaluation: an agent that is stopped in an evaluation makes it again from its beginning, by the same exchanges.
func TestComeBackToAnEvaluation(t *testing.T) {
	c, _ := config(t)
	want := run(t, c)
	all := machines(t, c)
	must.OK(errors.Join(networktest.AtOnce(agents, func(i int) error {
		if i == 2 {
			products := 0
			err := all[i].stop(func(c *train.Config, stop func()) {
				c.Problem.Evaluate = slices.Clone(c.Problem.Evaluate)
				c.Problem.Evaluate[i] = &hooked{ValueOracle: c.Problem.Evaluate[i], hvp: func() error {
					if products++; products == 5 {
						stop()
					}
					return nil
				}}
			})
			if err != nil {
				return err
			}
		}
		return all[i].live(context.Background())
	})...))
	for _, m := range all {
		sameRun(t, want, m.results[len(m.results)-1])
	}
}

// TestOneDiverges: an agent that diverges alone ends the run for all, and they say so.
func TestOneDiverges(t *testing.T) {
	c, _ := config(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	all := machines(t, c)
	all[2].config.MaxNorm = 1e-6
	for i, err := range networktest.AtOnce(agents, func(i int) error {
		mixer, err := grpc.Open(all[i].network)
		if err != nil {
			return err
		}
		defer mixer.Close()
		all[i].config.Problem.Team = mixer
		_, err = train.Run(ctx, all[i].config)
		mixer.Fail(err)
		return err
	}) {
		if own := (*dsbo.DivergedError)(nil); !errors.Is(err, dsbo.ErrDiverged) || errors.As(err, &own) != (i == 2) {
			t.Errorf("agent %d: %v, want that agent 2 has diverged", i, err)
		}
	}
}
