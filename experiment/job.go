package experiment

import (
	"context"
	"errors"
	"fmt"
	"io"

	"dsbo"
	"dsbo/experiment/console"
	"dsbo/internal/cli"
	"dsbo/internal/disk"
	"dsbo/internal/wording"
	"dsbo/network"
	"dsbo/network/membership"
	"dsbo/runs"
	"dsbo/runs/report"
	"dsbo/train"
)

// A Job is one command line of a task.
type Job struct {
	Task     Task      // whose data and model it is
	Settings *Settings // by flags
	Layout   Layout    // layout of the agents; nil: the one of -transport
	View     Viewer    // nil: a bar and lines on stderr

	name         string            // of the command, such as "dsbo mnist"
	presets      []Preset          // of the task, and the one of all tasks
	taskFlags    map[string]any    // values of the task's flags, by name
	givenFlags   map[string]bool   // names of the flags that were given
	shapingFlags map[string]string // values of the task's flags but files: all of them may move what the run leaves
	resumedFlags []string          // flags of the run that goes on
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

// onScreen shows a job on a terminal.
type onScreen struct{ *cli.Progress }

// Show shows one bar over all phases.
func (s onScreen) Show(p Progress) { s.Progress.Show(p.Share, p.String()) }

// Log shows a text in lines of 80 columns at most.
func (s onScreen) Log(format string, args ...any) {
	for _, line := range cli.Wrap(fmt.Sprintf(format, args...), cli.Columns) {
		s.Progress.Log("%s", line)
	}
}

// Note shows what is for people.
func (s onScreen) Note(n Note) { s.Log("%s", n.Text) }

// Record shows the line, and its head.
func (s onScreen) Record(_ runs.Record, text []string) {
	for _, line := range text {
		s.Log("%s", line)
	}
}

// Saved shows nothing: a user need not know of checkpoints.
func (onScreen) Saved(int) {}

// Run runs the job: it checks the settings, runs the method, finds the models, and writes the run
// folder, with its page, and the table to stdout. A nil stdout means no page and no table.
func (j *Job) Run(ctx context.Context, stdout, stderr io.Writer) (err error) {
	if j.Settings.ExplainPrivacy {
		plan, err := j.Plan(ctx, 0, nil)
		if err != nil {
			return err
		}
		return plan.Explain(stdout)
	}
	if j.Settings.ExplainModel != "" {
		return j.explainModel(ctx, stdout)
	}
	if j.Settings.Attached {
		var stop context.CancelFunc
		ctx, stop = cli.UntilStdinEnds(ctx)
		defer stop()
	}
	l, err := j.chooseLayout()
	if err != nil {
		return err
	}
	r := newRunner(j, l)
	defer func() {
		if r.files.lock != nil {
			r.files.lock.Close()
		}
		err = l.endRun(ctx, r, stderr, err)
	}()
	return r.run(ctx, stdout, stderr)
}

// printResult writes what the run found.
func (r *account) printResult(w io.Writer) error {
	head := fmt.Sprintf("%s; %v", r.poser.problem.line, r.graph)
	if r.poser.problem.Nonconvex {
		head += "; the model does not say that the lower problem is convex (Modulus), and Φ is at the solutions reached"
	}
	return console.Result(w, &r.summary, head, r.files.folder, r.Settings.Report)
}

// chooseLayout returns the job's layout, else the layout of -transport.
func (j *Job) chooseLayout() (Layout, error) {
	if j.Layout != nil {
		return j.Layout, nil
	}
	start, err := layoutOf(j.Settings.Transport)
	if err != nil {
		return nil, err
	}
	return start()
}

// run runs the method, in as many attempts as it takes, and prints the result, or writes why
// it failed.
func (r *runner) run(ctx context.Context, stdout, stderr io.Writer) (err error) {
	if err = r.prepare(stderr); err != nil {
		return err
	}
	if err = r.layout.join(ctx, r); err != nil {
		return err
	}
	for again := true; again; {
		if !r.finished {
			err = r.attempt(ctx)
		}
		again, err = r.layout.attemptAgain(ctx, r, err)
	}
	r.view.Stop()
	if err != nil {
		r.layout.fail(r, err)
		return r.files.writeFailure(err)
	}
	if !r.layout.leads() {
		return nil
	}
	if err := removeNoise(r.files.folder); err != nil {
		return err
	}
	if !r.Settings.KeepCheckpoints {
		if err := train.Shrink(r.files.folder); err != nil {
			return err
		}
	}
	if r.finished || stdout == nil {
		return nil
	}
	return r.account.printResult(stdout)
}

// A runner is one run of a job, in this process.
type runner struct {
	*Job
	layout     Layout           // where the agents are
	graph      *network.Graph   // of the roster, as it is at the start
	changes    membership.Log   // of who takes part
	finalEpoch membership.Epoch // at the end; the zero value before, and where members stay the same
	team       network.Team     // nil: all agents are here
	params     parameters       // the method's parameters
	view       Viewer           // what the user sees
	pace       *pace            // how fast the run is, for the time left

	// The stages of a run, each of which takes what the stages before it have found.
	files   runFiles
	data    loader      // what was loaded
	poser   poser       // makes the problem of the data
	steps   stepChooser // chooses the method's steps
	end     finisher    // finds the models at the end
	sites   siteModels  // what each site can do alone
	account account     // what the run cost

	// the checkpoint to go on from; nil: the start, or the one checkpoint of a run in one process
	point       *train.Point
	finished    bool          // whether the run in the folder is finished, and this process only waits for others
	drainFailed bool          // finished, and the wait for the other agents failed
	result      *train.Result // of the iterations
}

// prepare checks all settings that can be checked without data and without other processes.
func (r *runner) prepare(stderr io.Writer) (err error) {
	if r.view = r.View; r.view == nil {
		if !r.layout.leads() {
			stderr = io.Discard
		}
		r.view = onScreen{cli.NewProgress(stderr, r.Settings.Quiet)}
	}
	if r.params, r.graph, err = r.resolve(); err != nil {
		return err
	}
	return r.readChanges()
}

// runFolder chooses the run folder. Without -out it is the first free one of the task, the preset
// and the seed in the folder for results, or with -resume the newest of them.
func (j *Job) runFolder() (runs.Folder, runs.Mode, error) {
	s := j.Settings
	mode := runs.ModeOf(s.Resume, s.Force)
	if s.Out != "" {
		return runs.Folder(s.Out), mode, nil
	}
	first, err := runs.InResults(fmt.Sprintf("%s-%s-seed%d", j.Task.Name, s.Preset, s.Seed))
	if err != nil {
		return "", mode, err
	}
	base := string(first)
	name, last := base, base
	for i := 2; mode != runs.Replace; i++ {
		if _, err := disk.Stat(name); err != nil {
			break
		}
		last, name = name, fmt.Sprintf("%s-%d", base, i)
	}
	if mode == runs.Resume {
		name = last
	}
	return runs.Folder(name), mode, nil
}

// checkpoints returns the checkpoints of some agents of this process, the newest first.
func (r *runFiles) checkpoints(agents []int) ([]train.Point, error) {
	points, damaged, err := train.Points(r.folder, agents)
	for _, d := range damaged {
		r.view.Log("checkpoint left out: %v", d)
	}
	return points, err
}

// attempt runs the method from the runner's checkpoint on, and then finds the models.
func (r *runner) attempt(ctx context.Context) error {
	r.result, r.end.iterationsOver, r.account.summary = nil, false, runs.Summary{}
	if err := r.data.load(ctx, r.data.localAgents()); err != nil {
		return err
	}
	if err := r.poser.makeProblem(ctx); err != nil {
		return err
	}
	r.steps.stepsSent = dsbo.Traffic{}
	r.poser.problem.Sent = &r.steps.stepsSent
	if err := r.steps.chooseSteps(ctx); err != nil {
		return err
	}
	r.poser.problem.Sent = &r.account.summary.Traffic.Models // by what follows the run
	cfg := r.trainConfig()
	if err := r.protect(&cfg, cfg.Resume); err != nil {
		return err
	}
	if err := cfg.Validate(); err != nil {
		return err
	}
	if err := r.account.completeConfig(cfg); err != nil {
		return err
	}
	r.steps.showWarnings()
	took := r.data.loaded.duration.Seconds()
	r.view.Note(Note{
		Text: fmt.Sprintf("%s; %v; loaded in %.1f s", r.poser.problem.line, r.graph, took),
		Name: "loaded", Facts: []any{"problem", r.poser.problem.line, "graph", r.graph.Name, "seconds", took},
	})
	if err := r.files.openFolder(ctx); err != nil {
		return err
	}
	err := r.protect(&cfg, !cfg.Resume)
	if err == nil {
		err = r.watch(&cfg)
	}
	if err != nil {
		return err
	}
	if r.result, err = train.Run(ctx, cfg); err != nil {
		return err
	}
	r.account.summary.FloatsFormula = r.account.floatsByFormula()
	if err := r.files.keepMembers(); err != nil {
		return err
	}
	if r.poser.problem.guard != nil {
		return r.end.finishPrivate()
	}
	return r.end.finish(ctx)
}

// protect adds noise to what the agents answer, where there is differential privacy and it is due:
// the folder of a run that goes on has the secrets already.
func (r *runner) protect(cfg *train.Config, due bool) (err error) {
	if g := r.poser.problem.guard; g != nil && due {
		cfg.Problem, err = g.addNoise(cfg.Problem, r.files.folder)
	}
	return err
}

// openFolder makes the run folder ready, once.
func (r *runFiles) openFolder(ctx context.Context) error {
	if r.folderOpen {
		return nil
	}
	if r.layout.leads() {
		if r.Settings.Force {
			if err := removeNoise(r.folder); err != nil {
				return err
			}
		}
		if err := r.folder.Open(r.mode); err != nil {
			return err
		}
		if err := r.folder.WriteConfig(r.Settings.Config); err != nil {
			return err
		}
		if err := r.data.loaded.setup.write(r.folder); err != nil {
			return err
		}
		if len(r.changes) > 0 && !r.layout.ownsFiles() { // of an agent, the council keeps them
			if err := r.folder.WriteChanges(r.changes); err != nil {
				return err
			}
		}
	}
	r.folderOpen = true
	return r.layout.awaitFolder(ctx, r.runner)
}

// trainConfig returns the configuration of the run for package train.
func (r *runner) trainConfig() train.Config {
	s, evaluation := r.Settings, r.Settings.Evaluate
	// all examples, of which iterations take few, cost too much
	if r.poser.problem.Nonconvex && s.Batch > 0 && !r.givenFlags["evaluate"] {
		evaluation = train.EvaluateOff
	}
	return train.Config{
		Problem: r.poser.problem.Problem, W: r.graph.W, Membership: r.changes, Changing: r.layout.ownsFiles(),
		Method: r.steps.method, StartX: r.poser.startX, K: s.Iterations,
		EvalEvery: s.EvalEvery, ExactEach: r.givenFlags["eval-every"], Patience: s.Patience,
		CheckpointEvery: s.CheckpointEvery, Dir: string(r.files.folder),
		Resume: s.Resume || r.point != nil || r.layout.ownsFiles(), Held: r.files.held, From: r.point,
		Settings: map[string]any{"task": r.poser.problem.settings, "seed": s.Seed, "batch": s.Batch, "dtype": s.DType,
			"holdout": s.Holdout, "flags": r.shapingFlags},
		Evaluate: evaluation, Start: train.Start{Curvature: r.steps.lmax, Sent: r.steps.stepsSent},
		DenseLimit: int64(s.Memory * (1 << 30)),
	}
}

// writeFailure writes the summary of a run that ended with an error, if it had begun, and returns
// that error. There is a page where one is wanted and no iteration will follow.
func (r *runFiles) writeFailure(err error) error {
	if r.result == nil || !r.layout.leads() || r.drainFailed {
		return err
	}
	state := runs.StateOf(err)
	if state == runs.Interrupted && !errors.Is(err, train.ErrInterrupted) { // after the iterations
		err = fmt.Errorf("%w after %s, before the models were found", train.ErrInterrupted,
			wording.Count(r.result.Iterations, "iteration"))
	}
	if w := r.folder.WriteSummary(r.account.summarize(state, err)); w != nil {
		return fmt.Errorf("%w; summary: %w", err, w)
	}
	if (state == runs.Diverged || r.end.iterationsOver) && r.Settings.Report && len(r.result.Records) > 0 {
		if _, w := report.WriteRun(string(r.folder)); w != nil {
			return fmt.Errorf("%w; report: %w", err, w)
		}
	}
	if state == runs.Interrupted {
		return fmt.Errorf("%w%s", err, r.layout.resumeHint(r.folder))
	}
	return err
}
