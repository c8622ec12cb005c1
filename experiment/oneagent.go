package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"

	"dsbo"
	"dsbo/internal/disk"
	"dsbo/network"
	"dsbo/runs"
	"dsbo/train"
)

// OneAgent returns the layout of a job with one agent in this process, which may be lost and come
// back while the others wait for it: its run folder is its own, and it goes on with the run that it
// finds there. identity stands for the run and the agent: a folder with another one is not its. The
// caller closes what open has opened, after the job.
func OneAgent(agent int, identity string, open Opener) Layout {
	return &oneAgent{agent: agent, identity: identity, open: open}
}

func (*oneAgent) ownsFiles() bool { return true }

func (l *oneAgent) describe(c *runs.Config) {
	c.Transport, c.Processes, c.Identity = "grpc", l.agents, l.identity
}

// join opens the exchange where the agent's newest checkpoint stands, with masks for the data that
// it has now.
func (l *oneAgent) join(ctx context.Context, r *runner) error {
	l.agents = r.graph.W.N()
	state, err := l.lockOwnFolder(r)
	if err != nil {
		return err
	}
	from, err := l.chooseCheckpoint(r, math.MaxInt)
	if err != nil {
		return err
	}
	fingerprint, err := r.fingerprint(ctx, l.agent)
	if err != nil {
		return err
	}
	if r.folderOpen = r.point != nil || r.finished; !r.folderOpen {
		if err := l.beginFolder(r, state); err != nil {
			return err
		}
	}
	if err := l.openExchange(ctx, r, from, fingerprint, state == runs.Absent); err != nil {
		return err
	}
	if (len(r.changes) > 0 || l.agent >= l.agents) && !r.finished &&
		(r.point == nil || r.point.Epoch < len(r.changes)) {
		return l.enterEpoch(ctx, r)
	}
	return nil
}

// lockOwnFolder locks the agent's folder, which must be its own or hold no run, reads who takes
// part by it, and returns the state that it was in.
func (l *oneAgent) lockOwnFolder(r *runner) (state runs.State, err error) {
	if err := r.lockFolder(); err != nil {
		return state, err
	}
	if state, err = r.folder.State(); err != nil {
		return state, err
	}
	if state == runs.Absent {
		err = r.folder.Check(r.mode)
	} else {
		err = cmp.Or(r.checkOwner(l), r.folder.CheckResumable())
	}
	if err == nil {
		err = r.folder.RemoveStale()
	}
	if err == nil {
		r.changes, err = r.folder.ReadChanges()
	}
	return state, err
}

// openExchange opens the agent's end of the exchange, of which exchange from is the next. A folder
// that was empty before is again if that fails.
func (l *oneAgent) openExchange(ctx context.Context, r *runner, from int, fingerprint []byte, empty bool) error {
	seat, err := l.newSeat(r)
	if err != nil {
		return err
	}
	longest, err := r.longestVector()
	if err != nil {
		return err
	}
	if r.team, err = l.open(ctx, r.graph, from, fingerprint, seat, longest); err != nil {
		if empty {
			err = errors.Join(err, r.folder.Abandon())
		}
		return err
	}
	var ok bool
	if l.mixer, ok = r.team.(network.Rewinder); !ok {
		return fmt.Errorf("%w: the exchange of agent %d must be one that can go back", dsbo.ErrCapability, l.agent)
	}
	return nil
}

// beginFolder makes the folder of an agent that has no checkpoint the run's, before the exchange
// opens: the council keeps in it what it decides.
func (l *oneAgent) beginFolder(r *runner, state runs.State) error {
	switch {
	case len(r.changes) > 0: // it was left out
		r.mode = runs.Resume
	case state != runs.Absent:
		r.mode = runs.Replace // a run that ended before its first checkpoint
	}
	if err := r.folder.Open(r.mode); err != nil {
		return err
	}
	if state == runs.Absent || r.Privacy != nil { // what it sends is not what it sent before
		if err := disk.Remove(r.folder.Path(runs.MasksFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	r.mode = runs.Resume
	l.describe(&r.Settings.Config)
	return r.folder.WriteConfig(r.Settings.Config)
}

// chooseCheckpoint chooses the newest checkpoint that is not after exchange limit, and returns the
// exchange to go on from. A finished run has nothing left to do but to wait for the others.
func (l *oneAgent) chooseCheckpoint(r *runner, limit int) (int, error) {
	r.point, r.finished = nil, false
	state, err := r.folder.State()
	if err != nil {
		return 0, err
	}
	if state == runs.Finished {
		s, err := r.folder.ReadSummary()
		if err != nil {
			return 0, err
		}
		if r.finished = s.Round <= limit; r.finished {
			return s.Round, nil
		}
	}
	points, err := r.checkpoints([]int{l.agent})
	if err != nil {
		return 0, err
	}
	for k, p := range points {
		if p.Round <= limit && canResumeFrom(r.changes, p, l.agent, r.graph.W.N()) {
			r.point = &points[k]
			return p.Round, nil
		}
	}
	return r.changes.Last(r.graph.W.N()).Round, nil
}

// attemptAgain waits, after the agent's end, for the end of the others, and goes back to an earlier
// checkpoint if a neighbour that came back needs exchanges which this agent no longer holds.
func (l *oneAgent) attemptAgain(ctx context.Context, r *runner, err error) (bool, error) {
	if err == nil {
		r.view.Log("finished; waiting for the other agents")
		err = l.mixer.Drain(ctx)
		r.drainFailed = err != nil
	}
	back := (*network.RollbackError)(nil)
	switch {
	case errors.As(err, new(*network.ChangedError)):
		r.drainFailed = false
		r.resetProblem()
		err := l.enterEpoch(ctx, r)
		return err == nil, err
	case errors.As(err, &back):
	case r.drainFailed && errors.Is(err, context.Canceled):
		return false, fmt.Errorf("%w as it waited for the other agents; it has finished", train.ErrInterrupted)
	default:
		return false, err
	}
	r.drainFailed = false
	r.resetProblem()
	for errors.As(err, &back) { // again if a neighbour that came back meanwhile needs earlier ones
		err = l.goBack(ctx, r, back)
	}
	return err == nil, err
}

// goBack goes back to a checkpoint from before the exchange that a neighbour needs again.
func (l *oneAgent) goBack(ctx context.Context, r *runner, back *network.RollbackError) error {
	from, err := l.chooseCheckpoint(r, back.Round)
	if err != nil {
		return err
	}
	r.view.Note(Note{
		Text: fmt.Sprintf("agent %d needs exchange %d again: going back to exchange %d", back.Neighbour,
			back.Round, from),
		Name: "back to a checkpoint", Facts: []any{"neighbour", back.Neighbour, "needs", back.Round, "to", from},
	})
	if len(r.changes) > 0 && !r.finished && r.point == nil {
		return l.enterEpoch(ctx, r)
	}
	return l.mixer.Rewind(from)
}

// fail ends the exchange of all, unless this agent may be started again while the others wait for
// it: it was stopped, or could not write its files.
func (l *oneAgent) fail(r *runner, err error) {
	path := (*fs.PathError)(nil)
	returns := errors.Is(err, context.Canceled) || errors.As(err, &path)
	if !returns || errors.Is(err, dsbo.ErrConfig) {
		r.team.Fail(err)
	}
}

// resumeHint leaves it to the command that started the agent.
func (*oneAgent) resumeHint(runs.Folder) string { return "" }

func (l *oneAgent) round() int { return l.mixer.Round() }
