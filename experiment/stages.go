package experiment

import (
	"context"
	"io"
	"time"

	"dsbo/algo"
	"dsbo/data"
	"dsbo/experiment/site"
	"dsbo/models"
	"dsbo/network"
	"dsbo/network/membership"
	"dsbo/runs"
	"dsbo/train"
)

// A Job is one command line of a task.
type Job struct {
	Task     Task // whose data and model it is
	Settings *Settings
	Layout   layout // layout of the agents; nil: the one of -transport
	View     Viewer // nil: a bar and lines on stderr
	// Site receives the run's needs of the site in this process as they become known, unless nil.
	Site site.Need
	Sent *site.Tally // counts what leaves the agent in this process; nil: nothing does

	name    string   // of the command, such as "dsbo mnist"
	presets []Preset // of the task, and the one of all tasks
}

// A Viewer shows how far a job is. Its methods are called by one goroutine at a time.
type Viewer interface {
	Show(p Progress)                // shows how far the job is
	Log(format string, args ...any) // shows a line without numbers of interest
	Note(n Note)                    // shows one with such
	// Record shows an evaluation. text is its line for people, at times after one with the names of
	// the columns.
	Record(r runs.Record, text []string)
	Saved(iteration int) // the checkpoint after an iteration is written
	Stop()               // ends the progress
}

// A Note is something that a job has found out: a line for people, and the same for programs.
type Note struct {
	Text  string // for people
	Name  string // of what it is, such as "model"
	Facts []any  // names and values, one after the other; those that are runs.Number only where they are known
}

// Settings are the flags of a run. Those that config.json states are fields of [runs.Config]; the
// run adds what it finds to them.
type Settings struct {
	runs.Config
	T, N               int           // steps of y and of z
	Numbers            []int         // of the agents' files, where -agents lists them
	Alpha, Beta, Gamma algo.Schedule // steps of x, y and z; of y and z they may follow the curvature
	Set                assignments   // parameters by name
	Engine             string        // "ad" or "gorgonia"
	Memory             float64       // GiB
	Epsilon            float64       // of differential privacy; 0: none
	Delta, Norm        float64       // of it: δ, and the bound of rows
	holdoutNamed       bool          // -holdout names a share, or something else has chosen one

	Out                          string // run folder
	Resume, Force, Quiet, Report bool   // resume; overwrite; no progress; write the page
	Verbose                      bool   // print all that was found
	KeepCheckpoints              bool   // of a finished run too
	Rivals                       bool   // compare the tuned model with others at the end
	Attached                     bool   // end as stdin does
	Membership                   string // path of a log
	ExplainPrivacy               bool   // print what the run would send, and do not run
	ShowData                     bool   // print how tables are read, and do not run
	ExplainModel                 string // of what the losses are, which is printed in place of a run

	given        map[string]bool   // names of the flags that were given
	taskFlags    map[string]any    // values of the task's own flags, by name
	shapingFlags map[string]string // of these but files: all of them may move what the run leaves
	// what of shapingFlags is the program's default, by its paths in checkpointSettings
	defaults     map[string]string
	resumedFlags []string // flags of the resumed run
	resumedK     int      // its K, where -K leaves it open; 0: there is none
}

// A layout is all of a job that depends on where its agents are: all in this process, dealt to
// ranks that start and stop together (-transport mpi), or one in each process, which may be lost
// and come back ([OneAgent]). No other code asks which of these it is.
type layout interface {
	// ownsFiles reports whether this process belongs to one agent, with files of its own.
	ownsFiles() bool
	// leads reports whether this process writes the run folder and shows the run's progress.
	leads() bool
	// describe adds the transport and the processes of the run to config.json.
	describe(c *runs.Config)
	// join joins this process with the other processes, chooses the run folder, and returns the
	// first attempt's beginning.
	join(ctx context.Context, r *run) (beginning, error)
	// awaitFolder waits until all processes may write to the run folder, which is ready.
	awaitFolder(ctx context.Context) error
	// attemptAgain returns the beginning of another attempt after one that ended with err, and true
	// if one is needed; else it returns the error with which the job ends.
	attemptAgain(ctx context.Context, r *run, err error) (next beginning, again bool, end error)
	// fail notifies the other processes that this one cannot continue.
	fail(err error)
	// resumeHint returns the end of an interrupted run's error, with the way to resume it; "" if
	// the caller adds that.
	resumeHint(folder runs.Folder) string
	// save has a file written on which the run depends, and waits until all agents have it that
	// have folders of their own.
	save(ctx context.Context, write func() error) error
	// hasKept reports whether these agents have a file of that name, with the same contents.
	hasKept(name string) bool
	// endRun ends this process's part in the run after the job ended with err, and returns the
	// error for the user of a command.
	endRun(ctx context.Context, command string, stderr io.Writer, err error) error
}

// A run is a job in this process: the values common to its attempts, each of which starts from a
// beginning. The stages of an attempt are functions from value to value: load returns the loaded
// data, pose makes a problem of them, startStructured and findStart find where that starts,
// chooseSteps makes a configuration of package train, iterate runs it, and an ending finds the
// models.
type run struct {
	job      *Job           // without the settings
	settings *Settings      // the job's
	layout   layout         // where the agents are
	graph    *network.Graph // of the roster, as it is at the start
	params   parameters     // the method's parameters
	changes  membership.Log // of membership, as far as files give it
	view     Viewer         // the user's view
	folder   runs.Folder    // of the run
	mode     runs.Mode      // how the folder is begun
	// keeps other processes out of the folder; nil before it is chosen, and where another process
	// leads
	lock       io.Closer
	folderOpen bool    // whether the folder is made ready
	loaded     *loaded // the last loaded data; nil: none
}

// newRun returns a job's run before it has begun.
func newRun(j *Job, l layout) *run { return &run{job: j, settings: j.Settings, layout: l} }

// A beginning is the state from which an attempt starts.
type beginning struct {
	team    network.Team   // nil: all agents are here
	changes membership.Log // of who takes part
	// the checkpoint to resume from; nil: the start, or the only checkpoint of a run in one process
	point *train.Point
	// whether this process's folder has the common results of loading
	setupKept bool
	finished  bool // whether the run in the folder is finished, and this process only waits for
	// other processes
}

// loaded is a task's data and model for the agents of this process.
type loaded struct {
	data     data.Task     // the agents' examples
	model    models.Model  // whose losses they are
	setup    *setup        // its agents' common results
	local    []int         // the agents of this process
	test     data.Examples // the test examples of all, before each agent has its own; see admit
	duration time.Duration // of the load
}

// A setup is the [network.Collective] of a task during Load. It keeps the results for the run
// folder. A process that resumes from a checkpoint reads them there, since other processes do not
// exchange them again.
type setup struct {
	runs.Setup
	exchange network.Collective // nil: all is in Setup already, and in the folder
	next     int                // the next of Found to return without an exchange
	listed   []site.Quantity    // what sums and texts have sent, for a plan
}

// A problem is the bilevel problem of the loaded data, with its descriptions.
type problem struct {
	train.Problem
	config    models.Config    // of its oracles
	model     models.Model     // whose losses they are
	whole     data.Task        // all examples, as they were loaded
	data      data.Task        // without held-out examples, and with rows clipped
	local     []int            // the agents of this process
	setup     *setup           // all agents' common results
	epoch     membership.Epoch // whose members are there at the start; the zero value where they stay the same
	penalties bool             // x is penalties, and the oracles give their part of the Hessian
	meaning   runs.Meaning     // the meaning of x
	startX    []float64        // start of x by the task or the model; nil: -x0 or the method's
	shapeY    []int            // shape of omega.npy
	settings  map[string]any   // the task's part of config.json and of a checkpoint's identity
	line      string           // description for people
	guard     *guard           // limits the agents' answers to a budget; nil: no limit
	notes     []string         // how the start of x was found, where it was with the loaded data
	searched  runs.Usage       // all agents' cost of finding the best constant, if x starts there
	startY    []float64        // its solution, the start of y; nil: y starts at the model's start
}

// A guard limits the answers of this process's agents to a budget.
type guard struct {
	terms  privacyTerms
	bounds map[int][2]rowBound   // of the lower and the upper loss of the agents in this process
	curve  float64               // bound of the eigenvalues of every agent's Hessian without its penalty
	scores map[int]*models.Score // on the agents' test examples
}

// An ending is the results of the iterations and of the stages after them so far. It finds the
// models, keeps one, compares it with the models of single sites, and writes the run folder's
// results.
type ending struct {
	run      *run          // with the settings
	problem  problem       // of the members at the end
	config   train.Config  // of the iterations
	result   *train.Result // of the iterations; nil: they have not begun
	warnings []string      // of the run so far
	watch    modelWatcher  // of the models
	summary  runs.Summary  // so far
	over     bool          // whether the iterations are over
	written  bool          // whether all that was found is in the folder
}

// gatherCounts returns all agents' numbers of examples, for common choices at the start of a run: a
// row of counts for each shard. Shards of agents elsewhere are empty, and the exchange replaces
// their rows. Its label is what people see of it.
func gatherCounts(ctx context.Context, team network.Team, shards []data.Shard,
	count func(data.Shard) []float64) ([][]float64, error) {
	var counts [][]float64
	for _, shard := range shards {
		counts = append(counts, count(shard))
	}
	if team == nil {
		return counts, nil
	}
	network.Label(team, network.Carried{Name: "numbers of rows", Way: network.ByRow, Numbers: len(counts[0])})
	defer network.Label(team)
	return counts, team.Gather(ctx, counts)
}
