package session

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"time"

	"dsbo"
	"dsbo/network"
	"dsbo/network/pki"
	"dsbo/network/register"
	"dsbo/network/relay"
)

// A Config is an agent's identity and settings, and its neighbours. All agents of a run have the
// same Matrix, Run, Hash, Addresses, Quorum, AbsentAfter, Wire and Unmasked.
type Config struct {
	// Agent is the number of this agent, 0 ≤ Agent < n, or above with an Admission.
	Agent int
	// Matrix is the neighbours and their weights. The "server" graph of package network has no
	// server here: its agents exchange all with all, with the same result.
	Matrix *network.Matrix
	// Run names the run. Agents of different runs refuse each other.
	Run string
	// Hash is a digest of all settings that must be the same everywhere. Agents refuse each other
	// if it differs.
	Hash string
	// Settings are the settings that Hash covers, name=value each: refusals name the differing
	// ones. nil, or more than a hello has room for: refusals name the two hashes alone.
	Settings []string
	// Instance tells the processes of an agent apart: of two at the same time, the one with the
	// larger number goes on, and the other one ends with a [fencedError]. 0 stands for the
	// nanoseconds since 1970.
	Instance uint64
	// Addresses are the host:port of each agent, "" for an agent that accepts no connections. Of
	// two neighbours, the one without an address connects, or else the one with the lower number;
	// two without an address connect over Relay.
	Addresses []string
	// Relay is the host:port of the relay between agents without addresses (package relay), which
	// needs Identity.
	Relay string
	// Listener is where neighbours connect. nil listens on this agent's address. The agent closes
	// it.
	Listener net.Listener
	// Listen is the address to listen on, such as :7000. "": this agent's in Addresses.
	Listen string
	// Dial connects to the address of a neighbour or the relay. nil does so over TCP, through the
	// site's HTTP proxy if the environment names one ([relay.Dial]).
	Dial func(ctx context.Context, address string) (net.Conn, error)

	// Identity is this agent's certificate. With nil the connections are neither encrypted nor
	// checked, which Open refuses unless all is on this machine or Insecure is set.
	Identity *pki.Identity
	// Keys are the SHA-256 of public keys in hexadecimal, by agent: the certificate of an agent
	// with a key must be of it, and all other certificates must name Run. nil: all must.
	Keys []string
	// Insecure allows connections without certificates to other machines.
	Insecure bool

	// Wire is the format of Mix's vectors. Values must be exact on the wire, as [network.Averager]
	// sends them: Mix is then the same to the bit on all transports.
	Wire network.Wire
	// Unmasked has sums travel without masks: each agent then sees the numbers of its neighbours in
	// the spanning tree.
	Unmasked bool
	// Data is this agent's input to the numbers that Hash does not cover: its data. An agent that
	// comes back with other data is refused. Data never leave this process: other agents see a tag
	// that is keyed by the certificate.
	Data []byte
	// MaxFloats is the length of the longest vector that is accepted. 0 means 2²⁴, 128 MiB.
	MaxFloats int

	// Heartbeat is the period of an agent's signs of life. 0 means 500 ms, or a quarter of
	// SilentAfter if that is less.
	Heartbeat time.Duration
	// SilentAfter is the silence after which a neighbour is named in the log, and its connection
	// replaced. 0 means 5 s.
	SilentAfter time.Duration
	// Grace is the time that a session survives without a connection between two neighbours. 0
	// means twice SilentAfter.
	Grace time.Duration
	// PeerTimeout ends, with an error, a meeting that leads to no session, and a session in which
	// an agent that does not compute sends nothing. 0 means 20 minutes, and no less than twice
	// AbsentAfter.
	PeerTimeout time.Duration
	// ComputeTimeout bounds the time that an exchange waits for agents that compute or save. 0
	// means 24 hours.
	ComputeTimeout time.Duration
	// OnDiskHang is called in a goroutine of its own if the disk does not answer for PeerTimeout,
	// since the writing goroutine may never return. nil does nothing.
	OnDiskHang func(error)

	// Quorum is the number of agents that a session needs: more than half of the roster. 0: all,
	// always.
	Quorum int
	// AbsentAfter is the time without a sign of life after which the other agents continue without
	// an agent. It needs Quorum.
	AbsentAfter time.Duration
	// StragglerDeadline is the time that an exchange waits for a computing neighbour before the
	// next session begins without it; it doubles after each time. It needs Quorum; 0 means
	// ComputeTimeout.
	StragglerDeadline time.Duration
	// FewMembers has the agent take part where fewer than three members are left, of more at the
	// start: each of two can take its own terms off the sums, and has the other's.
	FewMembers bool
	// LeastMembers is the least number of members with which the agent takes part; 0: FewMembers.
	LeastMembers int
	// Noisy is true if this agent's messages depend on random bytes in its folder: an agent that
	// has lost the folder must not come back.
	Noisy bool
	// Admission admits an agent that is not in Matrix: the text of its [membership.Admission], ""
	// for the agents of Matrix. It needs Quorum and Identity. Such an agent has no address, and
	// connects to its neighbours.
	Admission string
	// Removals are the texts of [pki.Trust.Removal] that this agent knows: agents that are out for
	// good.
	Removals []string

	// Store is the agent's folder.
	Store register.Store

	// Log gets a line when a neighbour is connected, refused, silent and back, and when a session
	// begins and ends. nil logs nothing.
	Log *slog.Logger

	// Sent is called with the bytes of each vector that goes to a neighbour, but not where it is
	// sent again; it must return at once. nil counts nothing.
	Sent func(to, bytes int)

	// Wrap, for tests, wraps the sender of this agent's frames to a neighbour. nil means none.
	Wrap func(neighbour int, s Sender) Sender

	admissionNeighbours []int // the neighbours that Admission has, if it is good
}

// A Sender takes frames on their way to a neighbour. It is used by one goroutine at a time. A frame
// does not change after Send, which must not change it either.
type Sender interface {
	Send(frame []byte) error
}

// leastWords is the least bound of an exchange's words, whatever MaxFloats is.
const leastWords = 8 << 10

// mostWords bounds an agent's frame in an exchange: a vector, or a part of something longer.
func (c *Config) mostWords() int { return max(c.MaxFloats, leastWords) }

func (c Config) form() string {
	if c.Unmasked {
		return c.Wire.String() + ", sums without masks"
	}
	return c.Wire.String() + ", sums with masks"
}

// dials reports whether this agent connects to agent i, rather than i to it or neither.
func (c Config) dials(i int) bool {
	if !slices.Contains(c.neighbours(), i) {
		return false
	}
	if own, other := c.address(c.Agent) != "", c.address(i) != ""; own != other {
		return other
	}
	return i > c.Agent
}

// isRelayed reports whether agent i is a neighbour that this agent is connected to over the relay.
func (c Config) isRelayed(i int) bool {
	return c.Agent < c.Matrix.N() && c.address(c.Agent) == "" && c.address(i) == "" &&
		slices.Contains(c.neighbours(), i)
}

// waitsAtRelay reports whether a neighbour connects to this agent over the relay.
func (c Config) waitsAtRelay() bool {
	return slices.ContainsFunc(c.neighbours(), func(i int) bool { return i < c.Agent && c.isRelayed(i) })
}

func (c *Config) address(agent int) string {
	if agent >= len(c.Addresses) {
		return ""
	}
	return c.Addresses[agent]
}

// neighbours returns this agent's neighbours, in the graph of Matrix or by its admission.
func (c *Config) neighbours() []int {
	if c.Agent >= c.Matrix.N() {
		return c.admissionNeighbours
	}
	return c.Matrix.Neighbours(c.Agent)
}

// withDefaults returns c with its zeros replaced, as the comments of its fields have it, and lines
// of the log at a bounded rate.
func (c Config) withDefaults() Config {
	c.MaxFloats = cmp.Or(c.MaxFloats, 1<<24)
	c.SilentAfter = cmp.Or(c.SilentAfter, 5*time.Second)
	c.Heartbeat = cmp.Or(c.Heartbeat, min(500*time.Millisecond, c.SilentAfter/4))
	c.Grace = cmp.Or(c.Grace, 2*c.SilentAfter)
	// at least twice AbsentAfter, else a meeting ends before it does without an agent
	c.PeerTimeout = max(cmp.Or(c.PeerTimeout, 20*time.Minute), 2*c.AbsentAfter)
	c.ComputeTimeout = cmp.Or(c.ComputeTimeout, max(24*time.Hour, c.PeerTimeout))
	c.StragglerDeadline = cmp.Or(c.StragglerDeadline, c.ComputeTimeout)
	c.Instance = cmp.Or(c.Instance, uint64(time.Now().UnixNano()))
	c.Log = pki.LimitLog(c.Log)
	if c.Admission != "" {
		c.admissionNeighbours, _ = c.rule(c.Identity).Admission(c.Agent, c.Admission) // newWarrants has the error
	}
	if c.Dial == nil {
		c.Dial = relay.Dial
	}
	if c.Wrap == nil {
		c.Wrap = func(_ int, s Sender) Sender { return s }
	}
	return c
}

// rule returns the rule of decision, which all agents have; id is this agent's certificate, nil
// without.
func (c *Config) rule(id *pki.Identity) register.Rule {
	r := register.Rule{Run: c.Run, Hash: c.Hash, Matrix: c.Matrix, Quorum: c.Quorum, FewMembers: c.FewMembers,
		LeastMembers: c.LeastMembers, Masked: !c.Unmasked}
	if id != nil {
		r.Authority = id
	}
	return r
}

// tagKey returns the key of the tag of this agent's data, which is its certificate's; nil: there is
// no certificate.
func (c *Config) tagKey() ([]byte, error) {
	if c.Identity == nil {
		return nil, nil
	}
	return c.Identity.Derive("dsbo tag of data")
}

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
