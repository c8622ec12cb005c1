package train

// Files of a run folder.
const (
	configFile     = "config.json"
	metricsFile    = "metrics.jsonl"
	checkpointFile = "checkpoint"
	summaryFile    = "summary.json"
	lambdaFile     = "lambda.npy"
	omegaFile      = "omega.npy"
)
