// Package runs reads and writes run folders: their files, the types of what is in them, and in what two runs differ.
//
// A run folder holds
//
//	config.json    [Config]: what was asked for, with all defaults
//	metrics.jsonl  [Record]: one line for each evaluation
//	summary.json   [Summary]: how the run ended
//	lambda.npy     the hyperparameters, averaged over the agents
//	omega.npy      the model that the agents found together at them
//	agent.json     [Membership], of an agent that ran on its own
//	checkpoint...  the state from which the run can go on, in the format of package train
//
// The folder of a series of runs has a [SeriesConfig] and a [SeriesSummary] instead, and the folders of its runs.
//
// JSON names stay; new ones may come. Numbers are written so that they read back with the same bits.
package runs
