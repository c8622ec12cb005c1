package train_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"dsbo"
	"dsbo/algo"
	"dsbo/internal/vec"
	"dsbo/network"
	"dsbo/train"
)

// alone makes the agents of a configuration without a conductor.
func alone(t *testing.T, c train.Config) []*train.Agent {
	t.Helper()
	exchange := network.NewLocal(c.W)
	t.Cleanup(exchange.Close)
	var as []*train.Agent
	for i, o := range c.Problem.Oracles {
		a, err := algo.New(c.Method, p, q, c.Params)
		if err != nil {
			t.Fatal(err)
		}
		as = append(as, train.NewAgent(i, a, o, exchange.Mixer(i), 0))
	}
	return as
}

// steps lets each agent take so many steps, in its own goroutine.
func steps(t *testing.T, as []*train.Agent, n int) {
	t.Helper()
	var g errgroup.Group
	for _, a := range as {
		g.Go(func() error {
			for range n {
				if err := a.Step(context.Background()); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
}

// TestAgentsAlone: agents that each save and load their own checkpoint end with the bits of Run, and have counted the same.
func TestAgentsAlone(t *testing.T) {
	c, _ := config(t)
	want := run(t, c)
	dir := t.TempDir()
	as := alone(t, c)
	steps(t, as, 17)
	for i, a := range as {
		if err := a.Save(filepath.Join(dir, fmt.Sprint(i)), "seed 1", 17*10); err != nil {
			t.Fatal(err)
		}
	}
	as = alone(t, c)
	for i, a := range as {
		if round, err := a.Load(filepath.Join(dir, fmt.Sprint(i)), "seed 1"); err != nil || round != 170 || a.Iteration() != 17 {
			t.Fatalf("round %d, iteration %d, %v", round, a.Iteration(), err)
		}
	}
	steps(t, as, 23)
	var xs [][]float64
	for i, a := range as {
		xs = append(xs, a.Algorithm().X())
		if got := a.Usage(); got.Calls != want.Usage[i].Calls || got.Sent != want.Usage[i].Sent {
			t.Errorf("agent %d spent %+v, want %+v", i, got, want.Usage[i])
		}
	}
	x := make([]float64, p)
	vec.Mean(x, xs...)
	near(t, "x", x, want.X, 0)
}

func TestAgentLoadRefuses(t *testing.T) {
	c, _ := config(t)
	as := alone(t, c)
	path := filepath.Join(t.TempDir(), "agent")
	if err := as[1].Save(path, map[string]int{"seed": 1}, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := as[2].Load(path, map[string]int{"seed": 1}); !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), "agent is 1 there and 2 here") {
		t.Errorf("%v, want that another agent's is refused", err)
	}
	if _, err := as[1].Load(path, map[string]int{"seed": 2}); !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), "settings.seed is 1 there and 2 here") {
		t.Errorf("%v, want that another seed's is refused", err)
	}
	edit(t, path, func(b []byte) []byte { return b[:len(b)-1] })
	if _, err := as[1].Load(path, map[string]int{"seed": 1}); err == nil || !strings.Contains(err.Error(), "corrupt checkpoint") {
		t.Errorf("%v, want that the file is refused", err)
	}
	if _, err := as[1].Load(path+"x", nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v, want that there is no file", err)
	}
}
