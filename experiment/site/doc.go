// Package site is what the sites of a run of several owners agree on, permit, and send: the
// [Cluster] file that all of them have, a [Policy] of one's own, by which runs are refused that
// need more than the site gives, a [Plan] of what will leave, and a [Report] of what has left.
//
// # What a run will send
//
// A [Plan] lists what a run sends before it is run: each quantity that is made of an agent's data
// and leaves it, how often it does, and who sees it. From these follow the bytes and messages of a
// run. [NewPlan] makes the [Plan] of a [Run]; experiment.Job.Plan makes both for a command line.
// What depends on what a run finds is a [Range], until a pilot has counted it: to foretell it takes
// the run itself.
//
// The method's own Cost lists what travels in iterations. What a quantity costs on the way is known
// to package network alone.
//
// # Cluster files
//
// A cluster file has the common settings of the agents of a run on several machines. It is one JSON
// object.
//
//	{
//	  "run": "mnist-8",
//	  "agents": ["host-0:7000", "host-1:7000", "host-2:7000", "host-3:7000"],
//	  "graph": "ring", "w": 0.5,
//	  "seed": 1,
//	  "task": "mnist",
//	  "flags": ["-preset=tuned", "-K=20"]
//	}
//
// "run" names the run: 1 to 64 letters, digits, dots, dashes and underscores. "agents" lists the
// agents' addresses, host:port each, by agent number from 0 on. Where the addresses follow a rule,
// "agents" is their number and "address" the rule: {agent} in it is replaced by the agent's number
// and {7000+agent} by the sum of 7000 and it.
//
//	"agents": 8, "address": "dsbo-{agent}.dsbo:7000"      dsbo-0.dsbo:7000 to dsbo-7.dsbo:7000
//	"agents": 8, "address": "127.0.0.1:{7000+agent}"      127.0.0.1:7000 to 127.0.0.1:7007
//
// Sites whose machines can only connect to others, and are reached by nobody, have the address "".
// Their neighbours must have one, or "relay" is the host:port of a relay (dsbo relay) over which
// two without an address talk to each other.
//
//	"agents": ["host-0:7000", "", "", "host-3:7000"], "relay": "relay.example:443"
//
// The graph is "graph", a name that package network knows (default: ring), or "edges", [[0, 1], [1,
// 2], ...], or "W", the mixing matrix by rows, or "weights", a graph file with the lists of weights
// that change. "w" is each agent's weight on itself (default: 0.5 on the ring; elsewhere 0, which
// stands for Metropolis weights), and "prob" the probability of an edge of erdos-renyi. "seed"
// (default: 1) is what all draws depend on. "task" names the task and "flags" lists flags of its
// command line, "-name=value" each, without those that the file replaces (-agents, -graph, -w,
// -prob, -seed).
//
// "quorum" and "absent_after" let the run continue without absent agents (package
// dsbo/network/register): this number of agents, more than half, decide to leave out an agent after
// that long a silence, and to readmit it.
//
//	"quorum": 5, "absent_after": "10m"
//
// "keys" pins the public key of each agent: its SHA-256 in hexadecimal, as `dsbo pki request`
// prints it. Without it, an agent's certificate must name the run, as `dsbo pki` has it.
//
//	"keys": ["9f2c...", "03ab...", ...]
//
// Further agents may join such a run, as long as the quorum is more than half of all: each shows an
// admission that the authority has signed for this file (its [Cluster.Hash]), with the agents of
// the file that it connects to (membership.Admission). The file itself stays as it is.
//
// An unknown field, null, a field or an address that is given twice, and text after the object are
// errors.
//
// The machines of a run may each have a file of their own. [Cluster.Hash] covers what must be the
// same in all of them: everything but the addresses, as a machine may know the others by names of
// its own; but who has none is the same for all.
//
// A program that runs agents over [dsbo/network/session] itself takes Run, Hash, Addresses and
// Graph.W from a [Cluster] for its session.Config; it may use Task and Flags as it likes.
package site
