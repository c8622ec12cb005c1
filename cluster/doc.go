// Package cluster reads cluster files: what the agents of a run on several machines agree on.
//
// A cluster file is one JSON object.
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
// "run" names the run: 1 to 64 letters, digits, dots, dashes and underscores. "agents" holds each agent's host:port, in
// the order of their numbers, which begin at 0. Where the addresses follow a rule, "agents" is their number and
// "address" the rule: {agent} in it stands for the agent's number and {7000+agent} for the sum of 7000 and it.
//
//	"agents": 8, "address": "dsbo-{agent}.dsbo:7000"      dsbo-0.dsbo:7000 to dsbo-7.dsbo:7000
//	"agents": 8, "address": "127.0.0.1:{7000+agent}"      127.0.0.1:7000 to 127.0.0.1:7007
//
// The graph is "graph", a name that package network knows (left out: ring), or "edges", [[0, 1], [1, 2], ...], or "W", the
// mixing matrix by rows. "w" is each agent's weight on itself, left out 0.5 on the ring and 0, Metropolis weights,
// elsewhere; "prob" the probability of an edge of erdos-renyi. "seed", left out 1, is what all draws depend on. "task" is a
// task of package task and "flags" are those of its command line, as "-name=value" each, without those that the file says
// itself and those that belong to a run on one machine.
//
// Other fields, null, fields and addresses that are there twice, and whatever follows the object are errors.
//
// The machines of a run may each have a file of their own. [Cluster.Hash] is of what must be the same in all of them:
// everything but the addresses, as a machine may know the others by names of its own.
package cluster
