// Package train runs a method on the agents of a problem: the loop, evaluation, records and
// checkpoints.
//
// [Run] runs all agents of a [Problem] that are in this process, stops them every few iterations,
// evaluates (outside the timed part) and returns a [Result]. [Problem.Solver] finds the exact
// solution that methods approximate (package exact), which is also the model of a result;
// [Problem.Curvature] bounds the stable steps before a run.
//
// Of the files of a run folder (package runs), Run writes metrics.jsonl and the checkpoints.
// Resuming from a checkpoint gives the same bits as not stopping.
//
// Outside of iterations an agent sends only its part of exact averages and maxima (network.Group):
// losses and counts, and for exact solutions gradients, products with Hessians and their diagonals.
// The largest and the least digest show whether agents have a variable with the same bits. Small
// records of usage and the agreement to stop are gathered.
//
// Members of a run may change ([Config.Membership], members.go): at each change Run makes the
// agents anew, with states that the method re-forms, and exact values belong to the members. With
// an agent in each process, an agent begins an epoch from its checkpoint of the one before, and a
// joining agent from a neighbour's handover (handover.go).
//
// The loop is in run.go, its state in runner.go; stepper.go and agent.go run the agents from one
// evaluation to the next; evaluate.go makes records from agreement.go, values.go, score.go and
// usage.go; checkpoint.go is the file that save.go writes and resume.go reads; share.go makes
// problems of models, and validate.go checks settings. All that depends on the placement of agents
// in processes is in layout.go.
//
// # Why no library
//
// Loops of training libraries step an optimizer on one loss. This one alternates exchanges,
// evaluates the bilevel problem exactly, and must end with the same bits after crashes, changes of
// members and on any number of processes, for which the state of all agents is its own.
package train
