package experiment

import (
	"flag"

	"dsbo"
	"dsbo/algo"
	"dsbo/data"
	"dsbo/experiment/candidates"
	"dsbo/experiment/site"
	"dsbo/models"
	"dsbo/network"
	"dsbo/runs"
	"dsbo/train"
)

// A Task is a data set and a model, with the flags that choose them. [Main] makes a program of one
// task, and package command of several. Fields after Load are optional.
type Task struct {
	// Name is the task's verb and the beginning of its run folders' names.
	Name string
	// About describes the task, for the help. Its first line alone is in the list of verbs, such as
	// "tune the penalties of a model".
	About string
	// Flags adds the task's own flags to f, and sets the variables behind them to their defaults.
	Flags func(f *flag.FlagSet)
	// Load returns the data of this process's agents, and the model. A process has no examples of
	// other agents. Errors that another choice of flags avoids match dsbo.ErrConfig.
	Load func(a Agents) (data.Task, models.Model, error)

	// Example has the flags of a short command line, where it needs some of the task's.
	Example string
	// First names up to six of the task's own flags, which its help shows on the first page.
	First []string
	// Presets are settings that -preset names beside "tuned", which every task has and is
	// the default.
	Presets []Preset
	// TestFlag is the flag that sets aside the test examples of a verdict; "": none.
	TestFlag string
	// Preset returns the name of the preset for the chosen flags, "" for "tuned". It is called
	// after the flags are read.
	Preset func() string
	// Check returns an error that matches dsbo.ErrConfig for the first flag whose value cannot
	// work. Nothing is loaded before it.
	Check func() error
	// LocalFlags names the flags that may differ between agents: all others are the same for all
	// agents of a run.
	LocalFlags []string
	// Agents returns the number of agents for which there are data, where -agents is not given;
	// 0: any. It fails with dsbo.ErrConfig where that is in doubt.
	Agents func() (int, error)
	// Fingerprint returns a digest of the files of the agents in a.Local before the agents meet.
	// The masks of sums depend on it, and the exchange refuses an agent that comes back with
	// another one. It is required if Load exchanges with other agents; otherwise the loaded data
	// are the fingerprint.
	Fingerprint func(a Agents) ([]byte, error)
	// Describe returns the settings that become "problem" in config.json, which must be the same
	// for a resume, and a line for people. Both are the same in all processes of a run. Without it
	// they are the task's flags, and the lengths of x and y.
	Describe func(t data.Task, m models.Model) (settings map[string]any, line string)
	// Start returns the start of x and of y on all agents, the same in all processes, after Load. A
	// nil x starts at -x0, or at the start that the method finds; a nil y at the model's start.
	Start func() (x, y []float64)
	// Sites returns, after Load, the results to find for agents that are sites.
	Sites func() Sites
	// SiteFlags returns, before Load, the most that Sites may return after it.
	SiteFlags func() Sites
	// AskSite reports the needs of Load that the table of a.Local's agent shows to a.Need: columns,
	// rows, and whether words and classes are named. Nothing is exchanged.
	AskSite func(a Agents) error
	// Card returns how the tables of the run were read, after Load; nil: there are none, or nothing
	// is found together.
	Card func() *runs.Card
	// CrossFit returns, after Load, the choice of penalties that differ from feature to feature, at
	// the end of the run or before its iterations; nil: none.
	CrossFit func() *CrossFit
	// Finish writes further results of a run beside lambda.npy and omega.npy. It is called in all
	// processes of a run, after these two files are written.
	Finish func(f FinishedRun) error
	// Ending returns the traffic of Finish without differential privacy, after Load, for plans.
	Ending func() site.Ending
}

// Sites is the results to find for agents that are sites with examples, and test examples, of their
// own.
type Sites struct {
	// Compare makes the run find models of each site alone, and compare them with the joint one:
	// all sites then see the test losses and accuracies of single sites.
	Compare bool
	// Exchange lets each site's own model leave it then, to be tested on the other sites' test
	// examples.
	Exchange bool
}

// sites returns the results to find for sites.
func (t *Task) sites() (s Sites) {
	if t.Sites != nil {
		s = t.Sites()
	}
	return s
}

// Agents are the agents to load a task for.
type Agents struct {
	N     int   // number of agents in the run: the task has a shard for each
	Start int   // number of agents at the start, whose sums Collective finds: less than N where agents join the run
	Local []int // numbers of the agents in this process, ascending; other agents' shards must be
	// empty
	Seed uint64 // seed of all that is random in the data
	// Numbers are of the files of all agents, where -agents lists them; nil: it does not.
	Numbers []int
	// Own is true if this process belongs to one agent, on a machine of its own: a file that is not
	// named by agent is that agent's.
	Own bool
	// Private is true if the run has differential privacy: Load's result for a row may then depend
	// on that row, flags and Seed alone, and whether it trains, validates or tests on its place
	// alone. Collective refuses all sums and texts.
	Private bool
	// Collective finds sums and texts of all agents together during Load. All processes make the
	// same calls: a call may depend only on flags, N, Seed and earlier results. A task that uses it
	// has a Fingerprint.
	Collective network.Collective
	// Need receives each need of an agent's site here, before anything is computed from it, unless
	// nil.
	Need site.Need
	// Log shows a line about the data, such as rows left out; nil: nobody sees it.
	Log func(format string, args ...any)
}

// FinishedRun is the results of a run, for a task's Finish.
type FinishedRun struct {
	Folder     runs.Folder        // of the run
	Writes     bool               // whether this process writes to the folder
	X, Y       []float64          // hyperparameters and model that the run keeps
	Collective network.Collective // of all agents, as at the start
	// Note adds a sentence for people to the verdict, in the terminal and on the page.
	Note func(format string, args ...any)
	// KeptGain returns the expected gain of a model that is kept in place of the judged one, solved
	// for with times as many rows, and adds it to the verdict; 0: unknown.
	KeptGain func(times float64) runs.Number
	// Solve returns the solution of the lower problem of a model on other data of the agents in
	// this process, at x. All processes call it.
	Solve func(t data.Task, m models.Model, x []float64) (LowerSolution, error)
	// Refit returns the model of other data, with times as many training examples as there are in
	// Task.CrossFit, by the structures of penalties that the run keeps, whose penalties follow from
	// the data; nil of a run that has chosen none. X are log-penalties of features then, and Y is
	// the linear model of all folds' examples.
	Refit func(t data.Task, times float64) (train.Fit, error)
	// Network is the network that the run keeps in place of the linear model, with one penalty;
	// nil: none.
	Network *models.MLP
	// Parts are the network's, or the lasso's, models, each without one of the folds; nil for other
	// models.
	Parts [][]float64
	Lasso *runs.Lasso // of the model, once it is refitted; nil: it is none
	// Levels are the sites' levels in the kept linear model, whose common part is Y.
	Levels candidates.Levels
}

// LowerSolution is the model that solves a lower problem, and its share of right answers on test
// examples; unknown where there are none.
type LowerSolution struct {
	Y            []float64
	TestAccuracy runs.Number
}

// A Preset is a named set of defaults for -preset: a method, its parameters, and a few settings of
// the run.
type Preset struct {
	Name string // of -preset
	// values of the task's flag -model that it is made for, the first of them the default with it;
	// nil: any
	Models []string
	DType  string // the default of -dtype; "": float32
	Wire   string // the default of -wire; "": float64
	// Method has the method's parameters. Schedules among them may be c/L, c*L or auto, which
	// follow the curvature L at the start, as beta, gamma and lg do if they are not set.
	Method algo.Method
	K      int // outer iterations
	// EvalEvery is the default of -eval-every, 0 for its own.
	EvalEvery int
	Patience  int                  // the default of -patience
	X0        float64              // start of every entry of x, for methods that do not search for one
	Batch     int                  // the default of -batch
	Matrix    dsbo.CurvatureMatrix // the default of -curvature with the preset's own method
	// Flags are the defaults of other flags, of the run and of its task, by their names: a preset
	// that follows a publication has its data and its end too.
	Flags map[string]string
}

// A CrossFit is a task's part of the choice of penalties that differ from feature to feature
// (package candidates). The problem of the run is a [models.Folds].
type CrossFit struct {
	All      data.Task         // the training examples of all folds, once each
	Blocks   candidates.Blocks // of features; the zero value: none are named
	Lasso    *candidates.Lasso // asked for; nil: none is
	Variance bool              // losses are half of squares, and count in units of the residual variance
	Networks []models.MLP      // rivals of the linear model, the smallest first; nil: none
	// Begin returns the model of a run that starts at λ, one a feature, where structures are found
	// before the iterations; nil: they are found after them, of a model of one penalty.
	Begin func(lambda []float64) (models.Model, error)
	// Levels is the strategy for the sites' own levels, in structures found after the iterations.
	// Validation examples then have the column [models.LevelWeights].
	Levels candidates.Levels

	alone train.Problem // of models of all examples with one level
}
