// Package train runs methods: configuration, the loop, evaluation, records, checkpoints.
//
// [Run] runs all agents of a [Problem] in one process, stops them every few iterations, evaluates
// (outside the timed part) and returns a [Result]. An [Agent] is one agent's loop alone, which does not
// know where the others are. [Exact] computes what the methods approximate; [Curvature] says before a run which steps are stable;
// [Refit] turns the hyperparameters that a run found into a model.
//
// A run folder holds, as far as Run writes it:
//
//	metrics.jsonl   one [Record] a line
//	checkpoint      the newest [checkpoint]: resuming gives the same bits as not stopping
//
// and, written by commands at the end through [Folder], config.json, summary.json, lambda.npy and
// omega.npy. A folder with a summary.json is a finished run.
package train
