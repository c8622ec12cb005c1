// Package session runs one agent of a run whose agents are processes, on one machine or on many: it
// meets the others, and exchanges vectors with them in sessions.
//
// # Sessions
//
// A run is a chain of sessions. A session has a number that was never used, members, a point (a
// checkpoint of the run) to begin with, and an id that nobody could know before. In a session all
// members take part in every exchange. Any failure ends it for all ([register.Over]): the agents
// meet, the register (package register) decides the members, and the next session begins with the
// newest checkpoint that its members have in common. Iterations follow from a checkpoint and the
// members, so a run has the bits of an undisturbed run, or of the replay of its membership log.
//
// [Open] starts an agent. [Agent.Next] returns the next [Session] in which it takes part, which is
// the [network.Team] of this process. [Session.Join] hands the state over to joining members, and
// waits for all; [Session.Save] writes a checkpoint; [Session.Finish] makes the result final.
//
// # Names
//
// A line (neighbours.go) is the way to a neighbour for as long as the agent runs; a conn (conn.go)
// is one stream, after its hellos, and a line has one at a time; an edge (exchange.go) is a
// neighbour in one session. The links (links.go) make conns, and ask their host, the Agent, about
// them.
//
// # How an exchange happens
//
// Exchanges of a session are numbered from 0. In each an agent sends one vector to every neighbour
// (exchange.go) and waits for theirs, so an agent is at most one exchange ahead of a neighbour, and
// two slots a neighbour are enough. A vector that is too long, of another purpose, or not finite
// without its sender's announcement, ends the session, and the log names its sender. mix.go has
// the kinds of exchange.
//
// A broken connection may be remade within Config.Grace without ending the session: the hellos have
// the number of the vector due, and each side sends its last two again, the same bytes.
//
// # Who ends a session
//
// Any member, by a message to all (Agent.endLocked): because a neighbour is silent, is a new
// process, is too slow or sends an impossible frame, or because its own disk fails. tick.go has
// the checks of each heartbeat. Once all members have the result, the session ends at each without
// a word (Agent.sealed).
//
// # How agents meet
//
// Messages of a meeting (flood.go) go from neighbour to neighbour to all agents, over the same
// connections. Each agent announces its presence each heartbeat. The lowest agent present proposes
// a number (meeting.go). An agent that has promised no number as high promises it, on its disk
// (ledger.go), and answers with its register's state (meet.go). The proposer sends the answers of
// all to all, from which each member decides the next session by itself ([register.Decide]).
//
// # Who talks to whom
//
// Each edge of the graph is one gRPC stream in both directions, kept over sessions. The agent with
// the lower number connects, the other one listens; after the loss of a connection the first tries
// again, at once and then less and less often, up to once in two heartbeats. An agent that nobody
// can reach, whose address is "", connects to all neighbours that have one. Two without connect
// over a relay (package relay), which sees their TLS alone. Connections go through the site's
// proxy, if the environment names one ([relay.Dial]). An agent that cannot listen, because its
// port is taken or its name is not known yet, connects to others meanwhile, and tries again.
//
// With certificates, the rule between machines, connections are TLS 1.3, and both sides check that
// the other one's certificate is signed by the run's authority, is valid, and belongs to the agent
// they mean (package pki). Then each sends a hello, as JSON: its own number, the number it expects
// of the other side, the run, the hash of its settings, the form of its vectors, the program that
// it is, its session and the exchange whose vector it needs next. A neighbour with a wrong
// identity, run, setting, form or program is refused, by a status that names the difference. The
// log has each reason of a host once a minute. An agent whose settings or program differ from all
// its neighbours' ends with that as its error, and so does one whose removal, signed by the
// authority, is in a neighbour's hello.
//
// A hello also has the number of its process (Config.Instance). Of two processes of one agent the
// later one is connected; the earlier one ends with a [fencedError].
//
// Certificates may be replaced while the agent runs (Agent.Renew), with another key too unless
// Config.Keys has it: the agent makes its connections again with the new ones. A connection ends
// when a certificate of either side expires.
//
// # Strangers
//
// A connection is a stranger's until its hello is a good one: it has 64 KiB and 10 seconds, and
// there are 64 of them at once, of which the host that has the most gives way (package pki). A
// hello has 4 KiB at most, other frames what their kind allows (frame.go). A neighbour that sends a
// forbidden frame loses its stream, which ends the session, and the log names it.
//
// # Threads
//
//   - The caller's goroutine, one, calls Next, Join, Mix, Save and so on. It owns the
//     session's vectors. An Over ends its waits.
//   - keepPromising writes promises to the disk. Close ends it.
//   - every has heartbeats (Agent.heartbeat). Close ends it.
//   - listen, where the agent has an address: it opens the port, again and again, and serves it; a
//     second one serves the relay where a neighbour connects over it. gRPC has one for each
//     connection.
//   - dial, one for each neighbour that this agent connects to: it makes a stream, runs it, and
//     waits before the next attempt. It owns the back-off.
//   - accept, one for each stream that a neighbour has opened: it checks the hello and runs the
//     stream. awaitHello has one that reads the hello, and ends with the stream.
//   - hearFinal has one that looks for the result on the disk, and OnDiskHang one of the caller's.
//   - receive and transmit, two for each stream: one hands frames to Agent.handle in the order in
//     which they come, the other one sends the frames queued by conn.send.
//     They end with the stream: by either of them, by conn.drop, or when a certificate expires.
//
// Agent.mu guards the agent's state and the vectors of its session, links.mu connections; they are
// locked in this order. Nobody waits for a disk or a connection with one of them. Whoever writes a
// file on which the run depends takes the turn of the ledger first, without a lock, so that no
// promise is made meanwhile.
//
// A new kind of frame gets a number and a bound in frame.go, and a case in Agent.handle; a new
// message to all a subject in flood.go, and a case in Agent.receive.
//
// # Why no library of consensus
//
// Raft or Paxos order a log by messages among all servers. Agents reach their neighbours alone, an
// exchange must not wait for a disk, and the only thing to agree on is the members of the next
// session. A promise by a quorum and a beginning by all are enough for that (package register);
// gRPC carries the frames.
package session
