// Package grpc exchanges vectors between agents that are processes, on one machine or on many.
//
// [Open] starts one agent's end. The agents give the same bits as those of network.Local, and the
// run survives the loss of connections and of agents. The import is best named:
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
// # Faults
//
// A stream brings what is sent once, whole and in order, or it breaks, and the neighbours make another one. Exchanges are
// numbered, and each agent keeps the vectors that it sent last: one whose connection was cut, or which comes back from a
// checkpoint, is sent what it has missed, as fast as it goes on itself. What it sends again is compared with what came first:
// other numbers are an error, [ErrConflict].
//
// If what it needs is no longer kept, its neighbour has to go back as well: Mix returns a
// [network.RollbackError], the caller restores an earlier checkpoint and calls Rewind. That may go
// on from neighbour to neighbour and ends at the start of the run at the latest; the numbers stay
// the same. Agents whose checkpoints are of the same exchanges meet at the newest that all have.
//
// An agent that has finished calls Drain, which waits until all have. No neighbour leaves before an agent has recorded
// that (Config.AllFinished), so that one that is lost at the very end either finds them when it comes back or knows that
// it need not.
//
// # Gathering
//
// Gather, for figures of the whole run, is a number of such exchanges: the rows of all agents flood the graph, from
// neighbour to neighbour, in as many steps as its diameter. All that is said above holds for them too. Each
// vector says what it is for, so that an agent that mixes while a neighbour gathers is an error.
package grpc
