package session

import (
	"fmt"
	"net"
	"slices"

	"dsbo"
	"dsbo/internal/wording"
	"dsbo/network"
)

// validateMembers returns an error unless the settings of membership fit each other. The other
// settings are valid.
func (c *Config) validateMembers() error {
	n := c.Matrix.N()
	switch {
	case c.Quorum == 0 && c.AbsentAfter == 0 && c.StragglerDeadline == c.ComputeTimeout:
		return nil
	case 2*c.Quorum <= n || c.Quorum > n:
		return dsbo.ConfigErrorf(
			"Quorum must be more than half of the %d agents, and no more than all, for AbsentAfter and "+
				"StragglerDeadline too; it is %d", n, c.Quorum)
	case c.AbsentAfter <= c.SilentAfter:
		return dsbo.ConfigErrorf("AbsentAfter must be longer than SilentAfter, %v; it is %v", c.SilentAfter,
			c.AbsentAfter)
	case c.StragglerDeadline <= c.SilentAfter || c.StragglerDeadline > c.ComputeTimeout:
		return dsbo.ConfigErrorf(
			"StragglerDeadline must be longer than SilentAfter, %v, and at most ComputeTimeout, %v; it is %v",
			c.SilentAfter, c.ComputeTimeout, c.StragglerDeadline)
	}
	return nil
}

// Validate returns an error that matches dsbo.ErrConfig and names the first setting that
// cannot work.
func (c Config) Validate() error {
	c = c.withDefaults()
	if c.Matrix == nil {
		return dsbo.ConfigErrorf("Matrix must be set; it is nil")
	}
	if err := c.validateNumbers(); err != nil {
		return err
	}
	if c.Admission != "" {
		if _, err := c.rule(c.Identity).Admission(c.Agent, c.Admission); err != nil {
			return dsbo.ConfigErrorf("%w", err)
		}
	}
	if c.Identity != nil {
		if c.Identity.Agent != c.Agent {
			return dsbo.ConfigErrorf("Identity must be the certificate of agent %d; it is that of agent %d",
				c.Agent, c.Identity.Agent)
		}
		if _, err := c.Identity.InRun(c.Run, c.Keys); err != nil {
			return err
		}
	}
	if err := c.validateMembers(); err != nil {
		return err
	}
	return c.validateAddresses()
}

// validateNumbers returns an error for the first number or name that is out of its bounds. The
// matrix is set.
func (c Config) validateNumbers() error {
	n := c.Matrix.N()
	const largest = (1<<31 - 1 - headerSize) / 8 // gRPC counts bytes in 31 bits
	helloLength := c.helloLength()
	for _, s := range []struct {
		holds bool
		must  string // the condition, up to the printed part
		is    any
	}{
		{0 <= c.Agent && (c.Agent < n || c.Admission != ""),
			fmt.Sprintf("Agent must be 0 to %d, or have an Admission; it is", n-1), c.Agent},
		{len(c.Addresses) == n, fmt.Sprintf("Addresses must be those of %d agents; their number:", n),
			len(c.Addresses)},
		{c.Run != "" && len(c.Run) <= maxName, fmt.Sprintf("Run must have 1 to %d bytes; their number:", maxName),
			len(c.Run)},
		{len(c.Hash) <= maxName, fmt.Sprintf("Hash must have at most %d bytes; their number:", maxName), len(c.Hash)},
		{wording.Printable(c.Run + c.Hash), "Run and Hash must be printable; they are",
			fmt.Sprintf("%+q and %+q", c.Run, c.Hash)},
		{helloLength <= headerSize+maxHello,
			fmt.Sprintf("Run and Hash must fit a hello of %d bytes; it has", headerSize+maxHello),
			helloLength},
		{c.Wire <= network.Int8, fmt.Sprintf("Wire must be one of %v to %v; it is", network.Float64, network.Int8),
			c.Wire},
		{1 <= c.MaxFloats && c.MaxFloats <= largest, fmt.Sprintf("MaxFloats must be 1 to %d; it is", largest),
			c.MaxFloats},
		{c.Heartbeat > 0, "Heartbeat must be above 0; it is", c.Heartbeat},
		{c.SilentAfter >= 3*c.Heartbeat,
			fmt.Sprintf("SilentAfter must be at least three heartbeats of %v; it is", c.Heartbeat), c.SilentAfter},
		{c.ComputeTimeout >= c.PeerTimeout,
			fmt.Sprintf("ComputeTimeout must be at least PeerTimeout, %v; it is", c.PeerTimeout), c.ComputeTimeout},
		{c.Grace > 0, "Grace must be above 0; it is", c.Grace},
		{c.PeerTimeout >= c.SilentAfter,
			fmt.Sprintf("PeerTimeout must be at least SilentAfter, %v; it is", c.SilentAfter), c.PeerTimeout},
	} {
		if !s.holds {
			return dsbo.ConfigErrorf("%s %v", s.must, s.is)
		}
	}
	return nil
}

// An UnprotectedError is the refusal of connections to other machines that have no certificates.
type UnprotectedError struct {
	Reason string // whose connections they are
}

func (e *UnprotectedError) Error() string { return e.Reason + ": Identity or Insecure must be set" }

// validateAddresses returns an error if two neighbours cannot connect, or connections between
// machines would lack certificates.
func (c Config) validateAddresses() error {
	unprotected := func(format string, args ...any) error {
		return dsbo.ConfigErrorf("%w", &UnprotectedError{fmt.Sprintf(format, args...)})
	}
	if (c.Listener != nil || c.Listen != "") && c.address(c.Agent) == "" {
		return dsbo.ConfigErrorf(
			"Listener and Listen must be left out, as agent %d has no address where others could connect", c.Agent)
	}
	for i, a := range c.Addresses {
		if slices.Contains(c.admissionNeighbours, i) && a == "" {
			return dsbo.ConfigErrorf(
				"agent %d connects to its neighbours, which must have addresses; agent %d has none", c.Agent, i)
		}
		if c.isRelayed(i) && (c.Relay == "" || c.Identity == nil) {
			return dsbo.ConfigErrorf(
				"agents %d and %d are neighbours, and neither has an address: there must be a relay, and "+
					"certificates for it",
				min(i, c.Agent), max(i, c.Agent))
		}
		if a == "" || !c.dials(i) && (i != c.Agent || c.Listener != nil || c.Listen != "") {
			continue
		}
		host, port, err := net.SplitHostPort(a)
		if err == nil {
			_, err = net.LookupPort("tcp", port)
		}
		if err != nil {
			return dsbo.ConfigErrorf("the address of agent %d must be host:port: %w", i, err)
		}
		if !c.allowsRemote() && !isLoopback(host) {
			return unprotected("address of agent %d: %s is on another machine and agent %d has no certificate", i, a,
				c.Agent)
		}
	}
	if c.Listen != "" {
		host, _, err := net.SplitHostPort(c.Listen)
		if err != nil {
			return dsbo.ConfigErrorf("Listen must be host:port: %w", err)
		}
		if !c.allowsRemote() && !isLoopback(host) {
			return unprotected("agent %d listens on %s, which other machines reach, and has no certificate", c.Agent,
				c.Listen)
		}
	}
	if c.Listener != nil && !c.allowsRemote() {
		a := c.Listener.Addr()
		if tcp, ok := a.(*net.TCPAddr); ok && !tcp.IP.IsLoopback() {
			return unprotected("agent %d listens on %s, which other machines reach, and has no certificate", c.Agent, a)
		}
	}
	return nil
}

// isLoopback reports whether only this machine reaches a host.
func isLoopback(host string) bool { return host == "localhost" || net.ParseIP(host).IsLoopback() }
