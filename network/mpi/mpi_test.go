//go:build mpi && cgo

package mpi_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"dsbo"
	"dsbo/network"
	"dsbo/network/mpi"
	"dsbo/network/networktest"
)

// world is this rank's, where the test binary is one of a job.
var world *mpi.World

func TestMain(m *testing.M) {
	if os.Getenv("DSBO_MPI_JOB") == "" {
		os.Exit(m.Run())
	}
	var err error
	if world, err = mpi.Init(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := world.Close(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		world.Abort(1)
	}
	os.Exit(status)
}

func TestRankConforms(t *testing.T) {
	if world == nil {
		t.Skip("run by TestJobs")
	}
	g, err := network.Complete(world.Size())
	if err != nil {
		t.Fatal(err)
	}
	meeting, err := world.Exchange(t.Context(), g.W, mpi.Options{Timeout: networktest.Patience})
	if err != nil {
		t.Fatal(err)
	}
	defer meeting.Close()
	networktest.TestMixer(t, func(w *network.Matrix) ([]dsbo.Mixer, func()) {
		x, err := world.Exchange(t.Context(), w, mpi.Options{})
		if err != nil {
			t.Fatal(err)
		}
		mixers := make([]dsbo.Mixer, w.N())
		for _, i := range x.Local() {
			mixers[i] = x.Mixer(i)
		}
		l := network.NewLocal(w)
		if len(x.Local()) == 0 { // the suite wants agents to look at
			for i := range mixers {
				mixers[i] = l.Mixer(i)
			}
		}
		var meet sync.Once
		return mixers, func() {
			// The end of a rank that is ready early would be another reason to end than the subtest's.
			meet.Do(func() {
				if err := meeting.AllGather(t.Context(), make([][]float64, world.Size())); err != nil {
					t.Error(err)
				}
			})
			x.Close()
			l.Close()
		}
	})
}
