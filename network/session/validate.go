package session

import (
	"fmt"
	"net"
	"slices"

	"dsbo"
)

// mostFloats bounds MaxFloats: gRPC counts the bytes of a message in 31 bits.
const mostFloats = (1<<31 - 1 - headerSize) / 8

// validate returns an error that matches dsbo.ErrConfig and names the first setting that
// cannot work or is not safe. Times, texts and the quorum are not checked: those who make a Config
// of a cluster file and of flags have checked them by these names.
func (c *Config) validate() error {
	n := c.Matrix.N()
	switch {
	case c.Agent < 0 || c.Agent >= n && c.Admission == "":
		return dsbo.ConfigErrorf("Agent must be 0 to %d, or have an Admission; it is %d", n-1, c.Agent)
	case len(c.Addresses) != n:
		return dsbo.ConfigErrorf("Addresses must be those of %d agents; their number: %d", n, len(c.Addresses))
	case c.MaxFloats < 1 || c.MaxFloats > mostFloats:
		return dsbo.ConfigErrorf("MaxFloats must be 1 to %d; it is %d", mostFloats, c.MaxFloats)
	case c.Identity != nil && c.Identity.Agent != c.Agent:
		return dsbo.ConfigErrorf("Identity must be the certificate of agent %d; it is that of agent %d",
			c.Agent, c.Identity.Agent)
	}
	return c.validateAddresses()
}

// An UnprotectedError is the refusal of connections to other machines that have no certificates.
type UnprotectedError struct {
	Reason string // whose connections they are
}

func (e *UnprotectedError) Error() string { return e.Reason + ": Identity or Insecure must be set" }

// validateAddresses returns an error if two neighbours cannot connect, or connections between
// machines would lack certificates.
func (c *Config) validateAddresses() error {
	listen := c.Listen
	if c.Listener != nil {
		listen = c.Listener.Addr().String()
	}
	for i, a := range c.Addresses {
		switch { // dials and isRelayed are false of agents that are no neighbours
		case a == "" && slices.Contains(c.admissionNeighbours, i):
			return dsbo.ConfigErrorf(
				"agent %d connects to its neighbours, which must have addresses; agent %d has none", c.Agent, i)
		case c.isRelayed(i) && (c.Relay == "" || c.Identity == nil):
			return dsbo.ConfigErrorf(
				"agents %d and %d are neighbours, and neither has an address: there must be a relay, and "+
					"certificates for it",
				min(i, c.Agent), max(i, c.Agent))
		case a != "" && (c.dials(i) || i == c.Agent && listen == "") && !c.allowsRemote(a):
			return unprotectedError("address of agent %d: %s is on another machine and agent %d has no certificate", i,
				a, c.Agent)
		}
	}
	if listen != "" && !c.allowsRemote(listen) {
		return unprotectedError("agent %d listens on %s, which other machines reach, and has no certificate", c.Agent,
			listen)
	}
	return nil
}

func unprotectedError(format string, args ...any) error {
	return dsbo.ConfigErrorf("%w", &UnprotectedError{fmt.Sprintf(format, args...)})
}

// allowsRemote reports whether connections to an address have certificates, need none as only this
// machine reaches it, or are allowed without.
func (c *Config) allowsRemote(address string) bool {
	host, _, _ := net.SplitHostPort(address)
	return c.Identity != nil || c.Insecure || host == "localhost" || net.ParseIP(host).IsLoopback()
}
