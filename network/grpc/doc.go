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
// they mean (package internal/pki). Then each says hello: who it is, whom it takes the other for,
// the run, the hash of its configuration, how far it is and what it needs. A neighbour with any of
// these wrong is refused; the log says why.
//
// # Frames
//
// What goes over a stream are frames of 48 bytes and a payload, with a checksum. All but data and
// hello are tiny, and repeated by each heartbeat.
//
//	hello   opens the stream in each direction
//	data    the vector of one exchange: the only frame whose size depends on the problem
//	ping    how many exchanges the sender has put on the stream
//	ask     the same, and where to begin to send again
//	done    the sender has finished, and up to how many edges away all others have
//	fail    the run has failed: which agent, and why
//
// # Faults
//
// Exchanges are numbered. A neighbour is at most one ahead, because it needs this agent's vector to
// go on, so two are held on arrival. What comes again, damaged, out of order or too early is
// dropped, and what was lost is asked for again. Each agent keeps the vectors that it sent last. One
// that comes back from a checkpoint is sent what it has missed, as fast as it goes on itself, and
// what it sends again is compared with what came first: other numbers are an error, [ErrConflict].
//
// If what it needs is no longer kept, its neighbour has to go back as well: Mix returns a
// [network.RollbackError], the caller restores an earlier checkpoint and calls Rewind. That may go
// on from neighbour to neighbour and ends at the start of the run at the latest; the numbers stay
// the same. Agents whose checkpoints are of the same exchanges meet at the newest that all have.
//
// An agent that has finished calls Drain, which waits until all have. No neighbour leaves before an agent has kept that
// (Config.AllFinished), so that one that is lost at the very end either finds them when it comes back or knows that it
// need not.
//
// # Gathering
//
// Gather, for figures of the whole run, is a number of such exchanges: the rows of all agents flood the graph, from
// neighbour to neighbour, in as many steps as its diameter. All that is said above holds for them too. Each
// vector says what it is for, so that an agent that mixes while a neighbour gathers is an error.
package grpc
