package grpc_test

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"dsbo"
	"dsbo/network"
	"dsbo/network/grpc"
)

func TestValidate(t *testing.T) {
	g, err := network.New("path", 3, network.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ids := identities(t, 2)
	everywhere, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer everywhere.Close()
	for _, c := range []struct {
		change func(*grpc.Config)
		want   string
	}{
		{func(c *grpc.Config) {}, ""},
		{func(c *grpc.Config) { c.Matrix = nil }, "no mixing matrix"},
		{func(c *grpc.Config) { c.Agent = 3 }, "agent 3, want 0 to 2"},
		{func(c *grpc.Config) { c.Agent = -1 }, "agent -1, want 0 to 2"},
		{func(c *grpc.Config) { c.Addresses = nil }, "0 addresses, want one for each of the 3 agents"},
		{func(c *grpc.Config) { c.Run = "" }, `run id ""`},
		{func(c *grpc.Config) { c.Run = strings.Repeat("x", 256) }, "of 256 bytes, want 1 to 255"},
		{func(c *grpc.Config) { c.Hash = strings.Repeat("x", 256) }, "configuration hash of 256 bytes"},
		{func(c *grpc.Config) { c.Identity = ids[0] }, "the certificate of agent 0, want that of agent 1"},
		{func(c *grpc.Config) { c.Round = -1 }, "first exchange -1"},
		{func(c *grpc.Config) { c.MaxFloats = -1 }, "vectors of up to -1 numbers"},
		{func(c *grpc.Config) { c.MaxFloats = 1 << 28 }, "vectors of up to 268435456 numbers, want 1 to 268435449"},
		{func(c *grpc.Config) { c.KeepFrames = 1 }, "1 exchanges kept, want at least 2"},
		{func(c *grpc.Config) { c.KeepBytes = -1 }, "-1 bytes of exchanges kept"},
		{func(c *grpc.Config) { c.Heartbeat = 6 * time.Second }, "heartbeat 6s, silent after 5s"},
		{func(c *grpc.Config) { c.Heartbeat = 2 * time.Second }, "heartbeat 2s, silent after 5s"},
		{func(c *grpc.Config) { c.Heartbeat = -1 }, "heartbeat -1ns"},
		{func(c *grpc.Config) { c.SilentAfter = 100 * time.Millisecond }, ""},
		{func(c *grpc.Config) { c.PeerTimeout = time.Second }, "peer timeout 1s: want them above zero and in this order"},
		{func(c *grpc.Config) { c.Addresses[2] = "localhost" }, "address of agent 2: address localhost: missing port in address, want host:port"},
		{func(c *grpc.Config) { c.Addresses[1] = "" }, "address of agent 1: missing port"},
		{func(c *grpc.Config) { c.Addresses[2] = "10.0.0.2:1" }, "10.0.0.2:1 is on another machine and agent 1 has no certificate: want Identity, or Insecure"},
		{func(c *grpc.Config) { c.Addresses[1] = ":1" }, "agent 1: :1 is on another machine"},
		{func(c *grpc.Config) { c.Listener = everywhere }, "which other machines reach, and has no certificate"},
		{func(c *grpc.Config) { c.Addresses[2], c.Listener, c.Insecure = "10.0.0.2:1", everywhere, true }, ""},
		{func(c *grpc.Config) { c.Addresses[2], c.Listener, c.Identity = "10.0.0.2:1", everywhere, ids[1] }, ""},
		{func(c *grpc.Config) { c.Addresses[0] = "what agent 1 does not use" }, ""},
	} {
		config := grpc.Config{Agent: 1, Matrix: g.W, Run: "r", Addresses: []string{"127.0.0.1:1", "localhost:2", "[::1]:3"}}
		c.change(&config)
		err := config.Validate()
		if c.want == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want dsbo.ErrConfig with %q in it", err, c.want)
		}
	}
}

// TestOpenReleasesTheListener also when it fails.
func TestOpenReleasesTheListener(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := grpc.Open(grpc.Config{Listener: l}); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("error %v, want dsbo.ErrConfig", err)
	}
	if err := l.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the listener closes with %v, want that it is closed", err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	g, err := network.New("ring", 1, network.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := grpc.Open(grpc.Config{Matrix: g.W, Run: "r", Addresses: []string{taken.Addr().String()}}); err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("error %v, want that the address is in use", err)
	}
}
