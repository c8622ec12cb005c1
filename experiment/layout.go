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

// inProcess is the layout of a job whose agents are all in this process. The other layouts embed it
// and override parts of it.
type inProcess struct{}

func (inProcess) ownsFiles() bool { return false }

func (inProcess) leads() bool { return true }

func (inProcess) describe(c *runs.Config) { c.Transport, c.Processes = "local", 1 }

func (l inProcess) join(_ context.Context, r *run) (beginning, error) {
	return beginning{changes: r.changes}, r.chooseFolder(l)
}

func (inProcess) awaitFolder(context.Context) error { return nil }

func (inProcess) attemptAgain(_ context.Context, _ *run, err error) (next beginning, again bool, end error) {
	return next, false, err
}

func (inProcess) fail(error) {}

func (inProcess) resumeHint(folder runs.Folder) string {
	return fmt.Sprintf("; -resume -out %s goes on", folder)
}

func (inProcess) save(_ context.Context, write func() error) error { return write() }

func (inProcess) hasKept(string) bool { return false }

func (inProcess) endRun(_ context.Context, _ string, _ io.Writer, err error) error { return err }

// lockFolder chooses the run folder, and keeps other processes out of it until the job ends.
func (r *run) lockFolder() (err error) {
	if r.folder, r.mode, err = r.settings.runFolder(); err != nil {
		return err
	}
	r.lock, err = r.folder.Lock()
	return err
}

// chooseFolder locks the run folder, checks that it suits the mode and, for a resume, that its run
// has the same flags and layout of processes. It removes partial files of a killed process.
func (r *run) chooseFolder(l layout) error {
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
func (r *run) checkFlags() error {
	found, err := r.folder.ReadConfig()
	if err == nil && !slices.Equal(found.Flags, r.settings.resumedFlags) {
		err = fmt.Errorf("another process has replaced the run in %s: the same command resumes that one", r.folder)
	}
	return err
}

// checkOwner returns an error if the run in the folder belongs to another agent, or has its agents
// in another number of processes or another transport. Each process resumes the checkpoints of its
// own agents, so these must be the same.
func (r *run) checkOwner(l layout) error {
	var own runs.Config
	l.describe(&own)
	found, err := r.folder.ReadConfig()
	switch {
	case err != nil:
		return err
	case found.Identity != own.Identity:
		return dsbo.ConfigErrorf(
			"%s holds another run than this process's, or that of another agent: -out must name another folder",
			r.folder)
	case found.Transport != own.Transport || found.Processes != own.Processes:
		return dsbo.ConfigErrorf(
			"-resume: the run in %s has its agents in %s (-transport %s), here there are %d (-transport %s): they "+
				"must be the same",
			r.folder, wording.Count(found.Processes, "process"), found.Transport, own.Processes, own.Transport)
	}
	return nil
}
