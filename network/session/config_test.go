package session

import (
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
		{func(c *Config) { c.Identity = ids[0] }, "must be the certificate of agent 1; it is that of agent 0"},
		{func(c *Config) { c.MaxFloats = -1 }, "MaxFloats must be 1 to 268435452; it is -1"},
		{func(c *Config) { c.MaxFloats = 1 << 28 }, "MaxFloats must be 1 to 268435452; it is 268435456"},
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
		{func(c *Config) { c.Addresses[2] = "host:65536" }, "the address of agent 2 must be host:port: "},
		{func(c *Config) { c.Addresses[1] = "no.such.name.invalid:1" }, "no.such.name.invalid:1 is on another machine"},
		{func(c *Config) { c.Addresses[1], c.Identity = "no.such.name.invalid:1", ids[1] }, ""},
		{func(c *Config) { c.Quorum = 1 }, "Quorum must be more than half of the 3 agents"},
		{func(c *Config) { c.Quorum = 4 }, "no more than all, for AbsentAfter and StragglerDeadline too; it is 4"},
		{func(c *Config) { c.AbsentAfter = time.Hour }, "Quorum must be more than half of the 3 agents"},
		{func(c *Config) { c.StragglerDeadline = time.Hour }, "Quorum must be more than half of the 3 agents"},
		{func(c *Config) { c.Quorum, c.AbsentAfter = 2, 5*time.Second },
			"AbsentAfter must be longer than SilentAfter, 5s"},
		{func(c *Config) { c.Quorum, c.AbsentAfter, c.StragglerDeadline = 2, 6*time.Second, time.Second },
			"StragglerDeadline must be longer than SilentAfter, 5s, and at most ComputeTimeout, 24h0m0s; it is 1s"},
		{func(c *Config) { c.Quorum, c.AbsentAfter = 2, 6*time.Second }, ""},
		{func(c *Config) { c.Quorum, c.AbsentAfter, c.ComputeTimeout = 2, 13*time.Hour, 24*time.Hour },
			"ComputeTimeout must be at least PeerTimeout, 26h0m0s; it is 24h0m0s"},
		{func(c *Config) { c.Grace = -1 }, "Grace must be above 0; it is -1ns"},
		{func(c *Config) { c.Addresses[1] = "" }, ""},
		{func(c *Config) { c.Addresses[1], c.Listener = "", everywhere },
			"Listener and Listen must be left out, as agent 1 has no address"},
		{func(c *Config) { c.Addresses[1], c.Listen = "", "127.0.0.1:2" },
			"Listener and Listen must be left out, as agent 1 has no address"},
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

// TestDefaults: a meeting lasts for twice as long as an agent may be absent, at least.
func TestDefaults(t *testing.T) {
	for _, c := range []struct{ absent, peer, want time.Duration }{
		{0, 0, 20 * time.Minute},
		{0, time.Minute, time.Minute},
		{10 * time.Minute, time.Minute, 20 * time.Minute},
		{time.Hour, 0, 2 * time.Hour},
	} {
		if got := (Config{AbsentAfter: c.absent, PeerTimeout: c.peer}).withDefaults().PeerTimeout; got != c.want {
			t.Errorf("%+v: PeerTimeout is %v", c, got)
		}
	}
	c := Config{}.withDefaults()
	if c.SilentAfter != 5*time.Second || c.Heartbeat != 500*time.Millisecond || c.Grace != 10*time.Second ||
		c.ComputeTimeout != 24*time.Hour || c.MaxFloats != 1<<24 {
		t.Errorf("the defaults are %+v", c)
	}
}
