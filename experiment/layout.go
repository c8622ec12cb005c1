package experiment

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"dsbo"
	"dsbo/internal/wording"
	"dsbo/runs"
)

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
	// round returns the number of the exchange after the last one; 0 where exchanges have none.
	round() int
	// endRun ends this process's part in the run after the job ended with err, and returns the
	// error for the user.
	endRun(ctx context.Context, r *runner, stderr io.Writer, err error) error
}

// inProcess is the layout of a job whose agents are all in this process. The other layouts embed
// it, and inherit what they do not change.
type inProcess struct{}

func (inProcess) ownsFiles() bool { return false }

func (inProcess) leads() bool { return true }

func (inProcess) describe(c *runs.Config) { c.Transport, c.Processes = "local", 1 }

func (l inProcess) join(_ context.Context, r *runner) error { return r.files.chooseFolder(l) }

func (inProcess) awaitFolder(context.Context, *runner) error { return nil }

func (inProcess) attemptAgain(_ context.Context, _ *runner, err error) (bool, error) {
	return false, err
}

func (inProcess) fail(*runner, error) {}

func (inProcess) resumeHint(folder runs.Folder) string {
	return fmt.Sprintf("; -resume -out %s goes on", folder)
}

func (inProcess) round() int { return 0 }

func (inProcess) endRun(_ context.Context, _ *runner, _ io.Writer, err error) error { return err }

// lockFolder chooses the run folder, and keeps other processes out of it until the job ends.
func (r *runFiles) lockFolder() (err error) {
	if r.folder, r.mode, err = r.runFolder(); err != nil {
		return err
	}
	r.lock, err = r.folder.Lock()
	return err
}

// chooseFolder locks the run folder and checks that a run that stands there was made by the same
// layout of processes.
func (r *runFiles) chooseFolder(l Layout) error {
	if err := r.lockFolder(); err != nil {
		return err
	}
	if err := r.folder.Check(r.mode); err != nil {
		return err
	}
	if r.mode == runs.Resume {
		if err := cmp.Or(r.checkFlags(), r.checkOwner(l)); err != nil {
			return err
		}
	}
	return r.folder.RemoveStale()
}

// checkFlags reports a run that is not the one whose flags the command line took over, before the
// folder was locked.
func (r *runFiles) checkFlags() error {
	found, err := r.folder.ReadConfig()
	if err == nil && !slices.Equal(found.Flags, r.resumedFlags) {
		err = fmt.Errorf("another process has replaced the run in %s: the same command resumes that one", r.folder)
	}
	return err
}

// checkOwner reports a folder whose run has its agents elsewhere, or belongs to another agent.
func (r *runFiles) checkOwner(l Layout) error {
	var own runs.Config
	l.describe(&own)
	found, err := r.folder.ReadConfig()
	switch {
	case err != nil:
		return err
	case found.Identity != own.Identity:
		return dsbo.Errorf(dsbo.ErrConfig,
			"%s holds another run than this process's, or that of another agent: -out must name another folder",
			r.folder)
	case found.Transport != own.Transport || found.Processes != own.Processes:
		return dsbo.Errorf(dsbo.ErrConfig,
			"-resume: the run in %s has its agents in %s (-transport %s), here there are %d (-transport %s): they "+
				"must be the same",
			r.folder, wording.Count(found.Processes, "process"), found.Transport, own.Processes, own.Transport)
	}
	return nil
}
