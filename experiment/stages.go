package experiment

import (
	"io"

	"dsbo"
	"dsbo/algo"
	"dsbo/runs"
)

// runFiles is the run folder of a run, from its choice to what a failure leaves.
type runFiles struct {
	*runner
	folder     runs.Folder
	mode       runs.Mode
	folderOpen bool // whether the folder is made ready
	// keeps other processes out of the folder; nil before it is chosen, and where another
	// process leads
	lock io.Closer
	held *runs.HeldCheckpoints // checkpoints that stay; nil: none
}

// A loader loads the shards of the agents that are here, and finds what all sites have to
// find together.
type loader struct {
	*runner
	loaded loaded
}

// A poser makes the problem of what was loaded: oracles, the matrix of their products, and
// the start.
type poser struct {
	*runner
	problem problem
	startX  []float64 // start of x on all agents
}

// A stepChooser fills in what a method leaves open: steps that follow the curvature, and its start.
type stepChooser struct {
	*runner
	method    algo.Method
	lmax      float64 // the largest curvature of an agent at the start; 0 where no step follows it
	warnings  []string
	stepsSent dsbo.Traffic // what all agents have sent to choose the steps
}

// A finisher finds the models at the end of a run, keeps one, and writes what the run leaves.
type finisher struct {
	*runner
	iterationsOver bool // whether the iterations are over, and the models are being found
}

// siteModels compare what each site finds alone with the models of all.
type siteModels struct{ *runner }

// An account is the configuration and the summary of a run.
type account struct {
	*runner
	summary runs.Summary
}

// newRunner returns a runner whose stages know it.
func newRunner(j *Job, l Layout) *runner {
	r := &runner{Job: j, layout: l}
	r.files.runner, r.data.runner, r.poser.runner, r.steps.runner = r, r, r, r
	r.end.runner, r.sites.runner, r.account.runner = r, r, r
	return r
}
