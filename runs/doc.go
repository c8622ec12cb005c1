// Package runs reads and writes run folders: the files of a run, the Go types of their contents,
// and the differences of two runs.
//
// A run folder holds
//
//	config.json    [Config]: the settings of the run, with all defaults
//	metrics.jsonl  [Record]: one line for each evaluation
//	summary.json   [Summary]: how the run ended
//	membership.jsonl  the changes of who took part, where there were any: a line of package membership each
//	lambda.npy     the hyperparameters, averaged over the agents
//	omega.npy      the model that the agents found together at them
//	lambda.csv     the same hyperparameters by name, where they have names: a [Penalty] a line
//	setup.json     [Setup]: what the agents found together as they loaded their data, where they did
//	model...       the same model with all that it takes to predict by it, where the data are tables: package modelfile has the formats
//	agent.json     [Membership]: the run and the number of an agent that was a process of its own
//	SHA256SUMS     the digests of the files above, by which who reads them knows that they are what was written
//	checkpoint...  the state from which the run can go on; package train writes it and has its format, with a digest in it; the last three are kept
//
// While agents run as processes of one machine, the folder of their run has a [ClusterConfig]
// instead, and their folders; where they have failed, a [ClusterSummary].
//
// Names in JSON do not change; new ones may be added. Numbers are written so that they read back
// with the same bits.
package runs
