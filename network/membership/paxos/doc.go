// Package paxos has the members of an epoch decide who is in the next one.
//
// A [Node] is one agent's part in it: a state machine that is handed messages and the time, and
// that returns messages to be sent. It knows no network, no files and no clock; what it must not
// forget goes through [Records]. node.go takes messages in; acceptor.go promises and votes;
// proposer.go has ballots of its own; change.go makes the change that is proposed, stragglers.go
// finds slow members for it; justify.go has others check that it follows from the answers;
// learner.go takes in what is decided; notary.go signs, and finds who signs two things.
//
// # What is decided
//
// The members of epoch e decide the [membership.Change] that begins epoch e+1 by single-decree
// Paxos (Lamport: "The Part-Time Parliament", ACM TOCS 16(2), 1998), one instance for each epoch. A
// change needs the votes of a quorum of the members of epoch e. A quorum is more than half of the
// roster, so any two have an agent in common, which votes for a second change only if it is the
// first one. A member votes twice: for the change that a proposer shows to follow from the promises
// of a quorum, and again when it is shown the first votes of a quorum. With the second votes of a
// quorum the change is decided, and has them with it, as its proof. At most one change is ever
// decided for an epoch, whatever is lost, late or repeated on the way, whoever stops and comes
// back, and wherever the network falls apart. Where no quorum meets, nothing is decided and all
// wait. An agent whose disk is lost as a change is decided has forgotten its vote: with a quorum of
// q of n agents, any two quorums have 2q−n in common, and at most 2q−n−1 agents may lose their
// disks in one epoch, or lie.
//
// # How
//
// A member sends a Report to all when it has received nothing from a neighbour for too long, or has
// waited too long for what a neighbour computes. An agent that is no member and asks to come in
// reports too. The members that know of a reason wait a while, the lowest number the least, and
// propose: Prepare, which all agents in reach answer with a Promise, their checkpoints and their
// observations of neighbours. The answers make the change. Its members are the agents that
// answered, as far as edges join them, without a member that all its neighbours find too slow. Its
// iteration is the iteration of the newest checkpoint which all members that stay have. Then
// Accept, Accepted, Confirm, Confirmed, Decided. Proposers that disturb each other back off for
// random times.
//
// A member that has promised stands still for a while ([Node.Held]), so that members have a
// checkpoint in common. The checkpoints that it has named stay on its disk until no change can be
// decided any more that begins with them ([Vote].Points).
//
// A member without a checkpoint, as its disk is lost or damaged, says so ([Node.SetLost]), and the
// next change has it begin with the state of a neighbour, as an agent that comes in
// (membership.Change.Lost). It keeps its vote meanwhile: a quorum may need it.
//
// An agent that knows that all members have finished is sealed ([Node.Seal]): no change that lets
// an agent in gets its vote, or is made of its answer, unless the change had a vote before and so
// may have been decided. It proposes nothing of its own, and gives up what it has asked for
// promises for.
//
// # Why no library
//
// go.etcd.io/raft and hashicorp/raft decide by a majority. Here the quorum may lie above it (6 of
// 10), so that more disks may be lost than a majority stands. Ballots flood from neighbour to
// neighbour, as not every agent can reach every other, and members stand still after a promise.
// What a library would save is ballots, votes and the catching up of learners, some 350 lines; its
// storage and its loop of readiness take some 220.
//
// # Members that lie
//
// All messages are signed by the key of the certificate of the agent that they are from ([Notary]),
// for one run, and who has not verified one neither counts it nor passes it on. What a member that
// lies can do is bounded by what the others check before they vote:
//
//   - A change follows, to the letter of its reasons, from the promises of a quorum that come with
//     it, or is the one that may have been decided. Two changes in one ballot, of which a proposer
//     shows some members one and others another, do not both get the first votes of a quorum.
//   - A neighbour that a member hears, and that has answered the ballot or may still do so, is not
//     left out with its vote, but as slow if it finds it so too.
//   - Two votes of one member in one ballot prove that it lies. Who sees them tells all; the next
//     change leaves it out for good, and has the proof.
//   - An agent that has left, or lost its state, three times since the newest checkpoint in common
//     comes in after another one, unless the members cannot go on without it: iterations are done
//     whoever comes and goes.
//   - A ballot's number is no more than a million above the known ones, so that the numbers do not
//     end, and the ballots of one proposer have others stand still for half of the time at most. An
//     attempt ends when members refuse without which there is no quorum.
//
// So with fewer liars than 2q−n nothing is decided twice, and nothing that no quorum has voted for.
// With n−q liars or fewer the others can still decide, unless honest members are absent too. A liar
// can be absent or slow, can cut its own edges, say that it has no checkpoint or an old one only,
// and have the changes of its own ballots leave out a member that no neighbour which votes hears.
package paxos
