// Package register decides which session is next. It is pure: values in, values out.
//
// A session has a number that was never used, members, and a [Point] to begin with. An agent
// promises a number ([State.Promise]), on its disk, before it answers a proposal, and takes part in
// no session below from then on. Whoever has the answers of a quorum sends them to all, and all
// decide alike ([Decide]). A session does nothing before all of its members have begun it
// ([State.Begin]). What follows:
//
//   - Two sessions never compute at once: any two quorums share an agent, which is in one of them.
//   - A line of the membership log with which a session computed is in the log of each later one:
//     an agent that has begun no session, where others have, is fresh (it is new, or has lost its
//     disk), and counts towards no quorum.
//   - One result at most becomes final: a result that a quorum has is in the answers of each later
//     one, and is taken over.
//   - No two sessions have one id: it is a digest of all answers, each of which has a key that its
//     agent drew for this number. So nothing that is named by an id is used twice.
//
// That is so whatever crashes, is cut or loses its disk, as far as each state is on a disk before
// what follows from it is sent. Numbers: [State.Next]. Answers of others are checked and verified
// before they are used ([Rule.Verify]). decide.go has the rule, plan.go what follows
// for given members, and the line of the log.
package register
