package session

import (
	"net"
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
		{func(c *Config) { c.Agent = 3 }, "Agent must be 0 to 2, or have an Admission; it is 3"},
		{func(c *Config) { c.Agent = -1 }, "Agent must be 0 to 2, or have an Admission; it is -1"},
		{func(c *Config) { c.Addresses = nil }, "Addresses must be those of 3 agents; their number: 0"},
		{func(c *Config) { c.Identity = ids[0] }, "must be the certificate of agent 1; it is that of agent 0"},
		{func(c *Config) { c.MaxFloats = -1 }, "MaxFloats must be 1 to 268435452; it is -1"},
		{func(c *Config) { c.MaxFloats = 1 << 28 }, "MaxFloats must be 1 to 268435452; it is 268435456"},
		{func(c *Config) { c.Addresses[1] = "no.such.name.invalid:1" }, "no.such.name.invalid:1 is on another machine"},
		{func(c *Config) { c.Addresses[1], c.Identity = "no.such.name.invalid:1", ids[1] }, ""},
		{func(c *Config) { c.Addresses[1] = "" }, ""},
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
		config = config.withDefaults()
		testkit.WantError(t, "settings", config.validate(), dsbo.ErrConfig, c.want)
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
