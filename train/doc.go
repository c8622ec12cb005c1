// Package train runs a method on the agents of a problem: the loop, evaluation, records and checkpoints.
//
// [Run] runs all agents of a [Problem] that are in this process, stops them every few iterations, evaluates (outside the timed
// part) and returns a [Result]. [Exact] computes what the methods approximate; [Problem.Curvature] finds, before a run, which steps
// are stable; [Refit] turns the hyperparameters that a run found into a model.
//
// Of the files of a run folder, see package runs, Run writes metrics.jsonl and the checkpoints. Resuming from a checkpoint gives
// the same bits as not stopping.
package train
