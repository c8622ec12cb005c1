// Package runs reads and writes run folders: the files of a run, the Go types of their contents,
// and the differences of two runs.
//
// A run folder has
//
//	config.json    [Config]: the settings of the run, with all defaults
//	metrics.jsonl  [Record]: one line for each evaluation
//	summary.json   [Summary]: how the run ended
//	membership.jsonl  the changes of members, where there were any
//	lambda.npy     the hyperparameters, averaged over the agents
//	omega.npy      the model at them, found by all agents together
//	lambda.csv     the same hyperparameters by name, where they have names: a [Penalty] a line
//	setup.json     [Setup]: the agents' common findings when they loaded their data
//	model...       the same model as package modelfile writes it, where the data are tables
//	agent.json     [Membership]: the run and the number of an agent that was a process of its own,
//	               once it is done
//	register.json  the promises of such an agent, of package network/register
//	kept...        the agents' common results after the iterations, until the run is over
//	SHA256SUMS     the digests of the files above
//	checkpoint...  the state from which the run can be resumed, of package train; the
//	               last two or three are kept, and the newest of a finished run
//
// While agents run as processes of one machine, the folder of their run has a [ClusterConfig]
// instead, and their folders; where they have failed, a [ClusterSummary].
//
// Names in JSON do not change; new ones may be added. Numbers are written such that reading
// restores their bits.
//
// # Why no tracker of experiments
//
// MLflow, TensorBoard and the like are services, or libraries of Python, that take numbers and keep
// no state. A run folder is files that any program reads, with digests, which a loss of power
// leaves whole, and from which a run is resumed and agents' parts are merged.
package runs
