package experiment

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"dsbo/internal/cli"
	"dsbo/runs"
	"dsbo/train"
)

// A Several is a [Task] whose flags may ask for several runs. They lie side by side in one folder, which has a config.json, a
// summary.json and a report of its own, and can be resumed and replaced as a run can.
type Several interface {
	Task
	// Runs returns the title of the report and the runs. If they are fewer than two, the task itself is run.
	Runs() (title string, parts []Part)
}

// A Part is one run of [Several].
type Part struct {
	Task  Task
	Name  string // of its folder
	Label string // what the report calls it
	Flag  string // "-name=value": the flag of the command line that becomes this in the part's own
}

// A series is the runs of a job under way.
type series struct {
	*Job
	folder   runs.Folder
	mode     runs.Mode
	isOpen   bool
	parts    []Part
	outcomes []outcome
}

// An outcome is what a part has left in its folder.
type outcome struct {
	folder  runs.Folder
	config  runs.Config
	summary runs.Summary
	records []runs.Record
}

// runSeries runs all parts, and reports on them.
func (j *Job) runSeries(ctx context.Context, title string, parts []Part, stdout, stderr io.Writer) error {
	s := &series{Job: j, parts: parts}
	s.folder, s.mode = j.runFolder()
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
		var folders []runs.Folder
		for _, o := range s.outcomes {
			folders = append(folders, o.folder)
		}
		var err error
		if path, err = writePage(s.folder, title, folders...); err != nil {
			return s.fail(err)
		}
	}
	if err := s.folder.WriteSummary(runs.SeriesSummary{State: runs.Finished, Parts: s.names()}); err != nil {
		return s.fail(err)
	}
	return s.print(stdout, path)
}

func (s *series) names() []string {
	var names []string
	for _, p := range s.parts {
		names = append(names, p.Name)
	}
	return names
}

// open makes the folder, once: when the first part has been checked and loaded.
func (s *series) open() error {
	if s.isOpen {
		return nil
	}
	if err := s.folder.Open(s.mode); err != nil {
		return err
	}
	s.isOpen = true
	return s.folder.WriteConfig(runs.SeriesConfig{Task: s.Task.Name(), Flags: s.Settings.Flags, Build: s.Settings.Build})
}

// runPart runs a part. In a series that is resumed, one that has come to its end is not run again.
func (s *series) runPart(ctx context.Context, p Part, stderr io.Writer) error {
	o := outcome{folder: runs.Folder(filepath.Join(string(s.folder), p.Name))}
	state, err := o.folder.State()
	if err != nil {
		return err
	}
	if s.mode != runs.Resume || state != runs.Finished {
		if ctx.Err() != nil {
			return fmt.Errorf("%w before %s", train.ErrInterrupted, p.Name)
		}
		if err := s.job(p, o.folder, state).Run(ctx, nil, stderr); err != nil {
			return err
		}
	}
	if o.config, err = o.folder.ReadConfig(); err != nil {
		return err
	}
	if o.summary, err = o.folder.ReadSummary(); err != nil {
		return err
	}
	o.records, err = o.folder.Records()
	s.outcomes = append(s.outcomes, o)
	return err
}

// job returns the job of a part, whose folder holds a run in this state.
func (s *series) job(p Part, folder runs.Folder, state runs.State) *Job {
	settings, j := *s.Settings, *s.Job
	settings.Out = string(folder)
	settings.Resume = s.mode == runs.Resume && state != runs.Absent
	settings.Force = s.mode == runs.Replace
	settings.Label = p.Label
	name, _, _ := strings.Cut(p.Flag, "=")
	settings.Flags = slices.DeleteFunc(slices.Clone(settings.Flags), func(f string) bool { return strings.HasPrefix(f, name+"=") })
	settings.Flags = append(settings.Flags, p.Flag)
	slices.Sort(settings.Flags)
	j.Task, j.Settings, j.openSeries = p.Task, &settings, s.open
	return &j
}

// fail writes that the series ended with an error, if it had begun, and returns that error.
func (s *series) fail(err error) error {
	if !s.isOpen {
		return err
	}
	state := runs.StateOf(err)
	if w := s.folder.WriteSummary(runs.SeriesSummary{State: state, Error: cli.OneLine(err), Parts: []string{}}); w != nil {
		return fmt.Errorf("%w; summary: %w", err, w)
	}
	if state == runs.Interrupted {
		return fmt.Errorf("%w%s", err, resumeHint(s.folder))
	}
	return err
}

// print writes the table of all parts.
func (s *series) print(w io.Writer, page string) error {
	rows := [][]string{{"run", "Φ: λ = 0", "constant", "tuned", "test loss", "accuracy", "refitted: λ = 0", "constant", "tuned", "ms/iteration", "sent", "by formula"}}
	for i, o := range s.outcomes {
		sum, m := o.summary, o.summary.Models
		best := m[max(0, len(m)-2)] // the best constant λ, which may be 0
		pair := func(m runs.Model) string { return number("%.4f", m.TestLoss) + number(" %.4f", m.TestAccuracy) }
		course := "-"
		if r := o.records; len(r) > 1 {
			course = number("%.4f", r[1].TestLoss) + " → " + number("%.4f", r[len(r)-1].TestLoss)
		}
		rows = append(rows, []string{
			s.parts[i].Label, number("%.2f", sum.PhiLambda0), number("%.2f", best.Phi), number("%.2f", sum.PhiEnd),
			course, number("%.4f", sum.TestAccuracy), pair(m[0]), pair(best), pair(m[len(m)-1]),
			number("%.1f", sum.MsPerIteration), fmt.Sprintf("%.0f", sum.FloatsSent), fmt.Sprintf("%.0f", sum.FloatsFormula),
		})
	}
	var b bytes.Buffer
	o := s.outcomes[0]
	fmt.Fprintf(&b, "%s, %d iterations of %s, %d agents (%s)\n\n", s.Task.Name(), o.summary.Iterations, o.summary.Algorithm, o.config.Agents, o.config.Graph)
	if err := cli.Table(&b, rows); err != nil {
		return err
	}
	b.WriteString(`
Φ is exact: at λ = 0, at the best of a few constant λ, and at the tuned λ. The test loss is that of the agents' average
model, from the first evaluation to the last, and its accuracy that at the last. Refitted are test loss and accuracy of the
models that the agents find together at these three λ. Sent are numbers, by an agent in an iteration to all its neighbours.
`)
	if page != "" {
		fmt.Fprintf(&b, "\nreport      %s\n", page)
	}
	_, err := b.WriteTo(w)
	return err
}
