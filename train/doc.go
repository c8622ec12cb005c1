// Package train runs a method on the agents of a problem: the loop, evaluation, records
// and checkpoints.
//
// [Run] runs all agents of a [Problem] that are in this process, stops them every few iterations,
// evaluates (outside the timed part) and returns a [Result]. [Problem.Solver] finds what the
// methods approximate (package exact), which is the model to take home, too; [Problem.Curvature]
// finds, before a run, which steps are stable.
//
// Of the files of a run folder (package runs), Run writes metrics.jsonl and the checkpoints.
// Resuming from a checkpoint gives the same bits as not stopping.
//
// What leaves an agent outside of iterations is its part of exact averages and of largest numbers
// (network.Group): losses and counts, and for exact solutions gradients, products with
// Hessians and diagonals of them. Whether agents have a variable with the same bits they find from
// the largest and the least of its digests. Small records of usage and the agreement to stop
// are gathered.
//
// Members of a run may change ([Config.Membership], members.go): at each change Run makes the
// agents anew, with states that the method re-forms, and exact values belong to the members. Where
// agents are in processes, each begins an epoch from its checkpoint of the one before, and one that
// comes in from what a neighbour hands over (handover.go).
//
// The loop is in run.go, and what it holds in runner.go; stepper.go and agent.go run the agents
// from one evaluation to the next; evaluate.go makes records, of what agreement.go, values.go,
// score.go and usage.go find; checkpoint.go is the file that save.go writes and resume.go goes on
// from; share.go makes problems of models, and validate.go checks settings. What depends on where
// the agents are is a layout (group.go; layout.go chooses one), with a file for each of the three:
// inprocess.go, ranks.go (MPI) and restartable.go (gRPC).
//
// # Why no library
//
// Loops of training libraries step an optimizer on one loss. This one alternates exchanges,
// evaluates the bilevel problem exactly, and must end with the same bits after crashes, changes of
// members and on any number of processes, for which the state of all agents is its own.
package train
