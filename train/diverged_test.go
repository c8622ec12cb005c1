package train_test

import (
	"errors"
	"net"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network/grpc"
	"dsbo/network/networktest"
	"dsbo/train"
)

// TestOneDiverges: an agent that diverges alone ends the run for all, and they say so. What becomes
// of agents that are lost and come back is proved by package simulate.
func TestOneDiverges(t *testing.T) {
	c, _ := config(t)
	ctx := networktest.Context(t)
	listeners, addresses := make([]net.Listener, agents), make([]string, agents)
	for i := range agents {
		listeners[i] = testkit.Get(net.Listen("tcp", "127.0.0.1:0"))
		addresses[i] = listeners[i].Addr().String()
	}
	for i, err := range networktest.RunAll(agents, func(i int) error {
		mixer, err := grpc.Open(
			grpc.Config{Agent: i, Matrix: c.W, Run: "test", Addresses: addresses, Listener: listeners[i]})
		if err != nil {
			return err
		}
		defer mixer.Close()
		own := ofAgents(c, mixer, agents, i)
		if i == 2 {
			own.MaxNorm = 1e-6
		}
		_, err = train.Run(ctx, own)
		mixer.Fail(err)
		return err
	}) {
		if own := (*dsbo.DivergedError)(nil); !errors.Is(err, dsbo.ErrDiverged) || errors.As(err, &own) != (i == 2) {
			t.Errorf("agent %d: %v, want that agent 2 has diverged", i, err)
		}
	}
}
