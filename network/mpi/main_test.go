package mpi

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// jobEnv is set where the test binary is a rank of a job.
const jobEnv = "DSBO_TEST_MPI_JOB"

// world is then this rank's.
var world *World

func TestMain(m *testing.M) {
	if os.Getenv(jobEnv) == "" {
		goleak.VerifyTestMain(m)
		return
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
