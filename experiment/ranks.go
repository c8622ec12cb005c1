package experiment

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"dsbo"
	"dsbo/internal/cli"
	"dsbo/network"
	"dsbo/runs"
	"dsbo/train"
)

// ranks is the layout of a job whose agents are dealt to processes that start and stop together and
// share the run folder. The first of them writes the files, and speaks for all.
type ranks struct {
	inProcess
	world  world
	team   network.Team // nil before join
	agents int          // number of agents in the run
	open   func(ctx context.Context, g *network.Graph) (network.Team, error)
}

// A world is all processes of a job, as one of them sees it.
type world interface {
	Rank() int
	Size() int
	Close(ctx context.Context) error // waits until all have called it
	Abort(status int)                // ends all processes at once
}

func (l *ranks) leads() bool { return l.world.Rank() == 0 }

func (l *ranks) describe(c *runs.Config) { c.Transport, c.Processes = "mpi", l.world.Size() }

// join compares the command lines of all processes, takes over the run folder of the first one, and
// with -resume agrees on the newest checkpoint that all have. A process that fails here notifies
// the others, which would wait for it in an exchange.
func (l *ranks) join(ctx context.Context, r *run) (at beginning, err error) {
	if n := r.graph.W.N(); n < l.world.Size() {
		return at, dsbo.ConfigErrorf("-agents must be at least %d, the number of processes; it is %d",
			l.world.Size(), n)
	}
	l.agents = r.settings.Agents
	if l.team, err = l.open(ctx, r.graph); err != nil {
		return at, err
	}
	at.team = l.team
	defer func() {
		if err != nil {
			l.team.Fail(err)
		}
	}()
	if l.leads() {
		if err := r.chooseFolder(l); err != nil {
			return at, err
		}
	}
	if err := l.exchangeGreetings(ctx, r); err != nil || !r.settings.Resume {
		return at, err
	}
	at.point, err = l.chooseCheckpoint(ctx, r)
	at.setupKept = at.point != nil
	return at, err
}

// A greeting is a process's message to the other processes when they meet.
type greeting struct {
	Task    string
	Flags   []string
	Program network.Program
	Folder  runs.Folder // run folder of agent 0's process; "" in the other processes
}

// exchangeGreetings takes over the run folder of agent 0's process. It fails in all processes if
// one has another task, other flags or another program than that.
func (l *ranks) exchangeGreetings(ctx context.Context, r *run) error {
	own := greeting{r.job.Task.Name, r.settings.Flags, network.ThisProgram(), r.folder}
	all, err := gatherJSON(ctx, l.team, l.agents, own)
	if err != nil {
		return err
	}
	for i, g := range all {
		if err := g.check(i, all[0]); err != nil {
			return err
		}
	}
	r.folder = all[0].Folder
	return nil
}

// gatherJSON returns the values of all processes, as JSON, indexed by agent: exchanges are among
// agents, so that each agent of a process carries its value.
func gatherJSON[T any](ctx context.Context, team network.Team, agents int, mine T) ([]T, error) {
	text, err := json.Marshal(mine)
	if err != nil {
		return nil, err
	}
	texts := make([]string, agents)
	for _, i := range team.Local() {
		texts[i] = string(text)
	}
	if _, err := network.GatherTexts(ctx, team, texts); err != nil { // it fills in the texts of other processes
		return nil, err
	}
	all := make([]T, len(texts))
	for i, text := range texts {
		if err := json.Unmarshal([]byte(text), &all[i]); err != nil {
			return nil, fmt.Errorf("process of agent %d: %w", i, err)
		}
	}
	return all, nil
}

// check returns how the process of agent i differs from the process of agent 0, as an error.
func (g greeting) check(i int, first greeting) error {
	if g.Task != first.Task {
		return dsbo.ConfigErrorf("process of agent %d runs %s, that of agent 0 %s", i, g.Task, first.Task)
	}
	if err := g.Program.Mixable(fmt.Sprintf("process of agent %d", i), "that of agent 0", first.Program); err != nil {
		return err
	}
	for _, f := range slices.Concat(g.Flags, first.Flags) { // a flag may be missing in either
		name, _, _ := strings.Cut(f, "=")
		if own, firsts := flagsNamed(g.Flags, name), flagsNamed(first.Flags, name); own != firsts {
			return dsbo.ConfigErrorf("process of agent %d runs with %s, that of agent 0 with %s", i, own,
				firsts)
		}
	}
	return nil
}

// flagsNamed shows the flags of a name, or that there are none.
func flagsNamed(flags []string, name string) string {
	var found []string
	for _, f := range flags {
		if n, value, _ := strings.Cut(f, "="); n == name {
			found = append(found, n+" "+value)
		}
	}
	if found == nil {
		return "no " + name
	}
	return strings.Join(found, " ")
}

// chooseCheckpoint returns the newest checkpoint that every process has, or nil. Points are the
// newest first; a crash may have left some processes without the last one.
func (l *ranks) chooseCheckpoint(ctx context.Context, r *run) (*train.Point, error) {
	points, err := r.checkpoints(l.team.Local())
	if err != nil {
		return nil, err
	}
	var mine []int
	for _, p := range points {
		mine = append(mine, p.Iteration)
	}
	all, err := gatherJSON(ctx, l.team, l.agents, mine)
	if err != nil {
		return nil, err
	}
	for k, p := range points {
		if !slices.ContainsFunc(all, func(their []int) bool { return !slices.Contains(their, p.Iteration) }) {
			r.view.Log("going on after iteration %d", p.Iteration)
			return &points[k], nil
		}
	}
	r.view.Log("no checkpoint that all processes have: from the start")
	return nil, nil
}

// awaitFolder waits until the first process has made the folder.
func (l *ranks) awaitFolder(ctx context.Context) error {
	return l.team.Gather(ctx, make([][]float64, l.agents))
}

func (l *ranks) fail(err error) { l.team.Fail(err) }

// How long a failed process waits for the others to end before it aborts the job: leaveTimeout if
// there is an exchange, through which they learn of the failure, and startTimeout before. Before
// it, all processes are at the same place, and most failures are in all of them, as of a wrong
// flag.
const (
	leaveTimeout = 30 * time.Second
	startTimeout = 3 * time.Second
)

// endRun waits until all processes have ended their part. After an error it waits for a limited
// time and then aborts the job; the leading process prints the error before it waits, since a
// launcher kills all processes once one ends with an error. After success it waits without limit,
// not even ended by an interrupt, since the leading process may still draw the report.
func (l *ranks) endRun(ctx context.Context, command string, stderr io.Writer, err error) error {
	end := context.WithoutCancel(ctx)
	if err != nil {
		if l.leads() {
			cli.Report(stderr, strings.ReplaceAll(command, " ", ": "), err) // as the command would, by its verb
		}
		timeout := leaveTimeout
		if l.team == nil {
			timeout = startTimeout
		}
		limited, cancel := context.WithTimeout(end, timeout)
		defer cancel()
		end = limited
	}
	closing := l.world.Close(end)
	if end.Err() != nil {
		fmt.Fprintf(stderr, "process %d of %d: %s; the other processes do not end: aborting\n", l.world.Rank(),
			l.world.Size(), cli.OneLine(cmp.Or(err, closing)))
		l.world.Abort(max(1, cli.Code(cmp.Or(jobError(err), closing))))
	}
	if err != nil {
		return cli.Reported(jobError(err))
	}
	return closing
}

// jobError returns the job's error for an error of this process. All ranks have one command line,
// so a rank that ends because of another rank's error ends with that error's exit code; the
// launcher passes on the exit code of the first process to end.
func jobError(err error) error {
	if ended, ok := errors.AsType[*network.EndedError](err); ok {
		return cmp.Or(network.ErrorOfKind(ended.Kind), err)
	}
	return err
}
