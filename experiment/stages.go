package experiment

import (
	"context"
	"io"
	"time"

	"dsbo"
	"dsbo/algo"
	"dsbo/data"
	"dsbo/experiment/privacy"
	"dsbo/models"
	"dsbo/network"
	"dsbo/network/membership"
	"dsbo/runs"
	"dsbo/train"
)

// A Job is one command line of a task.
type Job struct {
	Task      Task   // whose data and model it is
	*Settings        // by flags
	Layout    Layout // layout of the agents; nil: the one of -transport
	View      Viewer // nil: a bar and lines on stderr

	name         string            // of the command, such as "dsbo mnist"
	presets      []Preset          // of the task, and the one of all tasks
	taskFlags    map[string]any    // values of the task's flags, by name
	givenFlags   map[string]bool   // names of the flags that were given
	shapingFlags map[string]string // values of the task's flags but files: all of them may move what the run leaves
	resumedFlags []string          // flags of the run that goes on
	resumedK     int               // its K, where -K leaves it open; 0: there is none
}

// A Viewer shows how far a job is. Its methods are called by one goroutine at a time.
type Viewer interface {
	Show(p Progress)                // shows how far the job is
	Log(format string, args ...any) // shows a line without numbers of interest
	Note(n Note)                    // shows one with such
	// Record shows an evaluation. text is its line for people, at times after one with the names of
	// the columns.
	Record(r runs.Record, text []string)
	Saved(iteration int) // says that the checkpoint after an iteration is written
	Stop()               // ends the progress
}

// A Note is something that a job has found out: a line for people, and the same for programs.
type Note struct {
	Text  string // for people
	Name  string // of what it is, such as "model"
	Facts []any  // names and values, one after the other; those that are runs.Number only where they are known
}

// Settings are the flags of a run, apart from the task's own. Those that config.json states are
// fields of [runs.Config]; the run adds what it finds to them.
type Settings struct {
	runs.Config
	T, N               int           // steps of y and of z
	Numbers            []int         // of the agents' files, where -agents lists them
	Alpha, Beta, Gamma algo.Schedule // steps of x, y and z; of y and z they may follow the curvature
	Set                assignments   // parameters by name
	Memory             float64       // GiB
	Epsilon            float64       // of differential privacy; 0: none
	heldOut            bool          // -holdout names a share
	Delta, Norm        float64       // of it: δ, and the bound of rows

	Out                          string // run folder
	Resume, Force, Quiet, Report bool   // go on; overwrite; no progress; write the page
	Verbose                      bool   // print all that was found
	KeepCheckpoints              bool   // of a finished run too
	Rivals                       bool   // compare the tuned model with others at the end
	Attached                     bool   // end as stdin does
	Membership                   string // path of a log
	ExplainPrivacy               bool   // print what the run would send, and do not run
	ExplainModel                 format // of what the losses are, which is printed in place of a run
}

// parameters are a method with its parameters, in which steps may follow the curvature.
type parameters struct {
	method  algo.Method // before Init and [algo.Bind]
	unknown []string    // the names of flags that were given for parameters that the method lacks
}

// A Layout is all of a job that depends on where its agents are: all in this process, dealt to
// ranks that start and stop together (-transport mpi), or one in each process, which may be lost
// and come back ([OneAgent]). No other code asks which of these it is.
type Layout interface {
	// ownsFiles reports whether this process belongs to one agent, with files of its own.
	ownsFiles() bool
	// leads reports whether this process writes the run folder and shows the run's progress.
	leads() bool
	// describe adds the transport and the processes of the run to config.json.
	describe(c *runs.Config)
	// join brings this process together with the others, and chooses the run folder and the
	// checkpoint to go on from.
	join(ctx context.Context, r *runner) error
	// awaitFolder waits until all processes may write to the run folder, which is ready.
	awaitFolder(ctx context.Context, r *runner) error
	// attemptAgain reports whether another attempt is needed after one that ended with err. It then
	// has set r's checkpoint for that; otherwise it returns the error with which the job ends.
	attemptAgain(ctx context.Context, r *runner, err error) (bool, error)
	// fail tells the other processes that this one cannot go on.
	fail(r *runner, err error)
	// resumeHint returns the end of an interrupted run's error, which says how to resume it; "" if
	// the caller says that.
	resumeHint(folder runs.Folder) string
	// save has a file written on which the run depends, and waits until all agents have it that
	// have folders of their own.
	save(ctx context.Context, write func() error) error
	// hasKept reports whether these agents have a file of that name, with the same contents.
	hasKept(name string) bool
	// endRun ends this process's part in the run after the job ended with err, and returns the
	// error for the user.
	endRun(ctx context.Context, r *runner, stderr io.Writer, err error) error
}

// The stages of a run in this process, in their order. Each is the stage before it with what it
// finds itself, so that it can use what came before, and nothing that comes after.
type (
	// A base is what a run has before it loads its data.
	base struct {
		*Job
		layout     Layout           // where the agents are
		graph      *network.Graph   // of the roster, as it is at the start
		changes    membership.Log   // of who takes part
		finalEpoch membership.Epoch // at the end; the zero value before, and where members stay the same
		team       network.Team     // nil: all agents are here
		params     parameters       // the method's parameters
		view       Viewer           // what the user sees
		pace       *pace            // how fast the run is, for the time left
		folder     runs.Folder      // of the run
		mode       runs.Mode        // how the folder is begun
		// keeps other processes out of the folder; nil before it is chosen, and where another
		// process leads
		lock io.Closer
		// the checkpoint to go on from; nil: the start, or the one checkpoint of a run in one
		// process
		point *train.Point
		// whether the folder of this process has what all found together as they loaded
		setupKept bool
	}
	// A loader loads the shards of the agents that are here, and finds what all sites have to find
	// together.
	loader struct {
		base
		loaded loaded
	}
	// A poser makes the problem of what was loaded: oracles, the matrix of their products, and the
	// start.
	poser struct {
		loader
		problem problem
	}
	// A stepChooser fills in what a method leaves open: steps that follow the curvature, and its
	// start.
	stepChooser struct {
		poser
		startX    []float64    // start of x on all agents
		method    algo.Method  // whose steps are chosen
		lmax      float64      // the largest curvature of an agent at the start; 0 where no step follows it
		following []string     // the steps that do
		warnings  []string     // of the run so far
		stepsSent dsbo.Traffic // what all agents have sent to choose the steps
	}
	// An account tells what the iterations have found, and what the run cost.
	account struct {
		stepChooser
		result  *train.Result // of the iterations
		summary runs.Summary  // so far
	}
	// A finisher finds the models at the end of a run, keeps one, compares what each site finds
	// alone with it, and writes what the run leaves.
	finisher struct {
		account
		iterationsOver bool // whether the iterations are over, and the models are being found
	}
	// A runner is one run of a job, in all of its stages.
	runner struct {
		finisher
		folderOpen bool // whether the folder is made ready
		finished   bool // whether the run in the folder is finished, and this process only waits for others
		hasResult  bool // whether what the last attempt has found is in the folder
	}
)

// loaded is what a task has loaded for the agents of this process.
type loaded struct {
	data     data.Task     // the agents' examples
	model    models.Model  // whose losses they are
	setup    *setup        // what its agents have found together; nil before the first load
	local    []int         // the agents of this process
	unposed  bool          // whether no problem is made of the data yet
	test     data.Examples // the test examples of all, before each agent has its own; see admit
	notes    []string      // how the start of x was found, where it was with the loaded data
	searched runs.Usage    // what all agents spent to find the best constant, where x starts there
	duration time.Duration // of the load
}

// A setup is the [network.Collective] of a task that is being loaded. It keeps what was found, for
// the run folder; a process that goes on from a checkpoint finds it there, as the others do not
// exchange it again.
type setup struct {
	runs.Setup
	exchange network.Collective // nil: all is in Setup already
	next     int                // the one of Found that comes next, without an exchange
}

// A problem is the bilevel problem of the loaded data, with its descriptions.
type problem struct {
	train.Problem
	data      data.Task      // after held-out examples are taken off, and rows are clipped
	penalties bool           // x is penalties, and the oracles tell their part of the Hessian
	meaning   runs.Meaning   // what x is
	startX    []float64      // start of x, where the task or the model says it; nil: -x0 or what the method finds
	shapeY    []int          // shape of omega.npy
	settings  map[string]any // the task's part of config.json and of what a checkpoint belongs to
	line      string         // description for people
	guard     *guard         // what keeps the agents' answers to a budget; nil: nothing does
}

// A guard keeps what the agents of this process answer to a budget.
type guard struct {
	terms  privacy.Terms
	bounds map[int][2]privacy.Bound // of the lower and the upper loss of the agents in this process
	curve  float64                  // bound of the eigenvalues of every agent's Hessian without its penalty
	scores map[int]*models.Score    // on the agents' test examples
}

// newRunner returns a run of a job whose agents are where a layout says.
func newRunner(j *Job, l Layout) *runner {
	r := new(runner)
	r.Job, r.layout = j, l
	return r
}

// gatherCounts returns the numbers of examples by which agents at the start of a run choose
// together: all tell them to all.
func (r *loader) gatherCounts(ctx context.Context, count func(data.Shard) []float64) ([][]float64, error) {
	counts := make([][]float64, r.Agents)
	for i, shard := range r.loaded.data.Shards[:len(counts)] {
		counts[i] = count(shard)
	}
	if r.team == nil {
		return counts, nil
	}
	return counts, r.team.Gather(ctx, counts)
}
