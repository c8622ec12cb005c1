package grpc

import (
	"context"
	"log/slog"
	"net"
	"slices"
	"time"

	"dsbo/network"
	"dsbo/network/membership"
	"dsbo/network/membership/paxos"
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
	// Dial connects to the address of a neighbour or the relay. nil does so over TCP, through the
	// site's HTTP proxy if the environment names one (package carrier).
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

// A Membership has the agents of a run decide who takes part in it: one that is absent or slow for
// too long is left out, and may come back. All agents have the same Quorum and AbsentAfter.
type Membership struct {
	// Quorum is how many members must agree to a change: more than half of the roster.
	Quorum int
	// AbsentAfter is after how long without a sign of life a neighbour is reported absent. It is
	// longer than SilentAfter, and takes the place of PeerTimeout, but for an agent that hears
	// nobody, whose neighbour has diverged, or whose disk does not answer.
	AbsentAfter time.Duration
	// StragglerDeadline is for how long an exchange waits for what a neighbour computes until that
	// is reported as slow, and twice as long after each time that it has been left out for that;
	// Config.ComputeTimeout is the most. A member is left out when all its neighbours have reported
	// it. 0 stands for Config.ComputeTimeout. Agents may have different ones.
	StragglerDeadline time.Duration
	// FewMembers has the agent stay where fewer than three members are left, of more at the start:
	// each of two can take its own terms off the sums, and has the other's.
	FewMembers bool
	// Log is the changes so far, as the agent's disk has them.
	Log membership.Log
	// Vote is its last vote in the council.
	Vote paxos.Vote
	// Give returns what an agent that comes into an epoch takes over from this one. It is called in
	// a goroutine of its own.
	Give func(epoch int) ([]byte, error)
	// Draw returns random numbers, which spread proposals and name messages. nil means the numbers
	// of math/rand/v2.
	Draw func() uint64
	// Records keeps them from now on. Its methods are called by one goroutine, which is not the
	// goroutine of Mix.
	Records paxos.Records
}

// leastMembers is the number of members from which on a sum hides each of its terms from
// the others.
const leastMembers = 3

// patience is how long a proposer waits for answers. Between processes that are there they take
// milliseconds, but for a disk that writes a vote.
func (s *Membership) patience() time.Duration {
	return min(max(s.AbsentAfter/10, 20*time.Millisecond), time.Second)
}

// A Sender takes frames on their way to a neighbour. It is used by one goroutine at a time. A frame
// does not change after Send, which must not change it either.
type Sender interface {
	Send(frame []byte) error
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

// agents returns how many numbers of agents there may be: the agents of Matrix and, where members
// change, as many as can be admitted.
func (c *Config) agents() int {
	if c.Membership == nil {
		return c.Matrix.N()
	}
	return paxos.LargestRoster(c.Membership.Quorum)
}

// address returns the address of an agent, "" of one that has been admitted.
func (c *Config) address(agent int) string {
	if agent >= len(c.Addresses) {
		return ""
	}
	return c.Addresses[agent]
}

// neighbours returns this agent's in the graph of Matrix, or those that its admission has.
func (c *Config) neighbours() []int {
	if c.Agent >= c.Matrix.N() {
		return c.admissionNeighbours
	}
	return c.Matrix.Neighbours(c.Agent)
}
