package experiment

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"dsbo"
	"dsbo/internal/cli"
	"dsbo/network"
)

// TestJobError: all ranks of a job end with the exit code of the error that ended it, as any of
// them may be the first to end.
func TestJobError(t *testing.T) {
	for _, origin := range []error{
		dsbo.ConfigErrorf("-batch must be at most 30; it is 31"),
		fmt.Errorf("x: %w", dsbo.ErrDiverged), dsbo.ErrPeer,
		context.Canceled, errors.New("the disk is full"),
	} {
		heard := fmt.Errorf("exchange 3: %w",
			&network.EndedError{Process: "rank 1", Number: 1, Reason: origin.Error(), Kind: network.Kind(origin)})
		if own, others := cli.Code(cli.Reported(jobError(origin))),
			cli.Code(cli.Reported(jobError(heard))); own != others {
			t.Errorf("%v: exit code %d of its own rank, %d of others; they must be the same", origin, own, others)
		}
	}
}
