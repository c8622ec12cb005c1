// Package grpc exchanges vectors between agents that are processes, on one machine or on many.
//
// [Open] starts one agent's end, a [Mixer]: it is the [network.Team] of this process, which has this one agent. All agents
// give the same bits as those of network.Local, and the run survives the loss of connections and of agents. The import is
// best named:
//
//	import dsbogrpc "dsbo/network/grpc"
//
// # Who talks to whom
//
// Each edge of the graph is one gRPC stream in both directions. The agent with the lower number
// connects, the other one listens; after the loss of a connection the first tries again.
//
// With certificates, the rule between machines, connections are TLS 1.3, and both sides check that
// the other one's certificate is signed by the run's authority, is valid, and is that of the agent
// they mean (package pki). Then each says hello: who it is, whom it takes the other for, the run, the hash of its
// configuration, the program that it is, how far it is and what it needs. A neighbour with any of these wrong is refused;
// the log says why. Agents whose kernels or architectures differ, or the versions of their programs as far as these are
// known, are not in one run.
//
// # Frames
//
// What goes over a stream are frames of 24 bytes and a payload. All but vectors and hellos are tiny.
//
//	hello   opens the stream in each direction
//	vector  that of one exchange: the only frame whose size depends on the problem
//	alive   each heartbeat, with up to how many edges away all agents have finished
//	resend  the sender went back to an earlier exchange: its neighbour begins again from there
//	fail    the run has failed: which agent, and why
//
// # Who sends when
//
// Exchanges are numbered from 0, and in each an agent sends one vector to every neighbour, and sums when all of theirs are
// here. A vector is sent when the receiver has room for it. It holds two, that of its own exchange and of the next one, and
// is at exchange k at least once its vector of exchange k−1 has come: that is the sender's credit. What is sent comes out of
// a window of the vectors that an agent sent last, which it keeps for neighbours that have lost them.
//
// # What happens on loss
//
// A connection: a stream brings frames once, whole and in order, or it breaks, and the neighbours make another one. In its
// hellos either side says how many vectors it has sent and which it needs next; the other one sends from there on.
//
// An agent: it comes back from a checkpoint, and is sent what it has missed as fast as it goes on itself. What it sends again
// is compared with what came first, and dropped; other numbers are an error, [ErrConflict].
//
// What is needed and no longer kept: the neighbour that should send it has to go back as well. Its Mix returns a
// [network.RollbackError], the caller restores an earlier checkpoint and calls Rewind, which has its neighbours begin again
// from there (resend); of what was on its way to it, it takes what comes next and drops the rest. That may go on from
// neighbour to neighbour and ends at the start of the run at the latest; the numbers stay the same. Agents whose
// checkpoints are of the same exchanges meet at the newest that all have.
//
// A neighbour for good: after Config.PeerTimeout without a sign of life the run ends with a [network.SilentError]. An agent
// that fails ends it for all others with a [network.EndedError].
//
// The end: an agent that has finished calls Drain, which waits until all have. With each heartbeat it says its radius: r+1 if
// it knows that all agents up to r edges away have finished, which is one more than the least radius of its neighbours, and
// 0 before it has finished itself. No neighbour leaves before an agent has recorded that all have (Config.AllFinished), so
// that one that is lost at the very end either finds them when it comes back or knows that it need not.
//
// # Gathering
//
// Gather, for figures of the whole run, is a number of such exchanges: the rows of all agents flood the graph, from
// neighbour to neighbour, in as many steps as its diameter. All that is said above holds for them too. Each
// vector says what it is for, so that an agent that mixes while a neighbour gathers is an error.
package grpc
