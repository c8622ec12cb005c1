package job

import (
	"context"
	"fmt"
	"io"
	"time"

	"dsbo/internal/cli"
	"dsbo/network"
	"dsbo/network/mpi"
)

// leaving is how long a process waits for the others at the end.
const leaving = 30 * time.Second

// runMPI runs the job on the agents of this process of an MPI job. The first process speaks for all.
func (j *Job) runMPI(ctx context.Context, stdout, stderr io.Writer) error {
	world, err := mpi.Init()
	if err != nil {
		return err
	}
	if world.Rank() > 0 {
		stderr = io.Discard
	}
	j.Link = &Link{Agent: -1, Open: func(ctx context.Context, g *network.Graph, _ int) (network.Team, error) {
		return world.Exchange(ctx, g.W, mpi.Options{})
	}}
	err = j.runHere(ctx, stdout, stderr)
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaving)
	defer cancel()
	if e := world.Close(end); e != nil && err == nil {
		err = e
	}
	if end.Err() != nil {
		fmt.Fprintf(stderr, "the other processes do not come to their end: aborting\n")
		world.Abort(max(1, cli.Code(err)))
	}
	if err != nil && world.Rank() > 0 {
		err = fmt.Errorf("%w: %w", cli.ErrSaid, err)
	}
	return err
}
