package network

import (
	"context"
	"errors"
	"testing"

	"dsbo/internal/testkit"
)

// TestCompleteExchangeCounts: an agent whose neighbours have all published completes the exchange,
// whatever has ended by the time that it looks.
func TestCompleteExchangeCounts(t *testing.T) {
	l := NewLocal(testkit.Get(Ring(3, 0.5)).W)
	l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := l.agents[0]
	for range 100 { // a select among several that are ready draws
		a.ready <- struct{}{}
		if err := Await(ctx, a.ready, l.ended); err != nil {
			t.Fatalf("%v; it must be a complete exchange", err)
		}
	}
	if err := Await(t.Context(), a.ready, l.ended); !errors.Is(err, ErrClosed) {
		t.Errorf("%v; it must be %v", err, ErrClosed)
	}
}
