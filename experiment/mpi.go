package experiment

import (
	"context"
	"fmt"
	"io"
	"time"

	"dsbo/internal/cli"
	"dsbo/network"
	"dsbo/network/mpi"
)

// leaving is how long a process that has failed waits for the others.
const leaving = 30 * time.Second

// runMPI runs the job on the agents of this process of an MPI job. The first process speaks for all.
func (j *Job) runMPI(ctx context.Context, stdout, stderr io.Writer) error {
	world, err := mpi.Init()
	if err != nil {
		return err
	}
	loud := stderr
	if world.Rank() > 0 {
		stderr = io.Discard
	}
	j.Link = &Link{Agent: -1, Processes: world.Size(), Open: func(ctx context.Context, g *network.Graph, _ int) (network.Team, error) {
		return world.Exchange(ctx, g.W, mpi.Options{})
	}}
	err = j.runHere(ctx, stdout, stderr)
	end := context.WithoutCancel(ctx) // the first process may have a report to draw
	if err != nil {
		limited, cancel := context.WithTimeout(end, leaving)
		defer cancel()
		end = limited
	}
	if e := world.Close(end); e != nil && err == nil {
		err = e
	}
	if end.Err() != nil {
		fmt.Fprintf(loud, "process %d of %d: %s; the others do not come to their end: aborting\n", world.Rank(), world.Size(), cli.OneLine(err))
		world.Abort(max(1, cli.Code(err)))
	}
	if err != nil && world.Rank() > 0 {
		err = fmt.Errorf("%w: %w", cli.ErrSaid, err)
	}
	return err
}
