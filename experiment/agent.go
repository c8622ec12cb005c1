package experiment

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"dsbo"
	"dsbo/internal/wording"
	"dsbo/network"
	"dsbo/network/register"
	"dsbo/runs"
	"dsbo/train"
)

// A Meeting is an agent's membership in a run with other agents, as of [session.Agent].
type Meeting interface {
	Next(ctx context.Context) (Session, error) // the next session with this agent
	Linger(ctx context.Context) error          // once the result is final
	Fail(err error)                            // ends the run for all
}

// A Session is the agent's team until anything goes wrong, as [session.Session] is.
type Session interface {
	network.Saver
	Decided() register.Session // the members' decision
	Enters() bool              // whether the agent lacks the session's starting state
	Join(ctx context.Context, keep func(given []byte) error) error
	Finish() error // after nil the result is final
}

// An opener starts an agent's meeting with the other agents of a run over a graph. Data are the
// agent's data, for its tag. No vector of the run has more than longest numbers; 0: unknown, since
// the data are loaded after the agents have met.
type opener func(g *network.Graph, folder register.Store, data []byte, longest int) (Meeting, error)

// OneAgent returns the layout of a job with one agent in this process, which may be lost and come
// back while the other agents wait for it. Its run folder is its own, and it resumes the run there.
// identity is of the run and the agent: a folder with another one belongs to another run or agent.
// The caller closes open's result after the job.
func OneAgent(agent int, identity string, open opener) layout {
	return &oneAgent{agent: agent, identity: identity, open: open}
}

// oneAgent is the layout that [OneAgent] returns.
type oneAgent struct {
	inProcess
	agent    int
	identity string
	open     opener
	agents   int     // number of agents in the run; 0 before join
	meeting  Meeting // nil before join
	session  Session // the one under way
	final    bool    // whether the result is final
}

func (*oneAgent) ownsFiles() bool { return true }

func (l *oneAgent) describe(c *runs.Config) {
	c.Transport, c.Processes, c.Identity = "grpc", l.agents, l.identity
}

// join starts the meeting with the other agents and enters the first session. It locks the folder
// and reads the data first, so that an agent that cannot work never meets the others. If the
// meeting cannot start, a folder that this call created is removed.
func (l *oneAgent) join(ctx context.Context, r *run) (at beginning, err error) {
	l.agents = r.graph.W.N()
	state, err := l.lockOwnFolder(r)
	if err != nil {
		return at, err
	}
	data, err := r.fingerprint(ctx, l.agent)
	if err != nil {
		return at, err
	}
	points, err := r.checkpoints([]int{l.agent})
	if err != nil {
		return at, err
	}
	r.folderOpen = len(points) > 0 // an earlier process prepared it before its first checkpoint
	if state == runs.Absent {      // create it now: the meeting keeps its register there
		l.describe(&r.settings.Config)
		err = cmp.Or(r.folder.Open(runs.Fresh), r.folder.WriteConfig(r.settings.Config))
	}
	if err == nil {
		r.mode = runs.Resume // without -resume too: the folder has a configuration from here on
		method := train.Config{Dir: string(r.folder), K: r.settings.Iterations, Method: r.params.method}
		l.meeting, err = l.open(r.graph, &agentFolder{r.folder, l.agent, method}, data, r.longestVector())
	}
	if err == nil {
		return l.beginNext(ctx, r)
	}
	if state == runs.Absent {
		err = errors.Join(err, r.folder.Abandon())
	}
	return at, err
}

// lockOwnFolder locks the agent's folder and returns its state. The folder must have no run, or a
// run of this agent that can be resumed. Temporary files of a killed process are removed.
func (l *oneAgent) lockOwnFolder(r *run) (state runs.State, err error) {
	if err = r.lockFolder(); err == nil {
		state, err = r.folder.State()
	}
	switch {
	case err != nil:
		return state, err
	case state == runs.Absent:
		err = r.folder.Check(r.mode)
	default:
		err = cmp.Or(r.checkOwner(l), r.folder.CheckResumable())
	}
	return state, cmp.Or(err, r.folder.RemoveStale())
}

// beginNext enters the next session and returns where its run begins. If a session ends before this
// agent has its starting state, it tries the next one. If the result is final already, nothing is
// left to do.
func (l *oneAgent) beginNext(ctx context.Context, r *run) (at beginning, err error) {
	for {
		s, err := l.meeting.Next(ctx)
		switch {
		case err == nil:
			at, err = l.begin(ctx, r, s)
		case errors.Is(err, register.ErrFinal):
			l.final = true
			return beginning{finished: true}, nil
		case errors.Is(err, context.Canceled):
			return at, fmt.Errorf("%w as it waited for the other agents", train.ErrInterrupted)
		case errors.Is(err, dsbo.ErrPeer):
			if state, e := r.folder.State(); e == nil && state == runs.Finished { // but the others did not answer
				return at, fmt.Errorf("the result is in %s; whether a quorum has it is not known: %w", r.folder, err)
			}
		}
		if !errors.As(err, new(*register.Over)) {
			return at, err
		}
		r.view.Log("%v", err)
	}
}

// begin returns where a session begins. Its starting state is the agent's own checkpoint or, for an
// agent that lacks it, a copy that another member hands over in Join. No checkpoint is needed for a
// session that begins at the start or with the result.
func (l *oneAgent) begin(ctx context.Context, r *run, s Session) (at beginning, err error) {
	d := s.Decided()
	at = beginning{team: s, changes: d.Log, finished: d.Begin.Iteration == register.Result}
	l.session, l.final = s, false
	if err := s.Join(ctx, func(given []byte) (err error) {
		at.point, err = l.receive(r, d, given)
		return err
	}); err != nil {
		return at, err
	}
	if !s.Enters() && d.Begin.Iteration != register.Start && !at.finished {
		if at.point, err = l.pointAt(r, d.Begin); err != nil {
			return at, err
		}
	}
	at.setupKept = at.point != nil || l.hasKept(runs.SetupFile)
	// At a start all agents prepare their folders anew, even a ready one: save waits for all
	// agents.
	r.folderOpen = r.folderOpen && at.point != nil
	r.view.Note(Note{
		Text: fmt.Sprintf("session %d begins with %s, %s", d.Number, wording.Count(len(d.Epoch.Members), "agent"),
			nameOf(d.Begin)),
		Name: "session", Facts: []any{"session", d.Number, "members", d.Epoch.Members, "iteration", d.Begin.Iteration},
	})
	return at, nil
}

// nameOf describes the place of a point in the run, for people.
func nameOf(p register.Point) string {
	switch p.Iteration {
	case register.Start:
		return "at the start"
	case register.Result:
		return "with the result"
	}
	return "after " + wording.Count(p.Iteration, "iteration")
}

// pointAt returns the agent's checkpoint that is a point.
func (l *oneAgent) pointAt(r *run, at register.Point) (*train.Point, error) {
	points, err := r.checkpoints([]int{l.agent})
	k := slices.IndexFunc(points, func(p train.Point) bool { return p.Iteration == at.Iteration })
	if err == nil && k < 0 {
		err = fmt.Errorf("%s: the checkpoint %s, with which the session begins, is not there any more", r.folder,
			nameOf(at))
	}
	if err != nil {
		return nil, err
	}
	return &points[k], nil
}

// receive stores what a member hands over in the run folder: the result, or the setup,
// configuration and checkpoint, of which the checkpoint is returned. An agent that was admitted
// after the start has no configuration of its own yet, so it adopts the member's.
func (l *oneAgent) receive(r *run, d register.Session, given []byte) (*train.Point, error) {
	if d.Begin.Iteration == register.Result {
		return nil, runs.UnpackResult(r.folder, given, l.identity)
	}
	setup, rest, ok := cutPart(given)
	config, state, whole := cutPart(rest)
	if !ok || !whole {
		return nil, dsbo.Errorf(dsbo.ErrPeer, "what a member hands over is cut short")
	}
	if len(setup) > 0 { // else the task exchanges nothing as it loads
		if err := r.folder.WriteFile(runs.SetupFile, setup); err != nil {
			return nil, err
		}
	}
	if admitted := l.agent >= l.agents; admitted {
		if err := l.adoptConfig(r, config); err != nil {
			return nil, fmt.Errorf("the configuration that a member hands over: %w", err)
		}
		r.folderOpen = true
	}
	point, err := train.Config{Dir: string(r.folder)}.Receive(l.agent, d.Log.Last(l.agents), state)
	return &point, err
}

// adoptConfig keeps the configuration of an agent that was there before as this agent's, which has
// its own flags.
func (l *oneAgent) adoptConfig(r *run, theirs []byte) error {
	var config runs.Config
	if err := json.Unmarshal(theirs, &config); err != nil {
		return err
	}
	l.describe(&config)
	config.Flags, config.Build = r.settings.Config.Flags, r.settings.Config.Build
	return r.folder.WriteConfig(config)
}

// attemptAgain ends an attempt. After success it makes the result final, once it is on the disks of
// all agents, and waits until all know that. If the session is over before, after success or not,
// the run continues in the next session, because other agents may lack the result: again is true
// then.
func (l *oneAgent) attemptAgain(ctx context.Context, r *run, err error) (next beginning, again bool, end error) {
	hasResult := err == nil
	if hasResult && !l.final {
		r.view.Log("finished; waiting for the other agents")
		if err = l.session.Finish(); err == nil {
			l.final = true
		}
	}
	if err == nil {
		err = l.meeting.Linger(ctx)
	}
	if errors.As(err, new(*register.Over)) {
		r.view.Log("%v", err)
		if next, err = l.beginNext(ctx, r); err == nil {
			return next, true, nil
		}
	}
	if hasResult && errors.Is(err, context.Canceled) {
		err = fmt.Errorf("%w as it waited for the others to know that it has finished", train.ErrInterrupted)
	}
	return next, false, err
}

// fail ends the run for all, unless this agent may be restarted while the other agents wait for it:
// it was stopped, or could not write its files. Wrong settings are as wrong after a restart.
func (l *oneAgent) fail(err error) {
	mayReturn := errors.Is(err, context.Canceled) || errors.As(err, new(*fs.PathError))
	if !mayReturn || errors.Is(err, dsbo.ErrConfig) {
		l.meeting.Fail(err)
	}
}

// resumeHint leaves it to the command that started the agent.
func (*oneAgent) resumeHint(runs.Folder) string { return "" }

// save makes all agents write a file; an agent without it does not continue.
func (l *oneAgent) save(ctx context.Context, write func() error) error {
	return l.session.Save(ctx, write)
}

// hasKept reports whether all members have a file of that name, with the same contents.
func (l *oneAgent) hasKept(name string) bool { return l.session.Decided().Kept[name] != "" }
