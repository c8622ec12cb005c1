package grpc

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"time"

	"dsbo"
	"dsbo/internal/guard"
	"dsbo/internal/wording"
	"dsbo/network"
	"dsbo/network/pki"
)

// A Config says who an agent is and whom it exchanges with. All agents of a run have the same
// Matrix, Run, Hash and Addresses.
type Config struct {
	// Agent is the number of this agent, 0 ≤ Agent < n.
	Agent int
	// Matrix holds the neighbours and their weights. The "server" graph of package network has no
	// server here: its agents exchange all with all, with the same result.
	Matrix *network.Matrix
	// Run names the run. Agents of different runs refuse each other.
	Run string
	// Hash stands for all settings that must be the same everywhere. Agents refuse each other if
	// it differs.
	Hash string
	// Settings are what Hash stands for, name=value each: refusals name those that differ. What a
	// hello has no room for is left out. nil: refusals name the two hashes alone.
	Settings []string
	// Program is what this agent computes with. Agents refuse each other if theirs cannot be in one
	// run: see [network.Program.Mixable]. The zero value stands for network.ThisProgram().
	Program network.Program
	// Instance tells the processes of an agent apart: of two at the same time, the one with the
	// larger number goes on, and the other one ends with a [FencedError]. 0 stands for the
	// nanoseconds since 1970.
	Instance uint64
	// Addresses holds host:port of each agent, "" for one that nobody can reach. Of two neighbours
	// the one with the lower number connects to the other one, or the one without an address does;
	// two without one connect over Relay.
	Addresses []string
	// Relay is the host:port of the relay between agents without addresses (package relay), which
	// needs Identity.
	Relay string
	// Listener is where neighbours connect. nil listens on this agent's address. The mixer
	// closes it.
	Listener net.Listener
	// Dial connects to the address of a neighbour. nil does so over TCP.
	Dial func(ctx context.Context, address string) (net.Conn, error)

	// Identity is this agent's certificate. With nil the connections are neither encrypted nor
	// checked, which Open refuses unless all is on this machine or Insecure is set.
	Identity *pki.Identity
	// Keys has the SHA-256 of public keys in hexadecimal, by agent: the certificate of an agent
	// that has one must be of that key, and the certificates of others must name Run. nil: all
	// must.
	Keys []string
	// Insecure allows connections without certificates to other machines.
	Insecure bool

	// Wire is how vectors of Mix travel. The values must be those that the wire holds exactly, as
	// [network.Averager] sends them: Mix is then the same to the bit on all transports. Agents
	// refuse each other if theirs differs.
	Wire network.Wire
	// Unmasked has sums travel without masks: each agent then sees the numbers of its neighbours in
	// the spanning tree. Agents refuse each other if theirs differs.
	Unmasked bool
	// Secret is mixed into the key of this agent's masks, which without Identity depends on it
	// alone: random bytes, 32 for instance, that no other agent knows and that an agent that comes
	// back has again. With neither Secret nor Identity the key is another one after each Open, and
	// an agent that comes back after the first sum is refused.
	Secret []byte
	// MaskFile is the file of the agent that has the nonce of its masks and the streams that it has
	// used. It begins with the run: an agent that comes back finds it. "" keeps them in memory.
	MaskFile string
	// Noisy says that what this agent sends follows from random bytes of its run folder, and is
	// another if these are lost: then it cannot come back.
	Noisy bool
	// Fingerprint stands for all that this agent's numbers follow from and Hash does not have: its
	// data, and its program. With another one the masks of the whole run are others. An agent that
	// comes back must have the same, and is refused otherwise. It never leaves this process. Agents
	// with nil must not take part in two runs of one name with different data.
	Fingerprint []byte

	// Round is the first exchange: 0, or the round of the checkpoint from which the agent goes on.
	Round int
	// MaxFloats is the length of the longest vector that is accepted. 0 means 2²⁴, 128 MiB.
	MaxFloats int
	// KeepFrames and KeepBytes bound the vectors that are kept for neighbours who lost them: the
	// last KeepFrames, 0 meaning 1024, as far as they have no more than KeepBytes, 0 meaning 16
	// MiB, but two at least. A neighbour that comes back from an older checkpoint makes this agent
	// go back too. What is kept and does not fit the processor's cache costs time in each exchange.
	KeepFrames int
	KeepBytes  int64 // memory of these, for each neighbour

	// Heartbeat is how often an agent says that it is there. 0 means 500 ms, or a quarter of
	// SilentAfter if that is less.
	Heartbeat time.Duration
	// SilentAfter is when a neighbour that says nothing is named in the log, and its connection
	// given up for a new one: after three heartbeats of the slowest neighbour at least. 0 means
	// 5 s.
	SilentAfter time.Duration
	// PeerTimeout is when a silent neighbour ends the run, or an agent that holds up an exchange
	// and does not say that it computes. It bounds the writing of a file too ([Mixer.Saving]). 0
	// means 10 minutes.
	PeerTimeout time.Duration
	// ComputeTimeout bounds how long an exchange waits for agents that say that they compute. 0
	// means 24 hours.
	ComputeTimeout time.Duration
	// DelayBudget is by how much each neighbour may delay this agent in an hour: by what it does
	// not send, without saying that it computes, and by what it sends and nobody needs. Where there
	// is a council, one that has spent it is left out. 0 means 30 minutes, or ten times AbsentAfter
	// if that is longer; an hour and more never end.
	DelayBudget time.Duration
	// OnDiskHang is called in a goroutine of its own when the disk does not answer, as the one that
	// writes may never return. nil does nothing.
	OnDiskHang func(error)

	// AllFinished is called by Drain when it knows that all agents have finished, before a
	// neighbour can leave because this agent knows: what it keeps of that, an agent that is lost
	// later finds, and need not wait for others that have left. Its error is the error of Drain. It
	// is called again with told when the neighbours know too, or are silent for PeerTimeout. nil
	// does nothing.
	AllFinished func(told bool) error
	// Finished says that AllFinished was called in a former process of this agent, and not with
	// told: the neighbours may wait to be told.
	Finished bool

	// Membership has the agents decide who takes part. nil: all of Matrix do, always.
	Membership *Membership
	// Admission is what lets an agent that Matrix does not have into the run: the text of its
	// [pki.Admission], "" for the agents of Matrix. It needs Membership and Identity. Such an agent
	// has no address, and connects to its neighbours.
	Admission string

	// Log gets a line when a neighbour is connected, refused, silent and back. nil logs nothing.
	Log *slog.Logger

	// Wrap, for tests, puts something between this agent and what it sends to a neighbour.
	// nil means nothing.
	Wrap func(neighbour int, s Sender) Sender

	admissionNeighbours []int // the neighbours that Admission has, if it is good
}

// A Sender takes frames on their way to a neighbour. It is used by one goroutine at a time. A frame
// does not change after Send, which must not change it either.
type Sender interface {
	Send(frame []byte) error
}

func orDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// withDefaults returns c with its zeros replaced.
func (c Config) withDefaults() Config {
	orDefault(&c.MaxFloats, 1<<24)
	orDefault(&c.KeepFrames, 1024)
	orDefault(&c.KeepBytes, 16<<20)
	orDefault(&c.SilentAfter, 5*time.Second)
	orDefault(&c.Heartbeat, min(500*time.Millisecond, c.SilentAfter/4))
	orDefault(&c.PeerTimeout, 10*time.Minute)
	orDefault(&c.ComputeTimeout, max(24*time.Hour, c.PeerTimeout))
	if c.DelayBudget == 0 && c.Membership != nil {
		c.DelayBudget = max(leastBudget, 10*c.Membership.AbsentAfter)
	}
	orDefault(&c.DelayBudget, leastBudget)
	orDefault(&c.Program, network.ThisProgram())
	orDefault(&c.Instance, uint64(time.Now().UnixNano()))
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	c.Log = guard.LimitLog(c.Log)
	if c.Admission != "" {
		if a, err := c.admission(c.Identity, c.Agent, c.Admission); err == nil {
			c.admissionNeighbours = a.Neighbours
		}
	}
	if c.Dial == nil {
		c.Dial = dialTCP
	}
	if c.Wrap == nil {
		c.Wrap = func(_ int, s Sender) Sender { return s }
	}
	return c
}

// Validate returns an error that matches dsbo.ErrConfig and names the first setting that
// cannot work.
func (c Config) Validate() error {
	c = c.withDefaults()
	if c.Matrix == nil {
		return dsbo.Errorf(dsbo.ErrConfig, "Matrix must be set; it is nil")
	}
	if err := c.validateNumbers(); err != nil {
		return err
	}
	if c.Admission != "" {
		if _, err := c.admission(c.Identity, c.Agent, c.Admission); err != nil {
			return dsbo.Errorf(dsbo.ErrConfig, "%w", err)
		}
	}
	if c.Identity != nil {
		if c.Identity.Agent != c.Agent {
			return dsbo.Errorf(dsbo.ErrConfig, "Identity must be the certificate of agent %d; it is that of agent %d",
				c.Agent, c.Identity.Agent)
		}
		if _, err := c.Identity.InRun(c.Run, c.Keys); err != nil {
			return err
		}
	}
	if err := c.Membership.validate(&c); err != nil {
		return err
	}
	return c.validateAddresses()
}

// validateNumbers returns an error for the first number or name that is out of its bounds. The
// matrix is set.
func (c Config) validateNumbers() error {
	n := c.Matrix.N()
	longest := 0
	for _, s := range c.Program.Texts() {
		longest = max(longest, len(*s))
	}
	const largest = (1<<31 - 1 - headerSize) / 8 // gRPC counts bytes in 31 bits
	helloLength := c.helloLength()
	for _, s := range []struct {
		holds bool
		must  string // what must hold, up to what is printed then
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
		{longest <= maxName, fmt.Sprintf("Program must have texts of at most %d bytes; the longest:", maxName),
			longest},
		{helloLength <= maxHello, fmt.Sprintf("Run, Hash and Program must fit a hello of %d bytes; it has", maxHello),
			helloLength},
		{c.Wire <= network.Int8, fmt.Sprintf("Wire must be one of %v to %v; it is", network.Float64, network.Int8),
			c.Wire},
		{0 <= c.Round && c.Round <= maxNumber, fmt.Sprintf("Round must be 0 to %d; it is", maxNumber), c.Round},
		{1 <= c.MaxFloats && c.MaxFloats <= largest, fmt.Sprintf("MaxFloats must be 1 to %d; it is", largest),
			c.MaxFloats},
		{c.KeepFrames >= minKept, fmt.Sprintf("KeepFrames must be at least %d; it is", minKept), c.KeepFrames},
		{c.KeepBytes >= 1, "KeepBytes must be at least 1; it is", c.KeepBytes},
		{c.Heartbeat > 0, "Heartbeat must be above 0; it is", c.Heartbeat},
		{c.SilentAfter >= 3*c.Heartbeat,
			fmt.Sprintf("SilentAfter must be at least three heartbeats of %v; it is", c.Heartbeat), c.SilentAfter},
		{c.ComputeTimeout >= c.PeerTimeout,
			fmt.Sprintf("ComputeTimeout must be at least PeerTimeout, %v; it is", c.PeerTimeout), c.ComputeTimeout},
		{c.DelayBudget > 0, "DelayBudget must be above 0; it is", c.DelayBudget},
		{c.PeerTimeout >= c.SilentAfter,
			fmt.Sprintf("PeerTimeout must be at least SilentAfter, %v; it is", c.SilentAfter), c.PeerTimeout},
	} {
		if !s.holds {
			return dsbo.Errorf(dsbo.ErrConfig, "%s %v", s.must, s.is)
		}
	}
	return nil
}

// An UnprotectedError is the refusal of connections to other machines that have no certificates.
type UnprotectedError struct {
	Reason string // whose connections they are
}

func (e *UnprotectedError) Error() string { return e.Reason + ": Identity or Insecure must be set" }

func (c Config) validateAddresses() error {
	unprotected := func(format string, args ...any) error {
		return dsbo.Errorf(dsbo.ErrConfig, "%w", &UnprotectedError{fmt.Sprintf(format, args...)})
	}
	if c.Listener != nil && c.address(c.Agent) == "" {
		return dsbo.Errorf(dsbo.ErrConfig,
			"Listener must be nil, as agent %d has no address where others could connect", c.Agent)
	}
	for i, a := range c.Addresses {
		if slices.Contains(c.admissionNeighbours, i) && a == "" {
			return dsbo.Errorf(dsbo.ErrConfig,
				"agent %d connects to its neighbours, which must have addresses; agent %d has none", c.Agent, i)
		}
		if c.isRelayed(i) && (c.Relay == "" || c.Identity == nil) {
			return dsbo.Errorf(dsbo.ErrConfig,
				"agents %d and %d are neighbours, and neither has an address: there must be a relay, and "+
					"certificates for it",
				min(i, c.Agent), max(i, c.Agent))
		}
		if a == "" || !c.dials(i) && (i != c.Agent || c.Listener != nil) {
			continue
		}
		host, _, err := net.SplitHostPort(a)
		if err != nil {
			return dsbo.Errorf(dsbo.ErrConfig, "the address of agent %d must be host:port: %w", i, err)
		}
		if !c.allowsRemote() && host != "localhost" && !net.ParseIP(host).IsLoopback() {
			return unprotected("address of agent %d: %s is on another machine and agent %d has no certificate", i, a,
				c.Agent)
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

// form says in which form vectors travel.
func (c Config) form() string {
	if c.Unmasked {
		return c.Wire.String() + ", sums without masks"
	}
	return c.Wire.String() + ", sums with masks"
}

// allowsRemote reports whether connections without protection are out of the question, or allowed.
func (c Config) allowsRemote() bool { return c.Identity != nil || c.Insecure }

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
