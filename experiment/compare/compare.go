// Package compare runs methods on tasks and sets them side by side: for every task, each method at
// every point of a grid of its parameters, with every seed. [Run] makes the runs, each a process of
// its own, and keeps those that an earlier call has made; [Result.Write] leaves one page, which
// package report makes, and a table of all runs.
//
// A [Spec] lists the tasks and methods to compare (spec.go reads it, validate.go checks it, grid.go
// has the points). trial.go makes one run, rank.go finds the best point and its cost to a target,
// and tables.go and page.go present them. Runs are ranked with runs of the same task alone.
//
// figures.go draws the figures of package report for print, as SVG by gonum/plot: a program that
// imports this package writes them beside its pages, and into these for readers without a script.
// It brings gonum/plot's fonts, which are larger than all else that a task links.
package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"dsbo"
	"dsbo/experiment"
	"dsbo/internal/cli"
	"dsbo/internal/wording"
	"dsbo/runs"
	"dsbo/train"
)

// Options are the settings of a comparison.
type Options struct {
	Out       string            // folder of runs, page and tables; made if need be
	Processes int               // runs at once; 0: one for each processor. Each has its share of the processors
	Force     bool              // make the runs again that have been made
	Program   []string          // command line of the program whose verbs are the tasks; nil: the running one
	Tasks     []experiment.Task // of that program
	Log       func(share float64, line string)
}

// Run makes the runs of a spec that Options.Out does not have yet. A run that is refused, diverges
// or fails is no error, but a state in the result. Errors of the spec match [dsbo.ErrConfig] and
// come before any run; others are of files, or of ctx. After an interrupt the result has the runs
// that had ended.
func Run(ctx context.Context, s *Spec, o Options) (*Result, error) {
	if o.Processes < 0 {
		return nil, dsbo.ConfigErrorf(
			"processes must be at least 1, or 0 for one for each processor; they are %d", o.Processes)
	}
	if err := s.checkTasks(o.Tasks); err != nil {
		return nil, err
	}
	if o.Program == nil {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		o.Program = []string{self}
	}
	if o.Processes == 0 {
		o.Processes = runtime.NumCPU()
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r := &runner{Spec: s, Options: o, stop: stop, free: make(chan struct{}, o.Processes),
		cores: max(1, runtime.NumCPU()/o.Processes)}
	result := &Result{Spec: s, Processes: o.Processes, Rankings: s.newRankings()}
	var work sync.WaitGroup
	for _, k := range result.Rankings {
		for _, e := range k.all() {
			r.total += e.Method.mostPoints() * len(s.Seeds)
		}
	}
	for _, k := range result.Rankings { // a second loop: progress divides by the total
		for _, e := range k.all() {
			work.Go(func() { r.findBest(ctx, k.Task, e) })
		}
	}
	work.Wait()
	err := context.Cause(ctx) // an error given to stop, or Canceled by the caller
	if errors.Is(err, context.Canceled) {
		err = fmt.Errorf("%w after %d of %s; the same command goes on", train.ErrInterrupted, r.done,
			wording.Count(r.total, "run"))
	} else if err != nil {
		return nil, err
	}
	if err := result.rank(); err != nil {
		return nil, err
	}
	return result, err
}

// newRankings returns the ranking of each task before any run.
func (s *Spec) newRankings() (all []*ranking) {
	for _, t := range s.Tasks {
		rank := &ranking{Task: t, Spec: s, untuned: newEntry(untuned)}
		for _, m := range s.Methods {
			if m.isFor(t) {
				rank.Entries = append(rank.Entries, newEntry(m))
			}
		}
		all = append(all, rank)
	}
	return all
}

// untuned has the flags of runs that look for the best constant, or other model to compare with. No
// run of a method does: it is the same for all.
var untuned = method{Name: "best untuned", Flags: []string{"-K=1", "-eval-every=1"}}

// mostPoints returns the most points of its grid at which a method is run.
func (m method) mostPoints() int {
	return min(cmp.Or(m.Trials, maxRuns), m.Grid.points())
}

// A runner runs the trials of all entries.
type runner struct {
	*Spec
	Options
	stop  context.CancelCauseFunc // on an error that is not of a run
	free  chan struct{}           // as many as there are processes
	cores int                     // of each process

	mu          sync.Mutex
	done, total int
}

// findBest finds the best point of a method on a task, and makes the runs that it takes. It leaves
// them in e.
func (r *runner) findBest(ctx context.Context, t task, e *entry) {
	m := e.Method
	e.search = m.Grid.search(m.Trials)
	e.search.try = func(points [][]int) { r.tryPoints(ctx, t, e, points) }
	e.search.value = func(p []int) float64 { return e.value(p, r.Choose) }
	e.search.run()
	e.dropInterrupted()
}

// dropInterrupted takes points that have an interrupted trial from those that were tried, since
// nothing is known of them. The best stays, as an entry always has one.
func (e *entry) dropInterrupted() {
	e.search.tried = slices.DeleteFunc(e.search.tried, func(p []int) bool {
		return !slices.Equal(p, e.search.best) && slices.ContainsFunc(e.at(p),
			func(t *trial) bool { return t.State == runs.Interrupted })
	})
}

// tryPoints makes the runs of some points, all seeds of each.
func (r *runner) tryPoints(ctx context.Context, t task, e *entry, points [][]int) {
	var work sync.WaitGroup
	for _, p := range points {
		var all []*trial
		for _, seed := range r.Seeds {
			trial := newTrial(r.Out, r.Spec, t, e.Method, p, seed)
			all = append(all, trial)
			work.Go(func() { r.runTrial(ctx, trial) })
		}
		e.points[e.Method.Grid.String(p)] = all
	}
	work.Wait()
}

// runTrial makes one run when a process is free. A run that never begins, because ctx has ended, is
// interrupted. An error that is not of the run ends all others too.
func (r *runner) runTrial(ctx context.Context, t *trial) {
	select {
	case r.free <- struct{}{}:
		defer func() { <-r.free }()
	case <-ctx.Done():
	}
	t.State = runs.Interrupted
	if ctx.Err() != nil { // a process may have been free too
		return
	}
	if err := t.run(ctx, r.Program, r.cores, r.Force); err != nil {
		r.stop(err)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done++; r.Log != nil {
		r.Log(float64(r.done)/float64(r.total), t.line(r.Choose))
	}
}

// endText returns how a run ended, and its error.
func (t *trial) endText() string {
	if t.Error == "" {
		return string(t.State)
	}
	return string(t.State) + ": " + strings.TrimPrefix(t.Error, string(t.State)+": ")
}

// line returns a line on the end of a run: the value of a quantity if it is known, else the state
// and the error. A run whose folder had a result already is marked "kept". An untuned run has no
// value of its own, as it is made only for its baseline.
func (t *trial) line(by quantity) string {
	name, text := t.Task+", "+t.Method, t.endText()
	if t.Point != "" {
		name += ", " + t.Point
	}
	if v := t.found(by); !math.IsNaN(v) && t.Method != untuned.Name {
		text = fmt.Sprintf("%s %.5g", by.Title(), v)
	}
	if t.kept {
		text += " (kept)"
	}
	return fmt.Sprintf("%s, seed %d: %s", name, t.Seed, text)
}

// checkTasks returns an error for a task that the program does not have, and for the first command
// line that is invalid or changes the problem by a method's flags. It also pins the tasks'
// problems: flags that presets would set differently are fixed.
func (s *Spec) checkTasks(all []experiment.Task) error {
	known := each(all, func(t experiment.Task) string { return t.Name })
	for k := range s.Tasks {
		t := &s.Tasks[k]
		i := slices.Index(known, t.Verb)
		if i < 0 {
			return dsbo.ConfigErrorf(`field "tasks": %q is no task of this program (%s)%s`,
				t.Verb, strings.Join(known, ", "), cli.Suggest("", t.Verb, known))
		}
		var err error
		if t.pinned, err = experiment.PinnedFlags(all[i], slices.Concat(s.Flags, t.Flags)); err != nil {
			return dsbo.ConfigErrorf("task %q: %w", t.Name, err)
		}
		for _, m := range s.Methods {
			if !m.isFor(*t) {
				continue
			}
			if err := s.checkLine(all[i], *t, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkLine returns an error if a method's command line is invalid, or changes the task's problem.
// It checks the first point of the method's grid only: others differ in values, and a run with an
// invalid value is refused when it is made.
func (s *Spec) checkLine(task experiment.Task, t task, m method) error {
	flags := m.flagsAt(make([]int, len(m.Grid)))
	for _, f := range flags {
		name, _, _ := strings.Cut(strings.TrimLeft(f, "-"), "=")
		if changesProblem(task, name) || name == "x0" && s.Start == constantStart {
			return dsbo.ConfigErrorf(
				`field "methods", %q: %s changes the problem of %q, and results of unlike problems are not `+
					`ranked; it belongs to "tasks" or "flags"`,
				m.Name, f, t.Name)
		}
	}
	if _, err := experiment.Parse(task, slices.Concat(s.Flags, t.Flags, flags), io.Discard); err != nil {
		return dsbo.ConfigErrorf("task %q, method %q: %w", t.Name, m.Name, err)
	}
	return nil
}

// problemFlags are the flags of a run, beside the task's flags, that change Φ.
var problemFlags = []string{"agents", "holdout", "evaluate"}

// changesProblem reports whether a flag is part of the problem.
func changesProblem(task experiment.Task, flag string) bool {
	return slices.Contains(problemFlags, flag) || experiment.HasFlag(task, flag)
}

// State returns how the runs of an entry's best point ended: finished if all have, else the first
// other state.
func (e *entry) State() runs.State {
	for _, t := range e.Best {
		if t.State != runs.Finished {
			return t.State
		}
	}
	return runs.Finished
}
