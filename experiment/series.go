package experiment

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"dsbo"
	"dsbo/experiment/console"
	"dsbo/internal/cli"
	"dsbo/report"
	"dsbo/runs"
	"dsbo/train"
)

// A Series is a [Task] whose flags may ask for several runs. Their folders lie in one, which has a config.json, a summary.json and
// a report of its own, and can be resumed and replaced as a run can.
type Series interface {
	Task
	// Runs returns the title of the report and the runs. If they are fewer than two, the task itself is run.
	Runs() (title string, parts []Part)
}

// A Part is one run of [Series].
type Part struct {
	Task  Task
	Name  string // name of the run's folder
	Label string // name of the run in the report
	Flag  string // "-name=value": the flag of the command line that becomes this in the part's own
}

// seriesParts returns the runs of a [Series], nil if the job is one run. Where a series is not allowed, as the agents of a run are
// in more than one process, a command line that asks for one is an error.
func (j *Job) seriesParts(allowed bool) (title string, parts []Part, err error) {
	t, ok := j.Task.(Series)
	if !ok {
		return "", nil, nil
	}
	title, parts = t.Runs()
	if len(parts) < 2 {
		return "", nil, nil
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(parts[0].Flag, "-"), "=")
	switch {
	case allowed:
		return title, parts, nil
	case j.givenFlags[name]:
		err = dsbo.Errorf(dsbo.ErrConfig, "-%s must ask for one run where the agents are in several processes; it asks for %d", name, len(parts))
	}
	return "", nil, err
}

// Runs returns the number of runs that the job's command line asks for: more than one of a [Series] alone.
func (j *Job) Runs() int {
	_, parts, _ := j.seriesParts(true) // which is an error where a series is not allowed
	return max(1, len(parts))
}

// A series runs the parts of a job one after the other.
type series struct {
	*Job
	folder     runs.Folder
	mode       runs.Mode
	folderOpen bool
	parts      []Part
	finished   []*report.Run // the parts' runs that have finished
}

// runSeries runs all parts, and reports on them.
func (j *Job) runSeries(ctx context.Context, title string, parts []Part, stdout, stderr io.Writer) error {
	s := &series{Job: j, parts: parts}
	s.folder, s.mode = j.runFolder()
	lock, err := s.folder.Lock()
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := s.folder.Check(s.mode); err != nil {
		return err
	}
	for _, p := range parts {
		if err := s.runPart(ctx, p, stderr); err != nil {
			return s.fail(err)
		}
	}
	path := ""
	if j.Settings.Report {
		var err error
		if path, err = report.Write(string(s.folder), s.finished, report.Options{Title: title}); err != nil {
			return s.fail(err)
		}
	}
	var names, labels []string
	for _, p := range parts {
		names, labels = append(names, p.Name), append(labels, p.Label)
	}
	if err := s.folder.WriteSummary(runs.SeriesSummary{State: runs.Finished, Parts: names}); err != nil {
		return s.fail(err)
	}
	return console.Series(stdout, labels, s.finished, s.folder, path)
}

// open makes the series' folder, when the first part has been checked and loaded.
func (s *series) open() error {
	if s.folderOpen {
		return nil
	}
	if err := s.folder.Open(s.mode); err != nil {
		return err
	}
	s.folderOpen = true
	return s.folder.WriteConfig(runs.SeriesConfig{Format: runs.Format, Task: s.Task.Name(), Flags: s.Settings.Flags, Build: s.Settings.Build})
}

// runPart runs a part. In a series that is resumed, one that has come to its end is not run again.
func (s *series) runPart(ctx context.Context, p Part, stderr io.Writer) error {
	folder := runs.Folder(s.folder.Path(p.Name))
	state, err := folder.State()
	if err != nil {
		return err
	}
	if s.mode != runs.Resume || state != runs.Finished {
		if ctx.Err() != nil {
			return fmt.Errorf("%w before %s", train.ErrInterrupted, p.Name)
		}
		if err := s.job(p, folder, state).Run(ctx, nil, stderr); err != nil {
			return err
		}
	}
	run, err := report.Load(string(folder))
	s.finished = append(s.finished, run)
	return err
}

// job returns the job of a part, whose folder holds a run in this state.
func (s *series) job(p Part, folder runs.Folder, state runs.State) *Job {
	settings, j := *s.Settings, *s.Job
	settings.Out, settings.Attached = string(folder), false // ctx ends with stdin already
	settings.Resume = s.mode == runs.Resume && state != runs.Absent
	settings.Force = s.mode == runs.Replace
	settings.Label = p.Label
	name, _, _ := strings.Cut(p.Flag, "=")
	settings.Flags = slices.DeleteFunc(slices.Clone(settings.Flags), func(f string) bool { return strings.HasPrefix(f, name+"=") })
	settings.Flags = append(settings.Flags, p.Flag)
	slices.Sort(settings.Flags)
	j.Task, j.Settings, j.openSeries = p.Task, &settings, s.open
	j.shapingFlags = maps.Clone(j.shapingFlags)
	delete(j.shapingFlags, strings.TrimPrefix(name, "-")) // the part has its own value, and other parts may be added
	return &j
}

// fail writes the summary of a series that ended with an error, if it had begun, and returns that error.
func (s *series) fail(err error) error {
	if !s.folderOpen {
		return err
	}
	state := runs.StateOf(err)
	if w := s.folder.WriteSummary(runs.SeriesSummary{State: state, Error: cli.OneLine(err), Parts: []string{}}); w != nil {
		return fmt.Errorf("%w; summary: %w", err, w)
	}
	if state == runs.Interrupted {
		return fmt.Errorf("%w%s", err, inProcess{}.resumeHint(s.folder))
	}
	return err
}
