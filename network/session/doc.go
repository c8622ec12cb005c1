// Package session runs one agent of a run whose agents are processes, on one machine or on many: it
// meets the others, and exchanges vectors with them in sessions.
//
// # Sessions
//
// A run is a chain of sessions. A session has a number that was never used, members, a point (a
// checkpoint of the run) to begin with, and an id that nobody could know before. In a session all
// members take part in every exchange. Whatever goes wrong ends it for all ([Over]): the agents
// meet, the register (package register) decides who is in, and the next session begins with the
// newest checkpoint that its members have in common. Iterations follow from a checkpoint and the
// members, so a run has the bits of one that nothing disturbed, or of the replay of its membership
// log.
//
// [Open] starts an agent. [Agent.Next] returns the next [Session] in which it takes part, which is
// the [network.Team] of this process. [Session.Join] hands over what members lack that come in, and
// waits for all; [Session.Save] writes a checkpoint; [Session.Finish] makes the result final.
//
// # How an exchange happens
//
// Exchanges of a session are numbered from 0. In each an agent sends one vector to every neighbour
// (exchange.go) and waits for theirs, so an agent is at most one exchange ahead of a neighbour, and
// two slots a neighbour are enough. A vector that is longer than it must be, of another purpose, or
// not finite though its sender does not tell so, ends the session, and the log names its sender.
// mix.go, gather.go and reduce.go have what agents do in an exchange.
//
// A connection that breaks is made again within Config.Grace without the end of the session: the
// hellos tell which vector is due, and each side sends its last two again, the same bytes.
//
// # Who ends a session
//
// Any member ([Agent.end]), by a message that goes to all: as a neighbour is silent or its process
// is another one, keeps it waiting for too long, sends what cannot be, or as its own disk fails.
// tick.go has what is looked at each heartbeat.
//
// # How agents meet
//
// Messages of a meeting (flood.go) go from neighbour to neighbour to all agents, over the same
// connections. Each agent tells each heartbeat that it is here. The lowest that is here proposes a
// number (meeting.go); who has promised none that is as high promises it, on its disk, and answers
// with all from which the next session follows (clerk.go). The proposer sends the answers of all to
// all, and each member decides by itself ([register.Decide]).
//
// # Threads
//
//   - Who calls Next, Join, Mix, Save and so on: one goroutine, of the caller. It owns the session's
//     vectors. Over ends its waits.
//   - The clerk (Agent.clerk): it writes promises to the disk. Close ends it.
//   - The ticker (Agent.ticker): heartbeats. Close ends it.
//   - Each connection has a reader, which calls handle, and a writer (conn.go). The end of the
//     connection ends both.
//   - Each neighbour that this agent connects to has a goroutine that dials (dial.go). Close ends it.
//   - The server of the others (accept.go). Close ends it.
//
// Agent.mu guards what an agent knows; exchange.mu the vectors of a session. Nobody waits for a disk
// or a connection with one of them. Agent.disk is held while a file is written on which the run
// depends, so that no promise is made meanwhile.
package session
