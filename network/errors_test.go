package network_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"dsbo"
	"dsbo/network"
)

func TestKinds(t *testing.T) {
	seen := map[int]error{}
	for _, kind := range []error{network.ErrClosed, network.ErrSilent, dsbo.ErrPeer, dsbo.ErrConfig, dsbo.ErrShape,
		dsbo.ErrDiverged,
		dsbo.ErrCapability, context.Canceled, context.DeadlineExceeded} {
		n := network.Kind(fmt.Errorf("agent 3: %w", kind))
		if got := network.ErrorOfKind(n); n == 0 || got != kind || seen[n] != nil {
			t.Errorf("%q has number %d, which stands for %v; it must be a number of its own that stands for it", kind,
				n, got)
		}
		seen[n] = kind
	}
	if n := network.Kind(errors.New("disk full")); n != 0 {
		t.Errorf("any error has number %d; it must be 0", n)
	}
	for _, n := range []int{-1, 0, len(seen) + 1} {
		if err := network.ErrorOfKind(n); err != nil {
			t.Errorf("number %d stands for %v; it must be nil", n, err)
		}
	}
}
