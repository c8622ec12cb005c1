// Package grpc exchanges vectors between agents that are processes, on one machine or on many.
//
// [Open] starts one agent's end, a [Mixer]: it is the [network.Team] of this process, which has
// this one agent. All agents give the same bits as network.Local, and the run survives the loss of
// connections and of agents. The import is best named:
//
//	import dsbogrpc "dsbo/network/grpc"
//
// # Who talks to whom
//
// Each edge of the graph is one gRPC stream in both directions. The agent with the lower number
// connects, the other one listens; after the loss of a connection the first tries again. An agent
// that nobody can reach, whose address is "", connects to all neighbours that have one. Two without
// connect over a relay (package relay), which sees their TLS alone.
//
// With certificates, the rule between machines, connections are TLS 1.3, and both sides check that
// the other one's certificate is signed by the run's authority, is valid, and belongs to the agent
// they mean (package pki). Then each says hello: who it is, whom it takes the other for, the run,
// the hash of its configuration, the form of its vectors, the program that it is, its public key of
// masks, how far it is and what it needs. A neighbour with any of these wrong is refused; the log
// says why. Agents whose kernels or architectures differ, or the versions of their programs as far
// as these are known, are not in one run. The version of the protocol may differ by one, if each
// can do all that the other one needs: a hello, of 1 KiB at most, says what that is.
//
// A hello also has the number of its process (Config.Instance). Of two processes of one agent the
// later one is connected; the earlier one ends with a [FencedError].
//
// Certificates may be replaced while the agent runs ([Mixer.Renew]): it makes its connections again
// with the new ones. A connection ends when a certificate of either side expires.
//
// # States
//
// Three machines make the protocol, none of which does input or output itself. The mixer has one
// lock for all of them.
//
// The mixer (Mixer) is at an exchange, its round, and is about one thing (activity): it computes,
// saves, exchanges, asks for keys, or has finished and waits for the others. What ends an exchange
// early is a failure, a change of the members or a rollback (Mixer.interruption), in this order.
//
// An edge (edge) is one neighbour. It has no stream; or one whose ends are in different epochs,
// over which all but vectors goes; or one that carries vectors (edge.carriesVectors). After an
// offence it is refused for a while. Its radius says whether the neighbour has finished, and has
// left for good.
//
// A session (session) is one stream of an edge, from the hellos to its end. One goroutine asks the
// edge for the next frame (edge.nextFrame), another one hands it what comes (edge.handle).
//
// # Messages
//
// A stream carries frames of 24 bytes and a payload. All but vectors, hellos and keys are tiny.
// Each has two numbers, an exchange and a detail. What is due at once is sent in this order, the
// hello first:
//
//	frame    sent                      numbers                   the receiver
//	hello    from both sides            vectors sent, first needed refuses it, or sends from there
//	epoch    after a hello, on Reform  as in a hello             sends if it is in that epoch
//	fail     when the run has failed   the agent, the error      ends the run, and tells others
//	resend   on Rewind                 vectors sent, first needed sends vectors from there on
//	alive    each heartbeat            the round, the radius     notes who holds up the sender
//	key      each known key, once      the agent                 checks it, and passes it on
//	control  by the chamber            none                      hands it to its own chamber
//	ask      until the piece has come  the epoch, its beginning  sends that piece
//	piece    in answer                 its beginning, the length asks for the next one
//	vector   when there is credit      the exchange, its purpose keeps it for the exchange
//
// Where there is a council, a fail is noted and ends nothing.
//
// A vector is in the form of Config.Wire if it is mixed, else numbers as they are or words of a
// sum; it is the only frame whose size depends on the problem.
//
// # Who sends when
//
// Exchanges are numbered from 0, and in each an agent sends one vector to every neighbour, and sums
// when all of theirs are here. What holds on every edge, by the names that the code has for it:
//
//   - Order: a stream brings frames once, whole and in order, or it breaks. The next vector belongs
//     to exchange edge.received, but for those that were on their way when this agent went back,
//     which are dropped (edge.expectsStale).
//   - Credit: the vector of exchange k is sent when the vector of exchange k−1 has come from the
//     receiver (k ≤ edge.credit). So the receiver is at exchange k−1 at least, and has room: two
//     slots, for its own exchange and the next one.
//   - Window: vectors that were sent last are kept for neighbours that have lost them, two at
//     least, which is as far behind as a neighbour can be that has lost a connection alone.
//   - Repetition: what an agent sends again for an exchange has the same bits (digests); other
//     numbers are an error, [ErrConflict]. A vector that nobody has used when its receiver goes
//     back does not count: a process that lied may have sent it, which another one has replaced.
//
// # What happens on loss
//
// A connection: the neighbours make another one. The hellos say how many vectors either side has
// sent and which it needs next, and the other one sends from there on.
//
// An agent: it comes back from a checkpoint, and is sent what it has missed as fast as it goes on
// itself. What it sends again is compared with what came first, and dropped.
//
// What is needed and no longer kept: the neighbour that should send it has to go back as well. Its
// Mix returns a [network.RollbackError], the caller restores an earlier checkpoint and calls
// Rewind, which has its neighbours begin again from there (resend); of what was on its way to it,
// it takes what comes next and drops the rest. That may go on from neighbour to neighbour and ends
// at the start of the run at the latest; the numbers stay the same. Agents whose checkpoints are of
// the same exchanges meet at the newest that all have.
//
// A neighbour for good: after Config.PeerTimeout without a sign of life the run ends with a
// [network.SilentError]. An agent that fails ends it for all others with a [network.EndedError],
// but for processes that have begun since.
//
// The end: an agent that has finished calls Drain, which waits until all have. With each heartbeat
// it says its radius: r+1 if it knows that all agents up to r edges away have finished, which is
// one more than the least radius of its neighbours, and 0 before it has finished itself. No
// neighbour leaves before an agent has recorded that all have (Config.AllFinished), so that one
// that is lost at the very end either finds them when it comes back or knows that it need not. One
// that is lost when it has recorded it, and its neighbours have not, lets them know when it is back
// (Config.Finished). Where there is a council, an agent at radius n lets nobody in any more, and
// records the finish at radius 2n, when all are at n. Before that it does not take the silence of
// all its neighbours for their end: they may have left it out, and go on. It ends by itself then,
// and may be started again.
//
// # Who holds up the run
//
// What counts is the exchange under way, not signs of life. With each heartbeat an agent says what
// it is about, in which exchange, and who holds it up if it waits; one that waits for a neighbour
// which waits itself in an earlier exchange passes on what that says. So all of a chain name its
// end. After Config.SilentAfter the log does; after Config.PeerTimeout the run ends with a
// [network.HoldupError] that names it, but for an agent that says that it computes, which has until
// Config.ComputeTimeout. Where there is a council it leaves that agent out. Each time that an
// exchange has waited for SilentAfter, the streams of neighbours that withhold what is due are
// opened anew: hellos ask for vectors, and keys are sent again. News of who holds up the run says
// by how many agents it has come: by as many as there are, it goes in a circle, and does not count.
// A neighbour that says that it waits for an agent which has sent this one what is due, or at the
// end as much news, is named together with that one. Where there is a council, that neighbour is
// left out for it after eight times Membership.AbsentAfter alone: before, the two can have the edge
// between them cut. New connections, hellos and repetitions do not begin the time anew. What an
// agent says of itself, or of one that is no neighbour, is believed: the error says whose word it
// is.
//
// # Members and strangers that do harm
//
// A connection is a stranger's until its hello is a good one: it has 64 KiB and 10 seconds, and
// there are 64 of them at once, of which the host that has the most gives way (package entrance). A
// hello has 1 KiB at most, other frames what their kind allows, vectors MaxFloats numbers. A
// neighbour that sends a frame which it must not send, or too many that bring nothing new, loses
// its stream and is refused for two heartbeats, then four, up to a minute's worth. Numbers that are
// not finite though their sender does not say so, of another length, for another purpose or in
// contradiction to what came first, end the run with a [network.PeerError]: it names their sender,
// and is exit code 1, as all that others are to blame for, so that supervisors start the agents
// again. Where members change (Config.Membership), the run does not end: the neighbour is refused,
// has to send another vector, and is left out if it does not; a failure belongs to one agent, and
// has it left out at once, where the others are a quorum. A failure is told as what its sender
// says. Texts of others are shown without characters that are not printable; the log takes each
// kind of line ten times at once, then each ten seconds.
//
// docs/faults.md has these promises together with the promises of processes, files and members, and
// the test of each.
//
// # Gathering
//
// Gather, for small figures of the whole run, is a number of such exchanges: the rows of all agents
// flood the graph, from neighbour to neighbour, in as many steps as its diameter. All that is said
// above holds for them too. Each vector says what it is for, so that an agent that mixes while a
// neighbour gathers is an error.
//
// # Averages
//
// Reduce combines whole numbers of b bits of all agents, their sum mod 2^b or the largest, which
// [network.Averager] makes exact averages of; ReduceAll combines several kinds, whose payloads are
// one after the other in a frame. It is one exchange, numbered as all others, with
// all that is said above, in stages along the spanning tree of [network.Matrix.Tree]: an agent
// waits for the words of those below it; sends its parent its own words combined with theirs, and
// all neighbours that are not next to it in the tree a frame without a payload, 24 bytes; waits
// for its parent's words, which are the result; and sends these down. So it takes as many hops as
// twice the tree's height H, and one frame in each direction of each edge. Where all agents of
// depth H are below one child of the root, a sum takes a hop less: that child and the root send
// each other the words of their sides at once, which are the result together. A payload is
// ⌈b·words/8⌉ bytes ([network.PackWords]). Agent i sends Tree.Sends(i) payloads in all, which
// Status counts, one up unless it is the root and one down to each child. Each vector says the
// operation, b and the number of words, and its size is checked: an agent that does anything else
// is an error.
//
// Who holds up a reduction is found as in any exchange, but for two things. A parent is not
// waited for before it has been sent to. A neighbour that is in the same exchange may wait itself
// before it sends, so that what it says of another agent is passed on, and believed of a
// neighbour that has sent to this agent as well, where that is silent.
//
// # Membership
//
// With Config.Membership the agents decide who takes part (package dsbo/network/membership/paxos):
// a member that its neighbours have not heard for AbsentAfter is left out, and comes in again once
// it is there; so is one for which all its neighbours have waited for StragglerDeadline as it
// computes, and it comes in again once it is through with that. Messages of the council go from
// neighbour to neighbour in frames of their own, to all agents with a connection, those that are no
// members too. A member that has promised its vote stands still until the outcome is known. Mix,
// Gather, Reduce and Drain then return a [network.ChangedError]; the caller restores the checkpoint
// with which the epoch begins and calls Reform, from which on exchanges are among the members, at
// their positions. An agent that comes in asks a neighbour for its state (TakeOver), in pieces.
// Without a quorum all wait, and Status says so.
//
// A stream stays through a change: each side says on it which epoch it is in, and vectors are sent
// and taken only where both are in the same one. Masks have the epoch in the name of their streams,
// so that what is exchanged again after a change is hidden by other numbers. Where there is a
// council, PeerTimeout ends no wait for a neighbour but one whose run has diverged; it ends the
// wait of an agent which hears nobody who counts, and of one whose disk does not answer.
//
// # Masks
//
// The words of a sum are masked unless Config.Unmasked is set. Each two agents of the run,
// neighbours or not, share a stream of numbers that nobody else can compute; before a sum, the one
// with the lower number adds it to its words and the other one subtracts it, mod 2^b. In the sum
// over all agents the streams cancel, to the bit; a frame on its own is noise.
//
// Keys. Each agent has an X25519 key for the run. Its private part is HKDF-SHA-256 of the private
// key of the agent's certificate, and of Config.Secret if that is set, under a name with the agent,
// Config.Run and Config.Hash, the program and Config.Fingerprint, which stands for the agent's
// data: an agent that comes back has the same key, and one whose data or program have changed has
// another one. The public part travels in a key frame: 32 bytes, and then a signature (2 bytes for
// its length, about 70 for itself) and the certificate (about 450), with intermediate ones. The
// signature, by the certificate's key, is of a text with the agent, the run, the hash and the
// public key. The first sum has an agent send its own frame to its neighbours. Whoever gets one
// checks the authority, the time, the agent's number and the signature, passes it to all neighbours
// with its own, and sends all that it has on each new stream. A sum waits until the keys of all
// agents are here. Keys take no exchange, so that an agent that comes back gets them wherever the
// others are; one with a certificate that is valid longer takes the place of the one before. A
// neighbour that says hello with another key than before is refused. A key in a frame that is
// refused, or is another one of an agent than before, ends the run with an error that says whose it
// is, and why. Without certificates the key comes from Config.Secret alone and is not signed.
//
// Streams. The X25519 secret of two agents, by HKDF-SHA-256 under a name with the run, the hash,
// the two and the public keys and nonces of all, is the key of AES-128 in counter mode. The counter
// begins at the CBC-MAC, under that key, of a digest of the number of the exchange and of what the
// sum is bound to ([network.Binder]): all sums before it in the epoch and their scales, so that
// masks cancel where all agents were told the same. Else a member on the way could have one agent's
// term be nothing, by a scale or an average that it tells that one alone, and see the term of
// another one. A word takes 2, 4 or 8 bytes, the least that have its b bits, and 8 where several
// kinds travel together, one after the other under one stream.
//
// A stream must hide one vector only. With its key an agent sends a nonce, which is drawn as its
// run folder begins, is signed with the key, and is in the name of the streams of all: a second
// run of the same name has other streams. Exchanges have each number once in an epoch. An agent
// that goes back, or comes back, sends the same words in the same exchange to the bit: before it
// masks words it notes their digest under the name of the stream (Config.MaskFile, 24 bytes a
// sum), and refuses to mask others. One that has lost that file goes on under the nonce that its
// neighbours know, as the first one counts and they pass it back before the first sum; where words
// follow from noise that is lost too, it is refused. A masked sum has a digest of all keys and
// nonces and of what it is bound to in its purpose.
//
// What is hidden. Agents that follow the protocol and put together all that they see and know learn
// of the others' words the sum over these others, and nothing else: each of the others' frames is
// uniformly random but for that. So the vector of an agent stays hidden as long as at least one
// other agent is not with those who look; of two agents, each learns the vector of the other from
// the sum. All this is as good as X25519, HKDF and AES, and as the certificates are.
//
// What is not hidden: the result, which all agents have and which goes down the tree as it is; the
// number of words and bits. The largest, by which Averager agrees on scales, cannot be masked:
// a parent sees the exponent of two above the largest entry, for each block that has a scale, of
// the agents below a child together, which is that child's own if it is a leaf. The vectors of Mix
// and Gather are not masked: Mix shows an agent's vector to its neighbours, Gather to all.
//
// What masks do not do: keep a member from lying. One that sends other words than its own, or
// masks that do not cancel, makes the result wrong, and nobody can tell. Without certificates they
// hide words from those who listen and from members that follow the protocol; but whoever can
// change what goes over a connection can pass off keys of its own as the keys of others, and then
// see their words.
package grpc
