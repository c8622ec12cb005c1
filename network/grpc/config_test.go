package grpc

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"dsbo"
	"dsbo/internal/testkit"
)

func TestValidate(t *testing.T) {
	w := newGraph("path", 3)
	ids := identities(2)
	everywhere := testkit.Get(net.Listen("tcp", ":0"))
	defer everywhere.Close()
	for _, c := range []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) {}, ""},
		{func(c *Config) { c.Matrix = nil }, "Matrix must be set"},
		{func(c *Config) { c.Agent = 3 }, "Agent must be 0 to 2, or have an Admission; it is 3"},
		{func(c *Config) { c.Agent = -1 }, "Agent must be 0 to 2, or have an Admission; it is -1"},
		{func(c *Config) { c.Addresses = nil }, "Addresses must be those of 3 agents; their number: 0"},
		{func(c *Config) { c.Run = "" }, "Run must have 1 to 255 bytes; their number: 0"},
		{func(c *Config) { c.Run = strings.Repeat("x", 256) }, "Run must have 1 to 255 bytes; their number: 256"},
		{func(c *Config) { c.Hash = strings.Repeat("x", 256) }, "Hash must have at most 255 bytes; their number: 256"},
		{func(c *Config) { c.Program.Kernels = strings.Repeat("x", 256) },
			"Program must have texts of at most 255 bytes; the longest: 256"},
		{func(c *Config) { c.Identity = ids[0] }, "must be the certificate of agent 1; it is that of agent 0"},
		{func(c *Config) { c.Round = -1 }, "Round must be 0 to 4611686018427387904; it is -1"},
		{func(c *Config) { c.MaxFloats = -1 }, "MaxFloats must be 1 to 268435452; it is -1"},
		{func(c *Config) { c.MaxFloats = 1 << 28 }, "MaxFloats must be 1 to 268435452; it is 268435456"},
		{func(c *Config) { c.KeepFrames = 1 }, "KeepFrames must be at least 2; it is 1"},
		{func(c *Config) { c.KeepBytes = -1 }, "KeepBytes must be at least 1; it is -1"},
		{func(c *Config) { c.Heartbeat = 6 * time.Second },
			"SilentAfter must be at least three heartbeats of 6s; it is 5s"},
		{func(c *Config) { c.Heartbeat = 2 * time.Second },
			"SilentAfter must be at least three heartbeats of 2s; it is 5s"},
		{func(c *Config) { c.Heartbeat = -1 }, "Heartbeat must be above 0; it is -1ns"},
		{func(c *Config) { c.SilentAfter = 100 * time.Millisecond }, ""},
		{func(c *Config) { c.PeerTimeout = time.Second }, "PeerTimeout must be at least SilentAfter, 5s; it is 1s"},
		{func(c *Config) { c.Addresses[2] = "localhost" },
			"the address of agent 2 must be host:port: address localhost: missing port in address"},
		{func(c *Config) { c.Addresses[1] = "host" },
			"the address of agent 1 must be host:port: address host: missing port"},
		{func(c *Config) { c.Addresses[1] = "" }, ""},
		{func(c *Config) { c.Addresses[1], c.Listener = "", everywhere },
			"Listener must be nil, as agent 1 has no address"},
		{func(c *Config) { c.Addresses[1], c.Addresses[0] = "", "10.0.0.2:1" }, "10.0.0.2:1 is on another machine"},
		{func(c *Config) { c.Addresses[1], c.Addresses[2] = "", "" },
			"agents 1 and 2 are neighbours, and neither has an address: there must be a relay, and certificates"},
		{func(c *Config) { c.Addresses[1], c.Addresses[0], c.Relay = "", "", "relay:1" },
			"agents 0 and 1 are neighbours, and neither has an address"},
		{func(c *Config) { c.Addresses[1], c.Addresses[0], c.Relay, c.Identity = "", "", "relay:1", ids[1] }, ""},
		{func(c *Config) { c.Addresses[0], c.Addresses[2] = "", "" }, ""},
		{func(c *Config) { c.Addresses[2] = "10.0.0.2:1" },
			"10.0.0.2:1 is on another machine and agent 1 has no certificate: Identity or Insecure must be set"},
		{func(c *Config) { c.Addresses[1] = ":1" }, "agent 1: :1 is on another machine"},
		{func(c *Config) { c.Listener = everywhere }, "which other machines reach, and has no certificate"},
		{func(c *Config) { c.Addresses[2], c.Listener, c.Insecure = "10.0.0.2:1", everywhere, true }, ""},
		{func(c *Config) { c.Addresses[2], c.Listener, c.Identity = "10.0.0.2:1", everywhere, ids[1] }, ""},
		{func(c *Config) { c.Addresses[0] = "what agent 1 does not use" }, ""},
	} {
		config := Config{Agent: 1, Matrix: w, Run: "run", Addresses: []string{"127.0.0.1:1", "localhost:2", "[::1]:3"}}
		c.change(&config)
		testkit.WantError(t, "settings", config.Validate(), dsbo.ErrConfig, c.want)
	}
}

// TestOpenReleasesTheListener also when it fails.
func TestOpenReleasesTheListener(t *testing.T) {
	l := listen()
	if _, err := Open(Config{Listener: l}); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("error %v must match dsbo.ErrConfig", err)
	}
	if err := l.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the listener closes with %v; it must be closed", err)
	}
	taken := listen()
	defer taken.Close()
	w := newGraph("ring", 1)
	_, err := Open(Config{Matrix: w, Run: "r", Addresses: []string{taken.Addr().String()}})
	testkit.WantError(t, "a taken address", err, nil, "address already in use")
}
