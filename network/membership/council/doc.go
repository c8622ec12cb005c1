// Package council has the members of an epoch decide who is in the next one.
//
// A [Seat] is one agent's part in it: a state machine that is handed messages and the time, and that gives messages to be sent. It
// knows no network, no files and no clock; what it must not forget goes through [Records].
//
// # What is decided
//
// The members of epoch e decide the [membership.Change] that begins epoch e+1 by single-decree Paxos (Lamport: "The Part-Time
// Parliament", ACM TOCS 16(2), 1998), one instance for each epoch. A change needs the votes of a quorum of the members of epoch e. As a
// quorum is more than half of the roster, any two have an agent in common, who votes for a second change only if it is the first one:
// of one epoch at most one change is ever decided, whatever is lost, late or repeated on the way, whoever stops and comes back, and wherever the
// network falls apart. Where no quorum meets, nothing is decided and all wait. An agent whose disk is lost as a change is decided has forgotten its vote:
// with a quorum of q of n agents, where any two have 2q−n in common, at most 2q−n−1 may lose theirs in one epoch.
//
// # How
//
// A member that has not heard a neighbour for too long says so to all (Report), as does one that has waited too long for what a neighbour
// computes, and an agent that is no member and asks to come in. The members that know of a reason wait a while, the lowest number the least,
// and propose: Prepare, to which all that it reaches answer with a Promise, their checkpoints and what they see of their neighbours. The
// answers make the change: its members are those that answered, as far as edges join them, without a member that all its neighbours find too
// slow; its iteration is that of the newest checkpoint which all have that stay. Then Accept, Accepted, Decided. Proposers that disturb each
// other back off for random times.
//
// A member that has promised stands still for a while ([Seat.Held]), so that members have a checkpoint in common. Those that it has named stay on its
// disk until no change can be decided any more that begins with them ([Vote].Points), so that all that stay have that of the change.
//
// A member that has none all the same, as its disk is lost or damaged, says so ([Seat.Lose]), and the next change has it begin with the state of a
// neighbour, as one that comes in (membership.Change.Lost). It has its vote meanwhile: a quorum may need it.
//
// An agent that knows that all members have finished is sealed ([Seat.Seal]): no change that lets somebody in gets its vote, or is made of its
// answer, unless that had a vote before and so may have been decided.
//
// # What it does not do
//
// Members are taken to follow the protocol; they may stop, and be cut off, at any moment. One that lies in the council can have
// others left out.
package council
