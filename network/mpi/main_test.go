package mpi

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"dsbo/network"

	"go.uber.org/goleak"
)

// jobEnv is set where the test binary is a rank of a job.
const jobEnv = "DSBO_TEST_MPI_JOB"

// absentEnv is the number of the rank that ends before it is one, with absentStatus.
const (
	absentEnv    = "DSBO_TEST_MPI_ABSENT"
	absentStatus = 2
)

// world is then this rank's.
var world *World

func TestMain(m *testing.M) {
	if os.Getenv(jobEnv) == "" {
		goleak.VerifyTestMain(m)
		return
	}
	if rank := cmp.Or(os.Getenv("OMPI_COMM_WORLD_RANK"), os.Getenv("PMI_RANK")); rank != "" &&
		rank == os.Getenv(absentEnv) {
		Abandon(absentStatus)
		os.Exit(absentStatus)
	}
	var err error
	if world, err = Init(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := world.Close(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		world.Abort(1)
	}
	os.Exit(status)
}

// mixZeros mixes vectors of zeros up to the first error.
func mixZeros(ctx context.Context, m network.Reducer, rounds, length int) error {
	v := make([]float64, length)
	for range rounds {
		if err := m.Mix(ctx, v, v); err != nil {
			return err
		}
	}
	return nil
}
